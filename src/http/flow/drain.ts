/**
 * The end of a server in order: requests under way are waited for, some time at most, and the answers to requests that come
 * meanwhile close their connections; what comes after is refused.
 */
export class Drain {
  private state: 'open' | 'draining' | 'closed' = 'open';
  private underWay = 0;
  private onIdle = () => {};

  /** True from the beginning of a stop on: connections are to be closed. */
  get hasBegun(): boolean {
    return this.state !== 'open';
  }

  /** True once the stop is over: nothing is answered any more. */
  get isOver(): boolean {
    return this.state === 'closed';
  }

  /** A request begins that is not answered at once; `leave` is to follow. */
  enter(): void {
    this.underWay++;
  }

  leave(): void {
    this.underWay--;
    if (this.underWay === 0) this.onIdle();
  }

  /** Begins a stop. */
  begin(): void {
    this.state = 'draining';
  }

  /** Resolves when no request is under way any more, at the latest after `limitMs` milliseconds; the stop is over then. */
  async end(limitMs: number): Promise<void> {
    if (this.underWay > 0) await this.idle(limitMs);
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
