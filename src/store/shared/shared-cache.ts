import type { CacheStats, CacheStore, UserList } from '../cache-store.ts';
import type { TableStats } from '../data-store.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';

const NOTHING = { lists: 0, bytes: 0 };

/** A cache whose lists all nodes share. States and models are this node's own, in a cache of its own. */
export class SharedCache implements CacheStore {
  readonly local = undefined;
  readonly putState: CacheStore['putState'];
  readonly getState: CacheStore['getState'];
  readonly putBlob: CacheStore['putBlob'];
  readonly getBlob: CacheStore['getBlob'];
  private readonly lists: CircuitBreaker;
  private readonly own: CacheStore;

  constructor(lists: CircuitBreaker, own: CacheStore) {
    this.lists = lists;
    this.own = own;
    this.putState = own.putState.bind(own);
    this.getState = own.getState.bind(own);
    this.putBlob = own.putBlob.bind(own);
    this.getBlob = own.getBlob.bind(own);
  }

  putLists(lists: readonly UserList[], removed: readonly number[] = []): Promise<void> {
    if (lists.length === 0 && removed.length === 0) return Promise.resolve();
    return this.lists.change(lists, removed);
  }

  /** Undefined, too, while the place does not answer. */
  getList(userRow: number): Promise<UserList | undefined> {
    return this.lists.find(userRow);
  }

  /** With no lists while the place does not answer. */
  async getStats(): Promise<CacheStats> {
    const [shared, own] = await Promise.all([this.sharedStats(), this.own.getStats()]);
    const { lists, bytes } = shared ?? NOTHING;
    const isAvailable = shared !== undefined && this.lists.isAvailable;
    return { lists, listBytes: bytes, bytes: own.bytes, isAvailable, failures: this.lists.failures };
  }

  async getTables(): Promise<readonly TableStats[]> {
    const [shared, tables] = await Promise.all([this.sharedStats(), this.own.getTables()]);
    const { lists, bytes } = shared ?? NOTHING;
    const own = tables.filter(({ name }) => name !== 'lists');
    return [{ name: 'shared lists', entries: lists, bytes }, ...own];
  }

  async ping(): Promise<void> {
    await this.lists.ping();
    await this.own.ping();
  }

  async close(): Promise<void> {
    await this.lists.close();
    await this.own.close();
  }

  private async sharedStats(): Promise<typeof NOTHING | undefined> {
    return this.lists.getStats().catch(() => undefined);
  }
}
