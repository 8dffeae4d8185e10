import { overloaded } from '../../domain/concurrency/overload.ts';
import type { WorkerPool } from './pool.ts';
import { SerialQueue } from './serial-queue.ts';

/** Time that a search may take, milliseconds. */
const TIME_MS_MAX = 3000;
/** Entries that a search finds at most. */
const FOUND_MAX = 1000;
/** Searches that may wait for others. */
const WAITING_MAX = 16;

/** Searches items by text in a worker, one search at a time, so that many of them take no more than one thread. */
export class ItemSearch {
  private readonly pool: WorkerPool;
  private readonly dataPath: string;
  private readonly queue = new SerialQueue();
  private waiting = 0;

  constructor(pool: WorkerPool, dataPath: string) {
    this.pool = pool;
    this.dataPath = dataPath;
  }

  /**
   * Ids of items that contain the text, best match first.
   * @throws FurzeError OVERLOADED when too many searches wait
   */
  async find(text: string, n: number): Promise<readonly string[]> {
    if (this.waiting >= WAITING_MAX) throw overloaded('searches');
    const job = { kind: 'searchItems', dataPath: this.dataPath, text, n: Math.min(n, FOUND_MAX) } as const;
    this.waiting++;
    try {
      return await this.queue.take(() => this.pool.run<'searchItems'>({ ...job, timeMsMax: TIME_MS_MAX }));
    } finally {
      this.waiting--;
    }
  }
}
