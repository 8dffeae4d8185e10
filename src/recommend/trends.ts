import type { Clock } from '../domain/clock.ts';
import { grown } from '../memory/grow.ts';
import { filled, sharedF32, sharedU32 } from '../memory/shared-arrays.ts';
import type { FeedbackColumns } from '../store/data-store.ts';
import { DecayedCounts, HALF_LIVES_MS, type SavedDecay, type ScaledCounts } from './decayed-counts.ts';
import type { TypeTest } from './history.ts';
import { type PackedSlice, TrendSlice } from './trend-slice.ts';

/** The window is counted in this many slices; a record leaves it at most one slice late. */
const SLICES = 64;

/** Positive feedback by item row; a row past the end of an array has none. */
export interface TrendCounts {
  /** Inside the window. */
  readonly window: Uint32Array;
  /** Since ever. */
  readonly ever: Uint32Array;
  /** On each scale of `POPULARITY_SCALES`, `ever` the last of them. */
  readonly scales: readonly ScaledCounts[];
  /** The time of the newest positive feedback that is in effect, milliseconds since the epoch; -Infinity for none. */
  readonly newestMs: number;
}

/** One number an item, growing with the rows. */
class RowCounts {
  values: Uint32Array = new Uint32Array(1024);
  total = 0;
  /** Told of each row whose number changes. */
  onChange: (row: number) => void = () => {};

  add(row: number, delta: number): void {
    this.onChange(row);
    if (row >= this.values.length) {
      this.values = grown(this.values, row + 1);
    }
    const before = this.values[row]!;
    this.values[row] = Math.max(0, before + delta);
    this.total += this.values[row]! - before;
  }

  /** Takes the place of all numbers. @param values are kept and written to */
  restore(values: Uint32Array): void {
    for (let row = 0; row < this.values.length; row++) if (this.values[row] !== 0) this.onChange(row);
    this.values = values;
    this.total = 0;
    for (let row = 0; row < values.length; row++) {
      this.total += values[row]!;
      if (values[row] !== 0) this.onChange(row);
    }
  }
}

/** The sum of the slices of a window, (from, to]. */
class MovingSum {
  readonly counts = new RowCounts();
  from = Number.NaN;
  private to = Number.NaN;

  holds(slice: number): boolean {
    return slice > this.from && slice <= this.to;
  }

  /** Forgets everything; what is moved to next is taken from nothing. */
  clear(): void {
    this.counts.restore(new Uint32Array(1024));
    this.from = Number.NaN;
    this.to = Number.NaN;
  }

  /** Moves the end to `to`, taking and giving back whole slices. @returns false when it stands there already */
  moveTo(to: number, slices: ReadonlyMap<number, TrendSlice>): boolean {
    if (to === this.to) return false;
    const from = to - SLICES - 1;
    for (const [number, slice] of slices) {
      const held = this.holds(number);
      const holds = number > from && number <= to;
      if (held === holds) continue;
      const sign = holds ? 1 : -1;
      slice.forEach((row, count) => {
        this.counts.add(row, sign * count);
      });
    }
    this.from = from;
    this.to = to;
    return true;
  }
}

/** Everything that `Trends` counts, to be saved; arrays may be cut off behind the last row that counts. */
export interface SavedTrends {
  readonly slices: ReadonlyMap<number, PackedSlice>;
  readonly ever: Uint32Array;
  /** By half-life. */
  readonly decayed: readonly SavedDecay[];
  readonly newestMs: number;
}

interface Pending {
  readonly feedback: FeedbackColumns;
  readonly isPositive: TypeTest;
  readonly sign: 1 | -1;
  next: number;
}

/**
 * Counts of positive feedback per item: in a moving window, since ever, and decayed at several rates. Slices older than
 * the window are dropped whole, so the state is bounded by items x SLICES, however much feedback comes. A record with a
 * future timestamp counts in the window once its slice is reached.
 */
