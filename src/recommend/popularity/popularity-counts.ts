import type { Config } from '../../config/config.ts';
import { positiveFeedback } from '../../config/positive-feedback.ts';
import type { Clock } from '../../domain/clock.ts';
import { filled, filledInSteps, sharedF32, sharedU32, touchedInSteps } from '../../memory/shared-arrays.ts';
import type { FeedbackColumns } from '../../store/data-store.ts';
import type { TypeTest } from '../history/counts-as-positive.ts';
import { DataClock, type SavedDataClock } from './data-clock.ts';
import { DecayedCounts, type SavedDecay, type ScaledCounts } from './decayed-counts.ts';
import type { LikeColumns } from './like-columns.ts';
import { MovingWindow, RowCounts, type SavedWindow } from './moving-window.ts';
import { HALF_LIVES_MS } from './popularity-scales.ts';
import { RecentLikes } from './recent-likes.ts';
import type { WindowSlice } from './window-slice.ts';

/** Positive feedback by item row; a row past the end of an array has none. */
export interface ItemPopularity {
  /** Inside the window. */
  readonly window: Uint32Array;
  /** Since ever, as long as positive feedback counts. */
  readonly ever: Uint32Array;
  /** On each scale of `POPULARITY_SCALES`, `ever` the last of them. */
  readonly scales: readonly ScaledCounts[];
  /** The moment as of which the scales count, milliseconds since the epoch; see `DataClock`. -Infinity for none. */
  readonly asOfMs: number;
}

/** Everything that `PopularityCounts` counts, to be saved; arrays may be cut off behind the last row that counts. */
export interface SavedPopularity {
  readonly window: SavedWindow;
  /** By row alone where positive feedback counts for ever. */
  readonly ever: SavedWindow | Uint32Array;
  /** By half-life. */
  readonly decayed: readonly SavedDecay[];
  readonly newest: SavedDataClock;
  readonly recent: LikeColumns;
}

/** Items whose counts have risen are told apart up to so many. */
const RISEN_MAX = 65_536;

interface Pending {
  readonly feedback: FeedbackColumns;
  readonly isPositive: TypeTest;
  readonly sign: 1 | -1;
  next: number;
}

/** The spans for which positive feedback counts. */
export interface PopularitySpans {
  /** Length of the window of `popular` in milliseconds, above 0. */
  readonly windowMs: number;
  /** Older positive feedback counts nowhere; Infinity for ever. */
  readonly ttlMs: number;
}

/** The spans for which positive feedback counts by the configuration. */
export function popularitySpans(recommend: Config['recommend']): PopularitySpans {
  const { positiveTtlMs: ttlMs } = positiveFeedback(recommend);
  return { windowMs: recommend.popular.popular_window, ttlMs };
}

/**
 * Counts of positive feedback per item: in a moving window, since ever, and decayed at several rates. The newest hundredth
 * of all counts on the decaying scales as if it came at the moment when it begins, so that "lately" is a time with feedback
 * in it.
 */
export class PopularityCounts implements ItemPopularity {
  /** The latest likes of all. */
  readonly recent = new RecentLikes();
  /** Told of `hasForgotten` by each `drain`. */
  onForgotten: () => void = () => {};
  private readonly clock: Clock;
  /** Records that were applied and not counted yet, in order. */
  private readonly pending: Pending[] = [];
  private readonly inWindow: MovingWindow;
  private readonly inAll: MovingWindow | RowCounts;
  private readonly newest = new DataClock();
  /** True while the newest records are counted on the decaying scales at the moment. */
  private countsNewest = false;
  private readonly decayed = HALF_LIVES_MS.map((halfLifeMs) => new DecayedCounts(halfLifeMs));
  private readonly allScales: readonly ScaledCounts[];
  private knownAsOfMs = Number.NEGATIVE_INFINITY;
  /** The time when counting began. */
  private nowMs = Number.NEGATIVE_INFINITY;
  /** Items whose counts may be higher on any scale; undefined where all may. */
  private risen: Set<number> | undefined;

