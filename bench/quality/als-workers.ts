import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { threadEntry } from '../../src/domain/thread-entry.ts';
import type { AlsPhase } from '../../src/model/als.ts';
import type { AlsTask } from '../../src/model/als-memory.ts';

/** One thread for each slot of an ALS training, for as long as it lasts. */
export class AlsWorkers {
  readonly #workers: readonly Worker[];

  private constructor(workers: readonly Worker[]) {
    this.#workers = workers;
  }

  /** Resolves once every thread has its kernels. */
  static async start(task: AlsTask): Promise<AlsWorkers> {
    const { url, execArgv } = threadEntry(import.meta.url, './als-thread');
    const workers = Array.from(
      { length: task.slots },
      (_, slot) => new Worker(url, { execArgv, workerData: { task, slot } }),
    );
    await Promise.all(workers.map((worker) => once(worker, 'message')));
    return new AlsWorkers(workers);
  }

  /** Resolves when every thread has finished the phase; rejects when one failed. */
  async run(phase: AlsPhase): Promise<void> {
    const done = this.#workers.map((worker) => once(worker, 'message'));
    for (const worker of this.#workers) worker.postMessage(phase);
    await Promise.all(done);
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}
