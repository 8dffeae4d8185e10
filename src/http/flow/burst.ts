/**
 * Requests that are answered at once in a round of the event loop, however long they take. A thousand connections that have
 * sixteen under way each send as many in four volleys, which one round takes in while all of them are ready again and again.
 */
const REQUESTS_MAX = 65_536;
/** Time that a round with more of them may take, milliseconds. */
const LONG_ROUND_MS = 500;
/** Time after which a round answers no more at once, where that only delays, milliseconds. */
const ROUND_MS = 10;
/** Put-off requests that are answered in a round. */
const LATE_A_ROUND = 32;

/**
 * Watches over one round of the event loop: many requests come in one when connections send on and on without waiting
 * for answers, and would keep everybody else out until they are through. Those beyond are put off, first come, first
 * served, some a round; where they cannot be put off, they are refused once a round is both full and long.
 */
export class Burst {
  private readonly mayDelay: boolean;
  private requests = 0;
  private sinceMs = 0;
  private isWatching = false;
  private readonly waiting: (() => void)[] = [];

  /** @param mayDelay whether a request that is put off costs its connection nothing but time */
  constructor(mayDelay: boolean) {
    this.mayDelay = mayDelay;
  }

  /** Counts a request that begins at `nowMs`. @returns true when it is one too many for this round */
  count(nowMs: number): boolean {
    if (this.requests++ === 0) {
      this.sinceMs = nowMs;
      this.watch();
    }
    const roundMs = nowMs - this.sinceMs;
    return this.mayDelay ? roundMs > ROUND_MS : this.requests > REQUESTS_MAX && roundMs > LONG_ROUND_MS;
  }

  /** Resolves when a request that was put off has its turn. */
  turn(): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      this.watch();
    });
  }

  private watch(): void {
    if (this.isWatching) return;
    this.isWatching = true;
    setImmediate(() => this.endRound());
  }

  private endRound(): void {
    this.requests = 0;
    this.isWatching = false;
    if (this.waiting.length === 0) return;
    for (const begin of this.waiting.splice(0, LATE_A_ROUND)) begin();
    if (this.waiting.length > 0) this.watch();
  }
}
