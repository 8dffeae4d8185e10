import { loadKernels } from '../kernel/load-kernels.ts';
import { placeOf } from '../memory/binary-search.ts';
import { SimilaritySearch } from '../model/neighbors/similarity-search.ts';
import type { PlacedUsers } from '../model/neighbors/train-and-serve-users.ts';
import type { AskedUser } from '../recommend/models/generation.ts';
import { comparedItems } from '../recommend/neighbors/user-neighbors.ts';
import type { Ranked } from '../recommend/rows/ranked-rows.ts';
import { throwIfCancelled } from './cancellation.ts';
import type { SimilarUsersJob } from './messages.ts';

/** See `SimilarUsersJob`. */
export function similarUsers(job: SimilarUsersJob): Ranked | undefined {
  throwIfCancelled(job);
  return findSimilarUsers(job.users, job.asked, job.k, job.slot);
}

/**
 * The users most like one, of those of the last fit. By items a user counts as it is now, also one who came after;
 * by labels as it was, and undefined for one who came after.
 */
export function findSimilarUsers(
  users: PlacedUsers,
  { userRow, likedRows }: AskedUser,
  k: number,
  slot: number,
  additionsMax?: number,
): Ranked | undefined {
  const placed = likedRows === undefined ? users.byLabels : users.byItems;
  if (placed === undefined) return undefined;
  const own = placeOf(users.rows.users, userRow);
  if (likedRows === undefined && own < 0) return undefined;
  const search = new SimilaritySearch(placed, loadKernels(placed.memory), slot);
  const { rows, scores } =
    likedRows === undefined
      ? search.neighborsOf(own, k)
      : search.neighborsOfElements(comparedItems(users, placed, likedRows, additionsMax), k, own);
  return { rows: Array.from(rows, (row) => users.rows.users[row]!), scores: Array.from(scores) };
}
