/**
 * Time of the last event of a kind, as the clock tells it now. One that lies ahead was noted before the clock was set back,
 * and would be ahead of all that is made until it comes again: it counts as the moment at which that is first seen.
 */
export class TimeMark {
  private notedMs = Number.NEGATIVE_INFINITY;
  private ms = Number.NEGATIVE_INFINITY;

  /** @param notedMs time by the clock of then, milliseconds since the epoch. @returns one that is not after `nowMs` */
  asOf(notedMs: number, nowMs: number): number {
    if (notedMs !== this.notedMs || nowMs < this.ms) {
      this.notedMs = notedMs;
      this.ms = Math.min(notedMs, nowMs);
    }
    return this.ms;
  }
}
