import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { AlsTask } from '../../src/model/als/memory-layout.ts';
import type { AlsPhase } from '../../src/model/als/training-task.ts';
import { beginPhase } from '../../src/model/part/chunks-for-threads.ts';
import type { SlimTask } from '../../src/model/slim/memory-layout.ts';
import { SLIM_PHASES, type SlimPhase } from '../../src/model/slim/slim-solver.ts';
import { threadEntry } from '../../src/platform/program/thread-entry.ts';

interface Works {
  readonly als: { readonly task: AlsTask; readonly phase: AlsPhase };
  readonly slim: { readonly task: SlimTask; readonly phase: SlimPhase };
}

export type PhaseOf<Kind extends keyof Works> = Works[Kind]['phase'];
export type ThreadWork = {
  [Kind in keyof Works]: { readonly kind: Kind; readonly task: Works[Kind]['task']; readonly slot: number };
}[keyof Works];

/** Threads that work on the phases of one training together, for as long as it lasts. */
export class PhaseWorkers<Kind extends keyof Works> {
  readonly #workers: readonly Worker[];

  private constructor(workers: readonly Worker[]) {
    this.#workers = workers;
  }

  /** Resolves once every thread is ready. */
  static async start<Kind extends keyof Works>(
    kind: Kind,
    task: Works[Kind]['task'],
    threads: number,
  ): Promise<PhaseWorkers<Kind>> {
    const { url, execArgv } = threadEntry(import.meta.url, './phase-thread');
    const workers = Array.from(
      { length: threads },
      (_, slot) => new Worker(url, { execArgv, workerData: { kind, task, slot } }),
    );
    await Promise.all(workers.map((worker) => once(worker, 'message')));
    return new PhaseWorkers<Kind>(workers);
  }

  /** Resolves when every thread has finished the phase; rejects when one failed. */
  async run(phase: PhaseOf<Kind>): Promise<void> {
    const done = this.#workers.map((worker) => once(worker, 'message'));
    for (const worker of this.#workers) worker.postMessage(phase);
    await Promise.all(done);
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}

/** Learns a sparse linear model in one thread for each slot of its task. */
export async function learnSlim(task: SlimTask): Promise<void> {
  const threads = await PhaseWorkers.start('slim', task, task.similarity.slots);
  try {
    for (const phase of SLIM_PHASES) {
      beginPhase(task);
      await threads.run(phase);
    }
  } finally {
    await threads.close();
  }
}
