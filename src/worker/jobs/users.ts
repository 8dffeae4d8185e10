import { loadKernels } from '../../kernel/load-kernels.ts';
import { incidenceOfLabels, usersByItems } from '../../model/neighbors/incidence.ts';
import { placeSimilarity } from '../../model/neighbors/memory.ts';
import { SimilaritySearch } from '../../model/neighbors/similarity-search.ts';
import type { Ranked } from '../../recommend/ranked.ts';
import { USERS_ASKED } from '../../recommend/user-based.ts';
import type { PlacedUsers, PlaceUsersJob, SimilarUsersJob } from '../messages.ts';
import { withReads } from './stores.ts';

/** See `PlaceUsersJob`. */
export function placeUsers({ dataPath, gathered, policy, slots }: PlaceUsersJob): PlacedUsers {
  const options = { listLengthMax: USERS_ASKED };
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
export function similarUsers({ users, userRow, byLabels, slot }: SimilarUsersJob): Ranked | undefined {
  return findSimilarUsers(users, userRow, byLabels, slot);
}

/** The users most like one as of the last fit; undefined for a user who came after it. */
export function findSimilarUsers(
  users: PlacedUsers,
  userRow: number,
  byLabels: boolean,
  slot: number,
): Ranked | undefined {
  const placed = byLabels ? users.byLabels : users.byItems;
  if (placed === undefined || userRow >= placed.rowCount) return undefined;
  const search = new SimilaritySearch(placed, loadKernels(placed.memory), slot);
  const { rows, scores } = search.neighborsOf(userRow, USERS_ASKED);
  return { rows: Array.from(rows), scores: Array.from(scores) };
}
