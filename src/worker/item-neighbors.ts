import type { NeighborTable } from '../model/neighbors/neighbor-table.ts';
import { cancelNeighborTask, neighborTaskProgress } from '../model/neighbors/task.ts';
import type { PlaceNeighborsJob } from './messages.ts';
import type { WorkerPool } from './pool.ts';
import { spread } from './spread.ts';

/** Neighbors kept of an item at most, and of all items together: 8 bytes each. */
const NEIGHBORS_MAX = 100;
const NEIGHBORS_MIN = 10;
const TABLE_ENTRIES_MAX = 32_000_000;

/**
 * Finds and saves the neighbors of all items, spread over the pool.
 * @returns undefined when it was stopped
 */
export async function compareItems(
  pool: WorkerPool,
  given: Omit<PlaceNeighborsJob, 'kind' | 'k' | 'slots'>,
  cachePath: string,
  isStopped: () => boolean,
  tell: (done: number, total: number) => void,
): Promise<NeighborTable | undefined> {
  const { interactions, fingerprint } = given.gathered;
  const total = interactions.itemCount;
  const k = Math.max(NEIGHBORS_MIN, Math.min(NEIGHBORS_MAX, Math.floor(TABLE_ENTRIES_MAX / total)));
  tell(0, total);
  const tasks = await pool.run<'placeNeighbors'>({
    ...given,
    kind: 'placeNeighbors',
    k,
    slots: pool.trainingSlots,
  });
  const isDone = await spread(pool, (slot) => pool.run<'compare'>({ kind: 'compare', tasks, slot }), {
    isStopped,
    cancel: () => tasks.forEach(cancelNeighborTask),
    tell: () => tell(Math.min(...tasks.map((task) => neighborTaskProgress(task).done)), total),
  });
  if (!isDone) return undefined;
  const table = await pool.run<'finishNeighbors'>({ kind: 'finishNeighbors', tasks, fingerprint, cachePath });
  tell(total, total);
  return table;
}
