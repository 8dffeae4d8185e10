import { loadKernels } from '../../kernel/load-kernels.ts';
import { placeOf } from '../../memory/ascending.ts';
import { viewOf } from '../../memory/layout.ts';
import type { PlacedSimilarity } from '../../model/neighbors/place-similarity.ts';
import { SimilaritySearch } from '../../model/neighbors/similarity-search.ts';
import type { PlacedUsers } from '../../model/neighbors/users-part.ts';
import type { AskedUser } from '../../recommend/models/generation.ts';
import type { Ranked } from '../../recommend/ranked.ts';
import type { SimilarUsersJob } from '../messages.ts';

/**
 * Additions that one comparison may come to: some ten milliseconds. A like costs as many as there are users who have it,
 * so a user with very many likes of popular items is compared by the latest of them.
 */
const ADDITIONS_MAX = 2 ** 23;

/** See `SimilarUsersJob`. */
export function similarUsers({ users, asked, k, slot, cancelled }: SimilarUsersJob): Ranked | undefined {
  if (Atomics.load(cancelled, 0) !== 0) throw new Error('nobody waits for this any more');
  return findSimilarUsers(users, asked, k, slot);
}

/** The places of those of the liked items that were laid out, the latest first, as many as may be compared; one at least. */
function comparedItems(
  { rows }: PlacedUsers,
  { memory, layout }: PlacedSimilarity,
  likedRows: Uint32Array,
  additionsMax: number,
): number[] {
  const starts = viewOf(memory, layout, 'elementStarts', 'u32');
  const places: number[] = [];
  let additions = 0;
  for (const row of likedRows) {
    const place = placeOf(rows.items, row);
    if (place < 0) continue;
    additions += starts[place + 1]! - starts[place]!;
    if (additions > additionsMax && places.length > 0) break;
    places.push(place);
  }
  return places;
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
  additionsMax = ADDITIONS_MAX,
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
