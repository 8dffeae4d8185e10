import type { NeighborTable } from '../model/neighbors/neighbor-table.ts';
import { slimMemoryBytes } from '../model/slim/memory.ts';
import { slimSettings } from '../model/slim/settings.ts';
import { beginSlimPhase, cancelSlim, SLIM_PHASES, slimProgress } from '../model/slim/solver.ts';
import type { Gathered } from './messages.ts';
import type { WorkerPool } from './pool.ts';
import { spread } from './spread.ts';

/** Bytes that learning the sparse linear model takes. */
export function itemWeightsBytes({ interactions }: Gathered, slots: number): number {
  const { userCount, itemCount, count } = interactions;
  return slimMemoryBytes({ userCount, itemCount, count, slots, settings: slimSettings({}) });
}

/**
 * Learns the sparse linear item-item model, spread over the pool.
 * @param cachePath where to save it; not at all when absent
 * @returns undefined when it was stopped
 */
export async function learnItemWeights(
  pool: WorkerPool,
  gathered: Gathered,
  cachePath: string | undefined,
  isStopped: () => boolean,
  tell: (done: number, total: number) => void,
): Promise<NeighborTable | undefined> {
  const slots = pool.trainingSlots;
  const total = gathered.interactions.itemCount;
  tell(0, total);
  const task = await pool.run<'placeSlim'>({ kind: 'placeSlim', gathered, slots });
  for (const phase of SLIM_PHASES) {
    beginSlimPhase(task);
    const isDone = await spread(pool, (slot) => pool.run<'slim'>({ kind: 'slim', task, phase, slot }), {
      isStopped,
      cancel: () => cancelSlim(task),
      tell: () => phase === 'solve' && tell(slimProgress(task).done, total),
    });
    if (!isDone) return undefined;
  }
  const { fingerprint } = gathered;
  const table = await pool.run<'finishSlim'>({ kind: 'finishSlim', task, fingerprint, cachePath });
  tell(total, total);
  return table;
}
