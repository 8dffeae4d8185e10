/** What may be used at once after a quiet time, milliseconds. */
const BURST_MS = 1000;
/** So long after the last piece of work its mean counts half, milliseconds: one slow piece must not keep out all others for ever. */
const FADE_MS = 60_000;
/** Weight of the last piece of work in the mean. */
const LAST_SHARE = 1 / 16;

/**
 * How much of a thread's time one kind of work may take: a bucket that fills with the time that passes and is emptied
 * by the time that the work takes.
 */
export class TimeBudget {
  private readonly share: number;
  private readonly now: () => number;
  private leftMs = BURST_MS;
  private filledMs: number;
  private lastMeanMs = 0;
  /** When the last piece of work was done. */
  private spentMs: number;

  /**
   * @param share of the time, 0 for none of it and 1 for no limit
   * @param now a clock that never goes back, milliseconds
   */
  constructor(share: number, now: () => number) {
    this.share = share;
    this.now = now;
    this.filledMs = now();
    this.spentMs = this.filledMs;
  }

  /** What one piece of work takes, smoothed; less and less while none is done. */
  get meanMs(): number {
    return this.lastMeanMs * 2 ** ((this.spentMs - this.now()) / FADE_MS);
  }

  get isUnlimited(): boolean {
    return this.share >= 1;
  }

  get isLeft(): boolean {
    if (this.isUnlimited) return true;
    if (this.share <= 0) return false;
    const nowMs = this.now();
    this.leftMs = Math.min(BURST_MS, this.leftMs + (nowMs - this.filledMs) * this.share);
    this.filledMs = nowMs;
    return this.leftMs > 0;
  }

  /** Does the work and counts its time. */
  spend<T>(work: () => T): T {
    const { meanMs } = this;
    const beganMs = this.now();
    try {
      return work();
    } finally {
      const nowMs = this.now();
      const tookMs = nowMs - beganMs;
      this.leftMs -= tookMs;
      this.lastMeanMs = meanMs + (tookMs - meanMs) * LAST_SHARE;
      this.spentMs = nowMs;
    }
  }
}
