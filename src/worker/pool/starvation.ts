/** With less of a processor than this, what a thread does hardly gets anywhere. */
const SHARE_LEAST = 0.5;
/** With more than this even at full priority, nobody else wants the processor. */
const SHARE_FREE = 0.8;

/**
 * Tells whether work that gives way to requests is starved of a processor and should give way no longer, because requests
 * never end. Once there is room again it gives way as before.
 */
export class Starvation {
  /** True when the next piece is to be done at the priority of requests. */
  isStarved = false;

  /** @param processorShare how much of the time in which the last piece wanted a processor it had one, 0 to 1 */
  note(processorShare: number): void {
    this.isStarved = processorShare < (this.isStarved ? SHARE_FREE : SHARE_LEAST);
  }
}
