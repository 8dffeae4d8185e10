import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { SlimTask } from '../../src/model/slim/memory-layout.ts';
import type { SlimPhase } from '../../src/model/slim/slim-solver.ts';
import { threadEntry } from '../../src/platform/program/thread-entry.ts';

/** One thread for each slot of a sparse linear model's learning, for as long as it lasts. */
export class SlimWorkers {
  readonly #workers: readonly Worker[];

  private constructor(workers: readonly Worker[]) {
    this.#workers = workers;
  }

  /** Resolves once every thread has its kernels. */
  static async start(task: SlimTask): Promise<SlimWorkers> {
    const { url, execArgv } = threadEntry(import.meta.url, './slim-thread');
    const workers = Array.from(
      { length: task.similarity.slots },
      (_, slot) => new Worker(url, { execArgv, workerData: { task, slot } }),
    );
    await Promise.all(workers.map((worker) => once(worker, 'message')));
    return new SlimWorkers(workers);
  }

  /** Resolves when every thread has finished the phase; rejects when one failed. */
  async run(phase: SlimPhase): Promise<void> {
    const done = this.#workers.map((worker) => once(worker, 'message'));
    for (const worker of this.#workers) worker.postMessage(phase);
    await Promise.all(done);
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}
