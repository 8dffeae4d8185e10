import type { StoreRows } from '../../dataset/training-data.ts';
import { placeOf } from '../../memory/binary-search.ts';
import { viewOf } from '../../memory/memory-layout.ts';
import type { Ranked } from '../../memory/ranked-rows.ts';
import type { PartOpening } from '../part/learned-part.ts';
import type { PlacedSimilarity } from './memory-layout.ts';
import { SimilaritySearch } from './similarity-search.ts';

/**
 * Additions that one comparison may come to: some ten milliseconds. A like costs as many as there are users who have it,
 * so a user with very many likes of popular items is compared by the latest of them.
 */
const ADDITIONS_MAX = 2 ** 23;

/** Users to be compared by what they like and by labels; each where the policy needs it. */
export interface PlacedUsers {
  readonly byItems: PlacedSimilarity | undefined;
  readonly byLabels: PlacedSimilarity | undefined;
  /** The row in the store of each user that is compared, and of each item that they are compared by; ascending. */
  readonly rows: StoreRows;
}

/** A user whose like are looked for: by the items that it likes now, or by the labels of the last fit. */
export interface AskedUser {
  readonly userRow: number;
  /** The latest likes first; undefined to compare by labels. */
  readonly likedRows: Uint32Array | undefined;
}

/** Finds users like a user among those of the last fit. */
export class SimilarUsers {
  private readonly users: PlacedUsers;
  private readonly opening: Pick<PartOpening, 'instantiate' | 'slot'>;

  constructor(users: PlacedUsers, opening: Pick<PartOpening, 'instantiate' | 'slot'>) {
    this.users = users;
    this.opening = opening;
  }

  /**
   * The users most like one. By items a user counts as it is now, also one who came after the fit; by labels as it was,
   * and undefined for one who came after.
   */
  find({ userRow, likedRows }: AskedUser, k: number, additionsMax = ADDITIONS_MAX): Ranked | undefined {
    const { users, opening } = this;
    const placed = likedRows === undefined ? users.byLabels : users.byItems;
    if (placed === undefined) return undefined;
    const own = placeOf(users.rows.users, userRow);
    if (likedRows === undefined && own < 0) return undefined;
    const search = new SimilaritySearch(placed, opening.instantiate(placed.memory), opening.slot);
    const { rows, scores } =
      likedRows === undefined
        ? search.neighborsOf(own, k)
        : search.neighborsOfElements(this.comparedItems(placed, likedRows, additionsMax), k, own);
    return { rows: Array.from(rows, (row) => users.rows.users[row]!), scores: Array.from(scores) };
  }

  /** The places of those of the liked items that were laid out, the latest first, as many as may be compared; one at least. */
  private comparedItems(
    { memory, layout }: PlacedSimilarity,
    likedRows: Uint32Array,
    additionsMax: number,
  ): number[] {
    const starts = viewOf(memory, layout, 'elementStarts', 'u32');
    const places: number[] = [];
    let additions = 0;
    for (const row of likedRows) {
      const place = placeOf(this.users.rows.items, row);
      if (place < 0) continue;
      additions += starts[place + 1]! - starts[place]!;
      if (additions > additionsMax && places.length > 0) break;
      places.push(place);
    }
    return places;
  }
}
