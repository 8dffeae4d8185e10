import type { Ranked } from '../../memory/ranked-rows.ts';
import { filled, sharedF32, sharedU32 } from '../../memory/shared-arrays.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { ItemPopularity } from '../popularity/popularity-counts.ts';
import { type Incidence, similarRows } from './similar-rows.ts';

/** So many of the newest items without positive feedback are recommended. */
const COLD_ITEMS_MAX = 100;
/** Known items that a cold one is judged by. */
const LIKE_MAX = 5;
/** Rows looked at, from the newest down, to find the cold ones. */
const SCAN_ROWS = 4096;
/** A label's rows beyond these are not looked at: what so many have in common says little. */
const POSTINGS_MAX = 256;

/**
 * Items without positive feedback, each with the known items that it is most like by labels. Plain data with shared
 * arrays: it goes to the workers as it is.
 */
export interface ColdItems {
  readonly rows: Uint32Array;
  /** Item i is like `knownRows[likes[e]]` by `similarities[e]`, for e from starts[i] to starts[i + 1] - 1. */
  readonly starts: Uint32Array;
  readonly likes: Uint32Array;
  readonly similarities: Float32Array;
  /** The known items that any of them is like, each once. */
  readonly knownRows: Uint32Array;
}

export const NO_COLD_ITEMS: ColdItems = {
  rows: new Uint32Array(0),
  starts: new Uint32Array(1),
  likes: new Uint32Array(0),
  similarities: new Float32Array(0),
  knownRows: new Uint32Array(0),
};

/** Items that one cold item is like, best first. */
type Like = Ranked;

/**
 * Keeps the newest listable items that nobody has liked yet, or that came after the last fit, and what they are like:
 * a cold item is expected to fare as the known items with its labels do, so it can be recommended at once. Bounded by
 * constants in size and in the time of a step.
 */
export class ColdItemIndex {
  private readonly catalogue: Catalogue;
  private readonly popularity: ItemPopularity;
  /** Results so far, by row; those that are no longer cold go at the next step. */
  private likes = new Map<number, Like>();
  /** The content of `items`: `likes` as the last step left them. */
  private packed: ReadonlyMap<number, Like> = new Map();
  /** Made of `packed` when it is asked for. */
  private snapshot: ColdItems | undefined = NO_COLD_ITEMS;

  constructor(catalogue: Catalogue, popularity: ItemPopularity) {
    this.catalogue = catalogue;
    this.popularity = popularity;
    catalogue.onChange((row) => this.likes.delete(row));
  }

  get items(): ColdItems {
    return (this.snapshot ??= pack(this.packed));
  }

  /** The results are about another generation: everything is worked out anew. */
  clear(): void {
    this.likes.clear();
  }

  /**
   * Works out at most `limit` items that are not known yet.
   * @param knownRows items from this row on came after the last fit
   * @returns whether there is more to do, and the items that can be recommended and could not before
   */
  step(knownRows: number, limit: number): { readonly isMore: boolean; readonly gained: readonly number[] } {
    const { catalogue, popularity } = this;
    const isKnown = (row: number) => row < knownRows && (popularity.ever[row] ?? 0) > 0;
    const incidence = boundedLabels(catalogue);
    const likes = new Map<number, Like>();
    let left = limit;
    let complete = true;
    const last = Math.max(0, catalogue.rowCount - SCAN_ROWS);
    for (let row = catalogue.rowCount - 1; row >= last && likes.size < COLD_ITEMS_MAX; row--) {
      if (isKnown(row) || !catalogue.isListable(row) || !catalogue.hasLabels(row)) continue;
      let like = this.likes.get(row);
      if (like === undefined && left > 0) {
        left--;
        like = similarRows(row, LIKE_MAX, incidence, isKnown);
      }
      if (like === undefined) complete = false;
      else likes.set(row, like);
    }
    const gained = [...likes.keys()].filter((row) => hasLikes(likes, row) && !hasLikes(this.packed, row));
    this.likes = likes;
    this.packed = new Map(likes);
    this.snapshot = undefined;
    return { isMore: !complete, gained };
  }
}

function hasLikes(likes: ReadonlyMap<number, Like>, row: number): boolean {
  return (likes.get(row)?.rows.length ?? 0) > 0;
}

function pack(likesByRow: ReadonlyMap<number, Like>): ColdItems {
  const rows: number[] = [];
  const starts: number[] = [0];
  const likes: number[] = [];
  const similarities: number[] = [];
  const places = new Map<number, number>();
  for (const [row, like] of likesByRow) {
    if (like.rows.length === 0) continue;
    rows.push(row);
    for (const known of like.rows) {
      const place = places.get(known) ?? places.size;
      places.set(known, place);
      likes.push(place);
    }
    similarities.push(...like.scores);
    starts.push(likes.length);
  }
  return {
    rows: filled(sharedU32(rows.length), rows),
    starts: filled(sharedU32(starts.length), starts),
    likes: filled(sharedU32(likes.length), likes),
    similarities: filled(sharedF32(similarities.length), similarities),
    knownRows: filled(sharedU32(places.size), [...places.keys()]),
  };
}

function boundedLabels(catalogue: Catalogue): Incidence<number> {
  return {
    rowCount: catalogue.itemCount,
    elementsOf: (row) => catalogue.labelNumbersAt(row),
    countOf: (label) => catalogue.rowsWithLabelNumber(label)?.size ?? 0,
    rowsOf: (label) => {
      // All at once: a generator would take longer for each row than all that is done with it.
      const rows = catalogue.rowsWithLabelNumber(label)?.first(POSTINGS_MAX) ?? [];
      return { size: rows.length, [Symbol.iterator]: () => rows[Symbol.iterator]() };
    },
  };
}
