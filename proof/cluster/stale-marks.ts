import { PAUSE_MS, WAIT_MS_MAX } from '../../src/store/postgres/barrier.ts';
import type { Answered } from './ask.ts';
import type { Node } from './node.ts';

/** Clocks of two processes and timers that go off early, milliseconds. */
const CLOCK_ERROR_MS = 10;

/**
 * Counts answers that are marked stale. A node may mark one after it has waited for its database as long as it waits, as on a
 * machine that stalls, and those of the pause that follows; any other has no excuse.
 */
export class StaleMarks {
  all = 0;
  unexcused = 0;
  private readonly waitedMs = new Map<Node, number>();

  /** @returns whether the answer is marked */
  note(node: Node, { isStale, askedMs, answeredMs }: Answered): boolean {
    if (!isStale) return false;
    this.all++;
    if (answeredMs - askedMs >= WAIT_MS_MAX - CLOCK_ERROR_MS) this.waitedMs.set(node, answeredMs);
    else if (askedMs - (this.waitedMs.get(node) ?? Number.NEGATIVE_INFINITY) > PAUSE_MS + CLOCK_ERROR_MS)
      this.unexcused++;
    return true;
  }
}
