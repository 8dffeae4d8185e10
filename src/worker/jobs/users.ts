import { loadKernels } from '../../kernel/load-kernels.ts';
import { incidenceOfLabels, usersByItems } from '../../model/neighbors/incidence.ts';
import { placeSimilarity } from '../../model/neighbors/memory.ts';
import { SimilaritySearch } from '../../model/neighbors/similarity-search.ts';
import { NEIGHBORS_MAX } from '../../recommend/item-neighbors.ts';
import type { Ranked } from '../../recommend/ranked.ts';
import type { AskedUser } from '../../recommend/serving-model.ts';
import type { PlacedUsers, PlaceUsersJob, SimilarUsersJob } from '../messages.ts';
import { withReads } from './stores.ts';

/** See `PlaceUsersJob`. */
export function placeUsers({ dataPath, gathered, policy, slots }: PlaceUsersJob): PlacedUsers {
  // Rows are never used again, so those that are gone say nothing of how rare a thing is.
  const population = withReads(dataPath, (reads) => reads.userCount);
  const options = { listLengthMax: NEIGHBORS_MAX, population };
  const { interactions } = gathered;
  const labels: (readonly string[])[] = [];
  if (policy !== 'related') {
    withReads(dataPath, (reads) => reads.scanUsers(0, (row, user) => (labels[row] = user.Labels)));
  }
  const labelsOf = (row: number) => labels[row] ?? [];
  return {
    byItems: policy === 'similar' ? undefined : placeSimilarity(usersByItems(interactions), options, slots),
    byLabels:
      policy === 'related'
        ? undefined
        : placeSimilarity(incidenceOfLabels(labelsOf, interactions.userCount), options, slots),
  };
}

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
