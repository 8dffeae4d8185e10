import type { History } from '../history/history.ts';

/** Time that may be used at once after a quiet time, milliseconds. */
const BURST_MS = 1000;
/** So long after the last piece of work its mean counts half, milliseconds: one slow piece must not keep out all others for ever. */
const FADE_MS = 60_000;
/** Weight of the last piece of work in the mean. */
const LAST_SHARE = 1 / 16;
/** A list that takes longer to make is not made on the thread that serves, milliseconds. */
const MADE_HERE_MS_MAX = 4;
/** Nor is the list of a user with more feedback than this, which takes long for that alone. */
export const RECORDS_HERE_MAX = 10_000;
/** Nor any of a catalogue with more items: a model takes milliseconds to look through them. */
const ITEMS_HERE_MAX = 250_000;

/**
 * Decides which lists, and which questions that are answered like lists, the thread that serves makes itself: those that
 * are short, as long as its share of time lasts. The share is a bucket that fills with the time that passes and is
 * emptied by the time that the work takes.
 */
export class MainThreadTime {
  private readonly options: {
    /** Share of the time, 0 for none of it and 1 for no limit. */
    readonly share: number;
    /** A clock that never goes back, milliseconds. */
    readonly now: () => number;
    readonly itemCount: () => number;
  };

  private leftMs = BURST_MS;
  private filledMs: number;
  private lastMeanMs = 0;
  /** Time when the last piece of work was done. */
  private spentMs: number;

  constructor(options: MainThreadTime['options']) {
    this.options = options;
    this.filledMs = options.now();
    this.spentMs = this.filledMs;
  }

  /** True where a worker is to do it, however much time is left. */
  takesLong(history: Pick<History, 'length'>): boolean {
    if (history.length > RECORDS_HERE_MAX) return true;
    return !this.isUnlimited && (this.meanMs > MADE_HERE_MS_MAX || this.options.itemCount() > ITEMS_HERE_MAX);
  }

  /** Time that one piece of work takes, smoothed; less and less while none is done. */
  get meanMs(): number {
    return this.lastMeanMs * 2 ** ((this.spentMs - this.options.now()) / FADE_MS);
  }

  get isLeft(): boolean {
    const { share, now } = this.options;
    if (this.isUnlimited) return true;
    if (share <= 0) return false;
    const nowMs = now();
    this.leftMs = Math.min(BURST_MS, this.leftMs + (nowMs - this.filledMs) * share);
    this.filledMs = nowMs;
    return this.leftMs > 0;
  }

  /** Does the work here and counts its time. */
  spend<T>(work: () => T): T {
    const { now } = this.options;
    const { meanMs } = this;
    const beganMs = now();
    try {
      return work();
    } finally {
      const nowMs = now();
      const tookMs = nowMs - beganMs;
      this.leftMs -= tookMs;
      this.lastMeanMs = meanMs + (tookMs - meanMs) * LAST_SHARE;
      this.spentMs = nowMs;
    }
  }

  private get isUnlimited(): boolean {
    return this.options.share >= 1;
  }
}
