import { getOrPut } from '../../domain/get-or-put.ts';

/** Time that a round may take where its requests cannot be put off, milliseconds: then it is broken off. */
const LONG_ROUND_MS = 20;
/** Requests and milliseconds beyond which others are refused, where a round cannot be broken off. */
const [REQUESTS_MAX, ENDLESS_ROUND_MS] = [65_536, 2000];
/** A signal that does nothing by default. Windows has none of that kind. */
const SIGNAL = process.platform === 'win32' ? undefined : 'SIGURG';
/** Time after which a round answers no more at once, where that only delays, milliseconds. */
const ROUND_MS = 10;
/** Put-off requests that are answered in a round. */
const LATE_A_ROUND = 64;

/**
 * Watches over one round of the event loop: many requests come in one when connections send on and on without waiting
 * for answers, and would keep everybody else out until they are through. Those beyond are put off; some are answered a
 * round, one of each connection after the other, so that who asks one at a time waits for one of each. Where they cannot
 * be put off, the round is broken off: libuv looks for more events, up to 48 times, while 1,024 descriptors are ready
 * (`uv__io_poll`), and begins the next round once one of them tells of a signal.
 */
export class Burst {
  private readonly mayDelay: boolean;
  private requests = 0;
  private sinceMs = 0;
  private isWatching = false;
  private isBrokenOff = false;
  /** By connection; that which had its turn last stands last. */
  private readonly waiting = new Map<object, (() => void)[]>();

  /** @param mayDelay whether a request that is put off costs its connection nothing but time */
  constructor(mayDelay: boolean) {
    this.mayDelay = mayDelay;
    if (!mayDelay && SIGNAL && process.listenerCount(SIGNAL) === 0) process.on(SIGNAL, () => {});
  }

  /** Counts a request that begins at `nowMs`. @returns what is to be done with it */
  count(nowMs: number): 'answer' | 'put off' | 'refuse' {
    if (this.requests++ === 0) {
      this.sinceMs = nowMs;
      this.watch();
    }
    const roundMs = nowMs - this.sinceMs;
    if (this.mayDelay) return roundMs > ROUND_MS || this.waiting.size > 0 ? 'put off' : 'answer';
    if (roundMs > LONG_ROUND_MS) this.breakOff();
    return roundMs > ENDLESS_ROUND_MS && this.requests > REQUESTS_MAX ? 'refuse' : 'answer';
  }

  /** Resolves when a request that was put off has its turn. @param connection that it came over */
  turn(connection: object): Promise<void> {
    return new Promise((resolve) => {
      getOrPut(this.waiting, connection, () => []).push(resolve);
      this.watch();
    });
  }

  private breakOff(): void {
    if (this.isBrokenOff || SIGNAL === undefined) return;
    this.isBrokenOff = true;
    process.kill(process.pid, SIGNAL);
  }

  private watch(): void {
    if (this.isWatching) return;
    this.isWatching = true;
    setImmediate(() => this.endRound());
  }

  private endRound(): void {
    this.requests = 0;
    this.isWatching = false;
    this.isBrokenOff = false;
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
