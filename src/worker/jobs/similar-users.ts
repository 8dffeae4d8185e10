import { loadKernels } from '../../kernel/load-kernels.ts';
import { SimilaritySearch } from '../../model/neighbors/similarity-search.ts';
import type { PlacedUsers } from '../../model/neighbors/users-part.ts';
import type { Ranked } from '../../recommend/ranked.ts';
import type { AskedUser } from '../../recommend/serving-model.ts';
import type { SimilarUsersJob } from '../messages.ts';

/** See `SimilarUsersJob`. */
export function similarUsers({ users, asked, k, slot }: SimilarUsersJob): Ranked | undefined {
  return findSimilarUsers(users, asked, k, slot);
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
): Ranked | undefined {
  const placed = likedRows === undefined ? users.byLabels : users.byItems;
  if (placed === undefined) return undefined;
  const isPlaced = userRow < placed.rowCount;
  if (likedRows === undefined && !isPlaced) return undefined;
  const search = new SimilaritySearch(placed, loadKernels(placed.memory), slot);
  const { rows, scores } =
    likedRows === undefined
      ? search.neighborsOf(userRow, k)
      : search.neighborsOfElements(likedRows, k, isPlaced ? userRow : -1);
  return { rows: Array.from(rows), scores: Array.from(scores) };
}
