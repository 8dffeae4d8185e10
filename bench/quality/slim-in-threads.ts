import { beginPhase } from '../../src/model/part/chunks-for-threads.ts';
import type { SlimTask } from '../../src/model/slim/memory-layout.ts';
import { SLIM_PHASES, type SlimPhase } from '../../src/model/slim/slim-solver.ts';
import { PhaseWorkers } from './phase-workers.ts';

/** Learns a sparse linear model in one thread for each slot of its task. */
export async function learnSlim(task: SlimTask): Promise<void> {
  const threads = await PhaseWorkers.start<SlimPhase>('./slim-thread', task, task.similarity.slots);
  try {
    for (const phase of SLIM_PHASES) {
      beginPhase(task);
      await threads.run(phase);
    }
  } finally {
    await threads.close();
  }
}