export class Trends implements TrendCounts {
  private readonly sliceMs: number;
  private readonly clock: Clock;
  /** Records that were applied and not counted yet, in order. */
  private readonly pending: Pending[] = [];
  /** By number. */
  private readonly slices = new Map<number, TrendSlice>();
  private readonly inWindow = new MovingSum();
  private readonly inAll = new RowCounts();
  private readonly decayed = HALF_LIVES_MS.map((halfLifeMs) => new DecayedCounts(halfLifeMs));
  readonly scales: readonly ScaledCounts[] = [...this.decayed, this.inAll];
  newestMs = Number.NEGATIVE_INFINITY;

  /** @param windowMs length of the window in milliseconds, above 0 */
  constructor(windowMs: number, clock: Clock) {
    this.sliceMs = Math.max(1, windowMs / SLICES);
    this.clock = clock;
  }

  get window(): Uint32Array {
    return this.inWindow.counts.values;
  }

  /** Calls `listener`, one in all, with each row whose number in `window` changes. */
  onWindowChange(listener: (row: number) => void): void {
    this.inWindow.counts.onChange = listener;
  }

  get ever(): Uint32Array {
    return this.inAll.values;
  }

  /** What all feedback counts on each scale as of the newest, in records. */
  totals(): number[] {
    return [...this.decayed.map((counts) => counts.totalAt(this.newestMs)), this.inAll.total];
  }

  /**
   * Adds (`sign` 1) or takes back (-1) the records whose type `isPositive`. They are counted by `drain`, at the latest
   * when somebody asks, so that following a large commit costs no other request its turn.
   * @param feedback is kept until then and must not change
   */
  apply(feedback: FeedbackColumns, isPositive: TypeTest, sign: 1 | -1): void {
    if (feedback.length > 0) this.pending.push({ feedback, isPositive, sign, next: 0 });
  }

  /** Moves the windows to the present and counts at most `limit` of the records that wait. @returns true when more are waiting */
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

  /** Counts all that waits and says what there is. The arrays are in use: they are to be copied before anything else happens. */
  save(): SavedTrends {
    this.drain();
    const { newestMs } = this;
    const slices = new Map(Array.from(this.slices, ([number, slice]) => [number, slice.pack()]));
    return { slices, ever: this.ever, decayed: this.decayed.map((counts) => counts.save()), newestMs };
  }

  /** Takes the place of all that was counted; what waits to be counted is dropped. @param saved is kept */
  restore({ slices, ever, decayed, newestMs }: SavedTrends): void {
    this.pending.length = 0;
    this.slices.clear();
    for (const [number, slice] of slices) this.slices.set(number, new TrendSlice(slice));
    this.inAll.restore(ever);
    for (const [at, counts] of this.decayed.entries()) counts.restore(decayed[at]!);
    this.newestMs = newestMs;
    this.inWindow.clear();
    this.advance();
  }

  private count(row: number, timeMs: number, sign: 1 | -1): void {
    const now = this.clock();
    if (sign === 1 && timeMs > this.newestMs && timeMs <= now) this.newestMs = timeMs;
    this.inAll.add(row, sign);
    for (const counts of this.decayed) counts.add(row, Math.min(timeMs, now), sign);
    const number = Math.ceil(timeMs / this.sliceMs);
    if (number <= this.inWindow.from) return;
    let slice = this.slices.get(number);
    if (slice === undefined) this.slices.set(number, (slice = new TrendSlice()));
    slice.add(row, sign);
    if (this.inWindow.holds(number)) this.inWindow.counts.add(row, sign);
  }

  private advance(): void {
    if (!this.inWindow.moveTo(Math.ceil(this.clock() / this.sliceMs), this.slices)) return;
    for (const number of this.slices.keys()) if (number <= this.inWindow.from) this.slices.delete(number);
  }
}

/** A copy in shared memory for the workers, of `rowCount` numbers each. */
export function shareTrends(trends: TrendCounts, rowCount: number): TrendCounts {
  const words = (values: Uint32Array) => filled(sharedU32(rowCount), values.subarray(0, rowCount));
  const ever = words(trends.ever);
  const scales = trends.scales.map(({ values, total }) => ({
    values: values instanceof Uint32Array ? ever : filled(sharedF32(rowCount), values.subarray(0, rowCount)),
    total,
  }));
  return { window: words(trends.window), ever, scales, newestMs: trends.newestMs };
}