  constructor({ windowMs, ttlMs }: PopularitySpans, clock: Clock) {
    this.clock = clock;
    this.inWindow = new MovingWindow(Math.min(windowMs, ttlMs), clock);
    if (Number.isFinite(ttlMs)) {
      this.inAll = new MovingWindow(ttlMs, clock);
      this.inAll.onExpired = (untilMs, slice) => this.expire(untilMs, slice);
    } else this.inAll = new RowCounts();
    this.allScales = [...this.decayed, this.everCounts];
  }

  /** As of the last `drain`; what these count changes with the next. */
  get scales(): readonly ScaledCounts[] {
    this.countNewest();
    return this.allScales;
  }

  get asOfMs(): number {
    this.countNewest();
    return this.knownAsOfMs;
  }

  get window(): Uint32Array {
    return this.inWindow.counts.values;
  }

  /** Calls `listener`, one in all, with each row whose number in `window` changes. */
  onWindowChange(listener: (row: number) => void): void {
    this.inWindow.counts.onChange = listener;
  }

  get ever(): Uint32Array {
    return this.everCounts.values;
  }

  /** Items whose counts on any of `scales` may be higher than when this was asked before; undefined where those of all may. One asks. */
  takeRisen(): ReadonlySet<number> | undefined {
    this.countNewest();
    const { risen } = this;
    this.risen = new Set();
    return risen;
  }

  /** The sum over all feedback on each scale as of `asOfMs`, in records. */
  totals(): number[] {
    const { asOfMs } = this;
    return [...this.decayed.map((counts) => counts.totalAt(asOfMs)), this.everCounts.total];
  }

  /** That of one scale but the last, which is had without counting the newest on all. */
  totalOn(scale: number): number {
    if (this.countsNewest) return this.decayed[scale]!.totalAt(this.knownAsOfMs);
    return this.decayed[scale]!.totalWith(this.newest, this.present);
  }

  /**
   * Adds (`sign` 1) or takes back (-1) the records whose type `isPositive`. They are counted by `drain`, at the latest
   * when somebody asks, so that following a large commit costs no other request its turn.
   * @param feedback is kept until then and must not change
   */
  apply(feedback: FeedbackColumns, isPositive: TypeTest, sign: 1 | -1): void {
    if (feedback.length > 0) this.pending.push({ feedback, isPositive, sign, next: 0 });
  }

  /** True where the clock went back, so that a window lacks what had left it: all is to be counted again. */
  get hasForgotten(): boolean {
    return this.inWindow.hasForgotten || (this.inAll instanceof MovingWindow && this.inAll.hasForgotten);
  }

  /** Moves the windows to the present and counts at most `limit` of the records that wait. @returns true when more are waiting */
  drain(limit = Number.POSITIVE_INFINITY): boolean {
    this.advance();
    if (this.hasForgotten) this.onForgotten();
    let left = limit;
    for (let batch = this.pending[0]; batch !== undefined && left > 0; batch = this.pending[0]) {
      const { feedback, isPositive, sign } = batch;
      const end = Math.min(feedback.length, batch.next + left);
      left -= end - batch.next;
      for (; batch.next < end; batch.next++) {
        const { next } = batch;
        if (!isPositive(feedback.types[next]!)) continue;
        const [user, item, timeMs] = [
          feedback.userRows[next]!,
          feedback.itemRows[next]!,
          feedback.timesMs[next]!,
        ];
        if (sign === 1) this.recent.add(user, item, timeMs);
        else this.recent.remove(user, item, timeMs);
        this.count(item, timeMs, sign);
      }
      if (end === feedback.length) this.pending.shift();
    }
    return this.pending.length > 0;
  }

  /** Counts all that waits and says what there is. The arrays are in use: they are to be copied before anything else happens. */
  save(): SavedPopularity {
    this.drain();
    this.leaveNewest();
    const { inAll } = this;
    return {
      window: this.inWindow.save(),
      ever: inAll instanceof RowCounts ? inAll.values : inAll.save(),
      decayed: this.decayed.map((counts) => counts.save()),
      newest: this.newest.save(),
      recent: this.recent.save(),
    };
  }

