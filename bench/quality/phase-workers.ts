import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { threadEntry } from '../../src/platform/program/thread-entry.ts';

/** Threads that work on the phases of one training together, for as long as it lasts. */
export class PhaseWorkers<Phase> {
  readonly #workers: readonly Worker[];

  private constructor(workers: readonly Worker[]) {
    this.#workers = workers;
  }

  /**
   * Resolves once every thread is ready.
   * @param entry the threads' file beside this one, without its ending; it gets `{ task, slot }`, says when it is ready
   * and answers each phase when it is done with it
   */
  static async start<Phase>(entry: string, task: unknown, threads: number): Promise<PhaseWorkers<Phase>> {
    const { url, execArgv } = threadEntry(import.meta.url, entry);
    const workers = Array.from(
      { length: threads },
      (_, slot) => new Worker(url, { execArgv, workerData: { task, slot } }),
    );
    await Promise.all(workers.map((worker) => once(worker, 'message')));
    return new PhaseWorkers(workers);
  }

  /** Resolves when every thread has finished the phase; rejects when one failed. */
  async run(phase: Phase): Promise<void> {
    const done = this.#workers.map((worker) => once(worker, 'message'));
    for (const worker of this.#workers) worker.postMessage(phase);
    await Promise.all(done);
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}
