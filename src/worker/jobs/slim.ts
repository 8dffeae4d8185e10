import { loadKernels } from '../../kernel/load-kernels.ts';
import { encodeNeighborTable, type NeighborTable } from '../../model/neighbors/neighbor-table.ts';
import { placeSlim, type SlimTask } from '../../model/slim/memory.ts';
import { slimSettings } from '../../model/slim/settings.ts';
import { SlimSolver } from '../../model/slim/solver.ts';
import { slimTable } from '../../model/slim/table.ts';
import type { FinishSlimJob, PlaceSlimJob, SlimJob } from '../messages.ts';
import { WEIGHTS_NAME } from '../model-mark.ts';
import { cacheAt } from './stores.ts';

/** See `PlaceSlimJob`. */
export function placeWeights({ gathered, slots }: PlaceSlimJob): SlimTask {
  return placeSlim(gathered.interactions, slimSettings({}), slots);
}

/** See `SlimJob`. */
export function learnWeights({ task, phase, slot }: SlimJob): boolean {
  return new SlimSolver(task, loadKernels, slot).runPhase(phase);
}

/** See `FinishSlimJob`. */
export async function finishWeights({ task, fingerprint, cachePath }: FinishSlimJob): Promise<NeighborTable> {
  const table = slimTable(task, fingerprint);
  if (cachePath !== undefined) await cacheAt(cachePath).putBlob(WEIGHTS_NAME, encodeNeighborTable(table));
  return table;
}
