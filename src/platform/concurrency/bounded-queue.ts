import { type Overload, overloaded } from './overload-error.ts';

export interface BoundedQueueOptions {
  /** Pieces of work at the same time at most. */
  readonly atWorkMax: number;
  /** Pieces that wait at most; more are refused. */
  readonly waitingMax: number;
  /** What there is too much of then. */
  readonly refusedFor: Overload;
}

/** Lets so many pieces of work be done at the same time; the others wait, first come, first served, as many as may. */
export class BoundedQueue {
  private readonly options: BoundedQueueOptions;
  private readonly queue = new Set<() => void>();
  private atWork = 0;

  constructor(options: BoundedQueueOptions) {
    this.options = options;
  }

  /** Pieces of work that wait. */
  get waiting(): number {
    return this.queue.size;
  }

  /**
   * Does the work when it is its turn.
   * @param signal aborted when nobody waits for it any more: then it leaves the queue
   * @throws FurzeError OVERLOADED when too many wait; the signal's reason once it is aborted; what the work throws
   */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.atWork < this.options.atWorkMax) this.atWork++;
    else await this.wait(signal);
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  /** Whoever leaves hands its place on. */
  private leave(): void {
    const [next] = this.queue;
    if (next === undefined) this.atWork--;
    else {
      this.queue.delete(next);
      next();
    }
  }

  private wait(signal: AbortSignal | undefined): Promise<void> {
    const { waitingMax, refusedFor } = this.options;
    if (this.queue.size >= waitingMax) throw overloaded(refusedFor);
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        this.queue.delete(begin);
        reject(signal!.reason);
      };
      const begin = () => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      this.queue.add(begin);
    });
  }
}
