import type { Ranked } from '../../memory/ranked-rows.ts';
import { atOnce } from '../../platform/concurrency/event-loop-turns.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { Rows } from '../catalogue/row-postings.ts';
import { RankedIndex, topKInTurns } from './ranked-index.ts';
import { SortedRows } from './sorted-rows.ts';

/** Members of a category are found by a walk down the order where they are more than this share of it. */
const WALK_SHARE = 1 / 16;
/** Rows that such a walk looks at before the members are looked at instead: those of an old category stand far down. */
const WALK_ROWS_MAX = 65_536;
/** Rows looked at between two pauses. */
const PAUSE_ROWS = 512;

/** Items by timestamp, newest first; their scores are their timestamps. Items without a timestamp are not part of it. */
export class LatestIndex extends RankedIndex {
  private readonly order = new SortedRows();
  /** The first items until an item changes, those that went out of date meanwhile among them. */
  private known: { readonly k: number; readonly rows: readonly number[] } | undefined;

  constructor(catalogue: Catalogue) {
    super(catalogue);
    catalogue.onChange((row) => {
      this.known = undefined;
      this.order.set(row, catalogue.timestampMsAt(row));
    });
  }

  /** Some of them may be out of date by now. */
  first(k: number): readonly number[] {
    if (this.known?.k !== k) {
      const { rows } = atOnce(this.walk(k, this.order.size, (row) => this.catalogue.isListable(row)));
      this.known = { k, rows };
    }
    return this.known.rows;
  }

  protected *find(
    k: number,
    isShown: (row: number) => boolean,
    members: Rows | undefined,
  ): Generator<undefined, Ranked> {
    const { order } = this;
    if (members === undefined) return yield* this.walk(k, Number.POSITIVE_INFINITY, isShown);
    if (members.size > order.size * WALK_SHARE) {
      const found = yield* this.walk(k, WALK_ROWS_MAX, isShown);
      if (found.rows.length === k || order.size <= WALK_ROWS_MAX) return found;
    }
    return yield* topKInTurns(members, k, (row) => order.keyOf(row), isShown);
  }

  /** The first `limit` rows that pass, at most `k`. */
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
