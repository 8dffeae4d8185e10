import type { AlsTask } from '../../src/model/als/memory-layout.ts';
import type { AlsPhase } from '../../src/model/als/phases.ts';
import { PhaseWorkers } from './phase-workers.ts';

/** One thread for each slot of an ALS training. */
export type AlsWorkers = PhaseWorkers<AlsPhase>;

export const AlsWorkers = {
  start: (task: AlsTask): Promise<AlsWorkers> => PhaseWorkers.start('./als-thread', task, task.slots),
};
