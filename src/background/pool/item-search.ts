import { BoundedQueue } from '../../platform/concurrency/bounded-queue.ts';
import type { WorkerPool } from './worker-pool.ts';

const TIME_MS_MAX = 3000;
const FOUND_MAX = 1000;
/** Searches that wait for the one at work at most; more are refused. */
const WAITING_MAX = 15;

/** Searches items by text in a worker, one search at a time, so that many of them take no more than one thread. */
export class ItemSearch {
  private readonly pool: WorkerPool;
  private readonly dataPath: string;
  private readonly queue = new BoundedQueue({
    atWorkMax: 1,
    waitingMax: WAITING_MAX,
    refusedFor: 'searches',
  });

  constructor(pool: WorkerPool, dataPath: string) {
    this.pool = pool;
    this.dataPath = dataPath;
  }

  /**
   * Ids of items that contain the text, best match first.
   * @throws FurzeError OVERLOADED when too many searches wait
   */
  find(text: string, n: number): Promise<readonly string[]> {
    const { dataPath } = this;
    const job = {
      kind: 'searchItems',
      dataPath,
      text,
      n: Math.min(n, FOUND_MAX),
      timeMsMax: TIME_MS_MAX,
    } as const;
    return this.queue.run(() => this.pool.run<'searchItems'>(job));
  }
}
