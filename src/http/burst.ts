/** Requests that are answered at once in a round of the event loop. */
const REQUESTS_MAX = 2000;

/**
 * Counts the requests of one round of the event loop. Many come in one when connections send on and on without waiting
 * for answers, and would keep everybody else out until they are through.
 */
export class Burst {
  private requests = 0;

  /** Counts a request. @returns true when it is one too many for this round */
  count(): boolean {
    if (this.requests++ === 0) setImmediate(() => (this.requests = 0));
    return this.requests > REQUESTS_MAX;
  }
}
