import type { Clock } from '../../domain/clock.ts';
import { grown } from '../../memory/growing-u32.ts';
import { type PackedSlice, WindowSlice } from './window-slice.ts';

/** A window is counted in so many slices at least; a record leaves it at most one slice late. */
const SLICES_MIN = 64;
/** So many at most, each of them with the items of its time. */
const SLICES_MAX = 4096;
const DAY_MS = 86_400_000;

/** One number an item, growing with the rows. */
export class RowCounts {
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

/**
 * Records by item inside a window that moves with the clock. Slices older than the window are dropped whole, so the state
 * is bounded by items x SLICES_MAX, however much feedback comes. A record of a time to come counts once its slice is reached.
 */
export class MovingWindow {
  readonly counts = new RowCounts();
  /** Told of a whole slice that left the window: the end of its time and what it held. */
  onExpired: (untilMs: number, slice: WindowSlice) => void = () => {};
  /** A slice's length in milliseconds. */
  readonly sliceMs: number;
  private readonly clock: Clock;
  private readonly sliceCount: number;
  /** By number. */
  private readonly slices = new Map<number, WindowSlice>();
  /** Numbers of the slices before the first one and of the last one inside the window. */
  private from = Number.NaN;
  private to = Number.NaN;
  private lacksSlices = false;

  /** @param windowMs length of the window in milliseconds, above 0 and finite */
  constructor(windowMs: number, clock: Clock) {
    // A day each where that is shorter: what a window of years forgets, it forgets on the day.
    this.sliceCount = Math.min(Math.max(SLICES_MIN, Math.ceil(windowMs / DAY_MS)), SLICES_MAX);
    this.sliceMs = Math.max(1, windowMs / this.sliceCount);
    this.clock = clock;
  }

  /** True once the clock went back by more than a slice: what had left the window, and should be in it again, is gone. */
  get hasForgotten(): boolean {
    return this.lacksSlices;
  }

  /** True where a record of that time has left the window. */
  isPast(timeMs: number): boolean {
    return Math.ceil(timeMs / this.sliceMs) <= this.from;
  }

  /** Counts a record (`sign` 1) or takes it back (-1); one that has left the window does nothing. */
  add(row: number, timeMs: number, sign: 1 | -1): void {
    if (this.isPast(timeMs)) return;
    const number = Math.ceil(timeMs / this.sliceMs);
    let slice = this.slices.get(number);
    if (slice === undefined) this.slices.set(number, (slice = new WindowSlice()));
    slice.add(row, sign);
    if (number > this.from && number <= this.to) this.counts.add(row, sign);
  }

  /** Moves the window's end to the present, taking and giving back whole slices. */
  advance(): void {
    const to = Math.ceil(this.clock() / this.sliceMs);
    if (to === this.to) return;
    const from = to - this.sliceCount - 1;
    if (this.from > from + 1) this.lacksSlices = true;
    for (const [number, slice] of this.slices) {
      const held = number > this.from && number <= this.to;
      const holds = number > from && number <= to;
      if (held === holds) continue;
      const sign = holds ? 1 : -1;
      slice.forEach((row, count) => {
        this.counts.add(row, sign * count);
      });
    }
    this.from = from;
    this.to = to;
    for (const [number, slice] of this.slices) {
      if (number > from) continue;
      this.slices.delete(number);
      this.onExpired(number * this.sliceMs, slice);
    }
  }

  save(): SavedWindow {
    const slices = new Map(Array.from(this.slices, ([number, slice]) => [number, slice.pack()]));
    return { slices, counts: this.counts.values, from: this.from, to: this.to };
  }

  /** Takes the place of all that was counted. @param saved is kept */
  restore({ slices, counts, from, to }: SavedWindow): void {
    this.slices.clear();
    for (const [number, slice] of slices) this.slices.set(number, new WindowSlice(slice));
    this.counts.restore(counts);
    this.from = from;
    this.to = to;
    this.lacksSlices = false;
  }
}

/** The counts of `MovingWindow`, to be saved: with the sums of its slices, for there are as many of them as the window has slices. */
export interface SavedWindow {
  /** By number. */
  readonly slices: ReadonlyMap<number, PackedSlice>;
  /** By row, of the slices behind number `from` up to `to`; both are NaN before the first `advance`, and nothing is counted then. */
  readonly counts: Uint32Array;
  readonly from: number;
  readonly to: number;
}
