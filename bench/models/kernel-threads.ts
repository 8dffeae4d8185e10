import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { BatchTopK, NeighborTopK } from '../../src/kernel/kernels.ts';
import { threadEntry } from '../../src/platform/program/thread-entry.ts';

export type KernelCall =
  | { readonly kernel: 'batchTopK'; readonly job: BatchTopK }
  | { readonly kernel: 'neighborTopK'; readonly job: NeighborTopK };

/** Threads with kernels over one memory, which take calls one after the other. */
export class KernelThreads {
  readonly #workers: readonly Worker[];

  private constructor(workers: readonly Worker[]) {
    this.#workers = workers;
  }

  static async start(memory: WebAssembly.Memory, threads: number): Promise<KernelThreads> {
    const { url, execArgv } = threadEntry(import.meta.url, './kernel-thread');
    const workers = Array.from(
      { length: threads },
      () => new Worker(url, { execArgv, workerData: { memory } }),
    );
    await Promise.all(workers.map((worker) => once(worker, 'message')));
    return new KernelThreads(workers);
  }

  /** Every thread takes the next chunk once it has done one. @param call a chunk's call in the slot of a thread */
  async run(chunks: number, call: (chunk: number, slot: number) => KernelCall): Promise<void> {
    let next = 0;
    const work = async (worker: Worker, slot: number) => {
      while (next < chunks) {
        const done = once(worker, 'message');
        worker.postMessage(call(next++, slot));
        await done;
      }
    };
    await Promise.all(this.#workers.map(work));
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}
