/** Lists may be others once so large a part of the likes of half a day has come. */
const SHARE = 0.002;

/** Knows when so many likes have come that lists may be others: each of a small service, of a large one a few hundred. */
export class Movement {
  /** Milliseconds since the epoch, -Infinity for never. */
  lastMs = Number.NEGATIVE_INFINITY;
  private since = 0;

  /**
   * Notes likes.
   * @param lately likes of half a day, more or less
   * @param nowMs milliseconds since the epoch
   */
  note(likes: number, lately: number, nowMs: number): void {
    this.since += likes;
    if (likes === 0 || this.since < SHARE * lately) return;
    this.since = 0;
    this.lastMs = nowMs;
  }
}
