import { performance } from 'node:perf_hooks';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';

/**
 * The end of a server in order. It waits for requests under way and until none has come for a moment, some time at most: a
 * client sends its next request before it knows of the stop. Answers to requests that come meanwhile close their
 * connections; a later request is refused.
 */
export class Drain {
  private state: 'open' | 'draining' | 'closed' = 'open';
  private underWay = 0;
  private heardMs = Number.NEGATIVE_INFINITY;
  private onIdle = () => {};
  private readonly quietMs: number;

  /** @param quietMs time without a request after which no pooled client is taken to be about to send one, milliseconds */
  constructor(quietMs: number) {
    this.quietMs = quietMs;
  }

  /** True from the beginning of a stop on: connections are to be closed. */
  get hasBegun(): boolean {
    return this.state !== 'open';
  }

  /** True once the stop is over: nothing is answered any more. */
  get isOver(): boolean {
    return this.state === 'closed';
  }

  /** Notes that a request has come. @param nowMs of `performance.now()` */
  hear(nowMs: number): void {
    this.heardMs = nowMs;
  }

  /** A request begins that is not answered at once; `leave` is to follow. */
  enter(): void {
    this.underWay++;
  }

  leave(): void {
    this.underWay--;
    if (this.underWay === 0) this.onIdle();
  }

  begin(): void {
    this.state = 'draining';
  }

  /** Resolves when no request is under way any more and none comes, at the latest after `limitMs` milliseconds; the stop is over then. */
  async end(limitMs: number): Promise<void> {
    const endMs = performance.now() + limitMs;
    for (;;) {
      // Of a process that stood still the timer ends before what came meanwhile is read: behind two turns it is.
      await turn();
      await turn();
      const leftMs = endMs - performance.now();
      const noisyMs = Math.min(this.heardMs + this.quietMs - performance.now(), leftMs);
      if (leftMs > 0 && this.underWay > 0) await this.idle(leftMs);
      else if (noisyMs > 0) await delay(noisyMs);
      else break;
    }
    this.state = 'closed';
  }

  private idle(limitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, limitMs);
      this.onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
