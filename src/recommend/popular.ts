import type { Clock } from '../domain/clock.ts';
import type { FeedbackColumns } from '../store/data-store.ts';
import type { Catalogue } from './catalogue.ts';
import type { TypeTest } from './history.ts';
import { type Ranked, TopK } from './ranked.ts';

/** The window is counted in this many slices; a record leaves it at most one slice late. */
const SLICES = 64;

interface Pending {
  readonly feedback: FeedbackColumns;
  readonly isPositive: TypeTest;
  readonly sign: 1 | -1;
  next: number;
}

/**
 * Counts of positive feedback per item inside a moving window. Slices older than the window are dropped whole, so the
 * state is bounded by items x SLICES, however much feedback comes. A record with a future timestamp counts once its
 * slice is reached.
 */
export class PopularIndex {
  private readonly sliceMs: number;
  private readonly clock: Clock;
  /** Records that were applied and not counted yet, in order. */
  private readonly pending: Pending[] = [];
  /** Count by item row, by number of the slice. */
  private readonly slices = new Map<number, Map<number, number>>();
  private counts = new Uint32Array(1024);
  /** Slices in (from, to] are what `counts` holds. */
  private from = Number.NaN;
  private to = Number.NaN;

  /** @param windowMs length of the window in milliseconds, above 0 */
  constructor(windowMs: number, clock: Clock) {
    this.sliceMs = Math.max(1, windowMs / SLICES);
    this.clock = clock;
  }

  /**
   * Adds (`sign` 1) or takes back (-1) the records whose type `isPositive`. They are counted by `drain`, at the latest
   * when somebody asks, so that following a large commit costs no other request its turn.
   * @param feedback is kept until then and must not change
   */
  apply(feedback: FeedbackColumns, isPositive: TypeTest, sign: 1 | -1): void {
    if (feedback.length > 0) this.pending.push({ feedback, isPositive, sign, next: 0 });
  }

  /** Counts at most `limit` of the records that wait. @returns true when more are waiting */
  drain(limit = Number.POSITIVE_INFINITY): boolean {
    this.advance();
    let left = limit;
    for (let batch = this.pending[0]; batch !== undefined && left > 0; batch = this.pending[0]) {
      const { feedback, isPositive, sign } = batch;
      const end = Math.min(feedback.length, batch.next + left);
      left -= end - batch.next;
      for (; batch.next < end; batch.next++) {
        const { next } = batch;
        if (isPositive(feedback.types[next]!))
          this.count(feedback.itemRows[next]!, feedback.timesMs[next]!, sign);
      }
      if (end === feedback.length) this.pending.shift();
    }
    return this.pending.length > 0;
  }

  /** The `k` most counted listable items that pass `accept`, best first. */
  top(
    k: number,
    catalogue: Catalogue,
    categories: readonly string[],
    accept: (row: number) => boolean,
  ): Ranked {
    this.drain();
    const best = new TopK(k);
    const { counts } = this;
    const consider = (row: number) => {
      const count = counts[row] ?? 0;
      if (count > 0 && catalogue.isListable(row) && catalogue.isInAll(row, categories) && accept(row))
        best.push(row, count);
    };
    const members = catalogue.narrowest(categories);
    if (members !== undefined) for (const row of members) consider(row);
    else for (let row = 0; row < catalogue.rowCount; row++) consider(row);
    return best.sorted();
  }

  private count(row: number, timeMs: number, sign: 1 | -1): void {
    const number = Math.ceil(timeMs / this.sliceMs);
    if (number <= this.from) return;
    let slice = this.slices.get(number);
    if (slice === undefined) this.slices.set(number, (slice = new Map()));
    const total = (slice.get(row) ?? 0) + sign;
    if (total > 0) slice.set(row, total);
    else slice.delete(row);
    if (number <= this.to) this.addTo(row, sign);
  }

  /** Moves the window to the present: slices that end are taken from the counts, slices reached are added. */
  private advance(): void {
    const to = Math.ceil(this.clock() / this.sliceMs);
    if (to === this.to) return;
    const from = to - SLICES - 1;
    for (const [number, slice] of this.slices) {
      const counted = number > this.from && number <= this.to;
      if (number <= from) {
        if (counted) for (const [row, count] of slice) this.addTo(row, -count);
        this.slices.delete(number);
      } else if (!counted && number <= to) {
        for (const [row, count] of slice) this.addTo(row, count);
      } else if (counted && number > to) {
        for (const [row, count] of slice) this.addTo(row, -count);
      }
    }
    this.from = from;
    this.to = to;
  }

  private addTo(row: number, delta: number): void {
    if (row >= this.counts.length) {
      const grown = new Uint32Array(Math.max(row + 1, this.counts.length * 2));
      grown.set(this.counts);
      this.counts = grown;
    }
    this.counts[row] = Math.max(0, this.counts[row]! + delta);
  }
}
