import { atOnce, inTurns } from '../domain/turns.ts';
import { bestOf } from './best-of.ts';
import type { Catalogue } from './catalogue.ts';
import type { Ranked } from './ranked.ts';
import type { Rows } from './row-postings.ts';
import { SortedRows } from './sorted-rows.ts';

/** Members of a category are found by a walk down the order where they are more than this share of it. */
const WALK_SHARE = 1 / 16;
/** Rows that such a walk looks at before the members are looked at instead: those of an old category stand far down. */
const WALK_ROWS_MAX = 65_536;
/** Rows looked at between two pauses. */
const PAUSE_ROWS = 512;

/** Items by timestamp, newest first. Items without a timestamp are not part of it. */
export class LatestIndex {
  private readonly catalogue: Catalogue;
  private readonly order = new SortedRows();

  constructor(catalogue: Catalogue) {
    this.catalogue = catalogue;
    catalogue.onChange((row) => this.order.set(row, catalogue.timestampMsAt(row)));
  }

  /** The `k` newest items in all of `categories` that pass `accept`, newest first, with their timestamps. @param among only these are looked at */
  top(
    k: number,
    categories: readonly string[],
    accept: (row: number) => boolean,
    among: Rows | undefined = this.catalogue.narrowest(categories),
  ): Promise<Ranked> {
    return inTurns(this.find(k, categories, accept, among));
  }

  /** The `k` newest listable items; a few, for it takes one turn. */
  first(k: number): readonly number[] {
    return atOnce(this.walk(k, this.order.size, (row) => this.catalogue.isListable(row))).rows;
  }

  private *find(
    k: number,
    categories: readonly string[],
    accept: (row: number) => boolean,
    members: Rows | undefined,
  ): Generator<undefined, Ranked> {
    const { catalogue, order } = this;
    if (members === undefined) return yield* this.walk(k, Number.POSITIVE_INFINITY, accept);
    const isShown = (row: number) => catalogue.isInAll(row, categories) && accept(row);
    if (members.size > order.size * WALK_SHARE) {
      const found = yield* this.walk(k, WALK_ROWS_MAX, isShown);
      if (found.rows.length === k || order.size <= WALK_ROWS_MAX) return found;
    }
    return yield* bestOf(members, k, (row) => order.keyOf(row), isShown);
  }

  /** Those of the first `limit` rows that pass, at most `k`. */
  private *walk(k: number, limit: number, accept: (row: number) => boolean): Generator<undefined, Ranked> {
    const rows: number[] = [];
    const scores: number[] = [];
    // A row whose time changes during a pause may come again.
    const taken = new Set<number>();
    let looked = 0;
    if (k < 1) return { rows, scores };
    for (const row of this.order) {
      if (++looked % PAUSE_ROWS === 0) yield;
      if (accept(row) && !taken.has(row)) {
        taken.add(row);
        rows.push(row);
        scores.push(this.order.keyOf(row));
      }
      if (rows.length === k || looked >= limit) break;
    }
    return { rows, scores };
  }
}
