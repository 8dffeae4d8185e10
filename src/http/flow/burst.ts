import { getOrPut } from '../../domain/get-or-put.ts';

/**
 * Requests that are answered at once in a round of the event loop, however long they take. A thousand connections that have
 * sixteen under way each send as many in four volleys, which one round takes in while all of them are ready again and again.
 */
const REQUESTS_MAX = 65_536;
/** Time that a round with more of them may take, milliseconds. */
const LONG_ROUND_MS = 500;
/** From then on one answer in so many is the last of its connection: a round ends where fewer than 1,024 connections are ready. */
const LAST_IN = 1024;
/** Time after which the others of such a round are refused, milliseconds. */
const ENDLESS_ROUND_MS = 2000;
/** Time after which a round answers no more at once, where that only delays, milliseconds. */
const ROUND_MS = 10;
/** Put-off requests that are answered in a round. */
const LATE_A_ROUND = 64;

/**
 * Watches over one round of the event loop: many requests come in one when connections send on and on without waiting
 * for answers, and would keep everybody else out until they are through. Those beyond are put off; some are
 * answered a round, one of each connection after the other, so that who asks one at a time waits for one of each. Where they cannot be put off, some connections are closed behind an answer once a round is both full
 * and long, which loses nothing of a client that waits for answers; and where it goes on all the same, requests are refused.
 */
export class Burst {
  private readonly mayDelay: boolean;
  private requests = 0;
  private sinceMs = 0;
  private isWatching = false;
  /** By connection; that which had its turn last stands last. */
  private readonly waiting = new Map<object, (() => void)[]>();

  /** @param mayDelay whether a request that is put off costs its connection nothing but time */
  constructor(mayDelay: boolean) {
    this.mayDelay = mayDelay;
  }

  /** Counts a request that begins at `nowMs`. @returns what is to be done with it */
  count(nowMs: number): 'answer' | 'answer and close' | 'put off' | 'refuse' {
    if (this.requests++ === 0) {
      this.sinceMs = nowMs;
      this.watch();
    }
    const roundMs = nowMs - this.sinceMs;
    if (this.mayDelay) return roundMs > ROUND_MS || this.waiting.size > 0 ? 'put off' : 'answer';
    if (this.requests <= REQUESTS_MAX || roundMs <= LONG_ROUND_MS) return 'answer';
    if (roundMs > ENDLESS_ROUND_MS) return 'refuse';
    return this.requests % LAST_IN === 0 ? 'answer and close' : 'answer';
  }

  /** Resolves when a request that was put off has its turn. @param connection that it came over */
  turn(connection: object): Promise<void> {
    return new Promise((resolve) => {
      getOrPut(this.waiting, connection, () => []).push(resolve);
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
    for (let left = LATE_A_ROUND; left > 0; left--) {
      const [first] = this.waiting;
      if (first === undefined) return;
      const [connection, own] = first;
      own.shift()!();
      this.waiting.delete(connection);
      if (own.length > 0) this.waiting.set(connection, own);
    }
    if (this.waiting.size > 0) this.watch();
  }
}
