/** With less of a processor than this, what a thread does hardly gets on. */
const SHARE_LEAST = 0.5;
/** With more than this even at full priority, nobody else wants the processor. */
const SHARE_FREE = 0.8;

/**
 * Tells whether work that gives way to requests should do so no longer, because requests never end: what goes by turns
 * gets half of what it could. Once there is room again it gives way as before.
 */
export class Haste {
  /** True when the next piece is to be done at the priority of requests. */
  isBehind = false;

  /** @param processorShare how much of the time in which the last piece wanted a processor it had one, 0 to 1 */
  note(processorShare: number): void {
    this.isBehind = processorShare < (this.isBehind ? SHARE_FREE : SHARE_LEAST);
  }
}