  /** Takes the place of all that was counted; what waits to be counted is dropped. @param saved is kept */
  restore({ window, ever, decayed, newest, recent }: SavedPopularity): void {
    this.pending.length = 0;
    this.risen = undefined;
    this.recent.restore(recent);
    for (const [at, counts] of this.decayed.entries()) counts.restore(decayed[at]!);
    this.newest.restore(newest);
    this.countsNewest = false;
    this.inWindow.restore(window);
    if (this.inAll instanceof RowCounts) this.inAll.restore(ever as Uint32Array);
    else this.inAll.restore(ever as SavedWindow);
    this.advance();
  }

  private get everCounts(): RowCounts {
    return this.inAll instanceof RowCounts ? this.inAll : this.inAll.counts;
  }

  private count(row: number, timeMs: number, sign: 1 | -1): void {
    this.inWindow.add(row, timeMs, sign);
    if (this.inAll instanceof RowCounts) this.inAll.add(row, sign);
    else if (this.inAll.isPast(timeMs)) return;
    else this.inAll.add(row, timeMs, sign);
    this.leaveNewest();
    if (sign === 1) {
      this.noteRisen(row);
      const left = this.newest.add(row, timeMs);
      if (left !== undefined) this.decay(left.row, left.timeMs, 1);
    } else if (!this.newest.remove(row, timeMs)) this.decay(row, timeMs, -1);
  }

  private decay(row: number, timeMs: number, records: number): void {
    const knownMs = Math.min(timeMs, this.nowMs);
    for (const counts of this.decayed) counts.add(row, knownMs, records);
    if (records > 0) this.noteRisen(row);
  }

  private noteRisen(row: number): void {
    this.risen?.add(row);
    if ((this.risen?.size ?? 0) > RISEN_MAX) this.risen = undefined;
  }

  /** Counts the newest records on the decaying scales: not before somebody asks, for they change with each commit. */
  private countNewest(): void {
    if (this.countsNewest) return;
    this.countsNewest = true;
    this.knownAsOfMs = this.present;
    for (const counts of this.decayed) counts.addBrief(this.newest, this.knownAsOfMs);
    this.newest.forEach((row) => {
      this.noteRisen(row);
    });
  }

  private get present(): number {
    return Math.min(this.clock(), this.newest.asOfMs(this.everCounts.total));
  }

  private leaveNewest(): void {
    if (!this.countsNewest) return;
    this.countsNewest = false;
    for (const counts of this.decayed) counts.endBrief();
  }

  private advance(): void {
    this.nowMs = this.clock();
    this.inWindow.advance();
    if (!(this.inAll instanceof RowCounts)) this.inAll.advance();
  }

  /** Takes what counts no longer out of the decaying scales, each record as if it were of the middle of its slice. */
  private expire(untilMs: number, slice: WindowSlice): void {
    this.leaveNewest();
    for (let old = this.newest.shiftUntil(untilMs); old !== undefined; old = this.newest.shiftUntil(untilMs))
      this.decay(old.row, old.timeMs, 1);
    const middleMs = untilMs - (this.inAll as MovingWindow).sliceMs / 2;
    slice.forEach((row, count) => {
      this.decay(row, middleMs, -count);
    });
  }
}

/** A copy in shared memory for the workers, of `rowCount` numbers each. Pauses after each of its arrays. */
export function* sharePopularity(
  popularity: ItemPopularity,
  rowCount: number,
): Generator<undefined, ItemPopularity> {
  const ever = yield* filledInSteps(sharedU32(rowCount), () => popularity.ever);
  const scales: ScaledCounts[] = [];
  for (let scale = 0; scale <= HALF_LIVES_MS.length; scale++) {
    yield;
    const isEver = popularity.scales[scale]!.values instanceof Uint32Array;
    const copy = isEver ? ever : yield* touchedInSteps(sharedF32(rowCount));
    // At once, and asked for anew: a commit may have come meanwhile.
    const { values, total } = popularity.scales[scale]!;
    if (copy !== ever) filled(copy, values.subarray(0, rowCount));
    scales.push({ values: copy, total });
  }
  yield;
  const window = yield* filledInSteps(sharedU32(rowCount), () => popularity.window);
  return { window, ever, scales, asOfMs: popularity.asOfMs };
}
