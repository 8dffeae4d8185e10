import type { ProcessorTimes } from '../../platform/process/processor-times.ts';

/** With less of a processor than this, work does not get on as those do that it gives way to. */
const FAIR_SHARE = 0.5;
/** Time after which a want counts half, milliseconds. */
const HALF_LIFE_MS = 5000;

/**
 * Tells whether work that gives way to requests is starved of a processor and should give way no longer, because requests
 * never end: as long as it has had less than half of what it wanted lately. So it has half of it in the end, and requests
 * have all the rest.
 */
export class Starvation {
  private ranMs = 0;
  private wantedMs = 0;

  /** True when the next piece is to be done at the priority of requests. */
  get isStarved(): boolean {
    return this.ranMs < this.wantedMs * FAIR_SHARE;
  }

  /** @param times what the thread of the last piece wanted of the processors, and had */
  note({ ranMs, wantedMs }: ProcessorTimes): void {
    const fade = 2 ** (-wantedMs / HALF_LIFE_MS);
    this.ranMs = this.ranMs * fade + ranMs;
    this.wantedMs = this.wantedMs * fade + wantedMs;
  }
}

/**
 * Has one starved thread of a pass at a time give way no longer. With two of them on two cores, the thread that answers and
 * its callers would have half of their processor time, and less for as long as both threads need to catch up.
 */
export class FullPriorityTurn {
  private isTaken = false;

  /** Does a piece of work: at the priority of requests where it is starved and no other piece is done so. */
  async run<T>(isStarved: boolean, work: (atFullPriority: boolean) => Promise<T>): Promise<T> {
    if (!isStarved || this.isTaken) return work(false);
    this.isTaken = true;
    try {
      return await work(true);
    } finally {
      this.isTaken = false;
    }
  }
}
