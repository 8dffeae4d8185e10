import { TopK } from '../memory/top-k.ts';
import type { Catalogue } from './catalogue.ts';
import type { Ranked } from './ranked.ts';
import { SortedRows } from './sorted-rows.ts';

/** Members of a category are found by a walk down the order where they are more than this share of it. */
const WALK_SHARE = 1 / 16;
/** Rows that such a walk looks at before the members are looked at instead: those of an old category stand far down. */
const WALK_ROWS_MAX = 65_536;

/** Items by timestamp, newest first. Items without a timestamp are not part of it. */
export class LatestIndex {
  private readonly catalogue: Catalogue;
  private readonly order = new SortedRows();

  constructor(catalogue: Catalogue) {
    this.catalogue = catalogue;
    catalogue.onChange((row) => this.order.set(row, catalogue.timestampMsAt(row)));
  }

  /** The `k` newest items in all of `categories` that pass `accept`, newest first, with their timestamps. */
  top(k: number, categories: readonly string[], accept: (row: number) => boolean): Ranked {
    const { catalogue, order } = this;
    const members = catalogue.narrowest(categories);
    if (k < 1) return { rows: [], scores: [] };
    if (members === undefined) return this.walk(k, order.size, accept);
    const isShown = (row: number) => catalogue.isInAll(row, categories) && accept(row);
    if (members.size > order.size * WALK_SHARE) {
      const found = this.walk(k, WALK_ROWS_MAX, isShown);
      if (found.rows.length === k || order.size <= WALK_ROWS_MAX) return found;
    }
    const best = new TopK(k);
    for (const row of members) {
      const timeMs = catalogue.timestampMsAt(row);
      if (!Number.isNaN(timeMs) && best.takes(row, timeMs) && isShown(row)) best.push(row, timeMs);
    }
    return best.sorted();
  }

  /** Those of the first `limit` rows that pass, at most `k`. */
  private walk(k: number, limit: number, accept: (row: number) => boolean): Ranked {
    const rows: number[] = [];
    let left = limit;
    this.order.walk((row) => {
      if (accept(row)) rows.push(row);
      return rows.length < k && --left > 0;
    });
    return { rows, scores: rows.map((row) => this.catalogue.timestampMsAt(row)) };
  }
}
