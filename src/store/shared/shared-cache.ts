import type { CacheStats, CacheStore, UserList } from '../cache-store.ts';
import type { TableStats } from '../data-store.ts';
import { UnsavedStateCache } from '../unsaved-state-cache.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';

const NOTHING = { lists: 0, bytes: 0 };

/** A cache whose lists all nodes share. States and models are this node's own, in a cache of its own. */
export class SharedCache extends UnsavedStateCache {
  private readonly lists: CircuitBreaker;

  constructor(lists: CircuitBreaker, own: CacheStore, onTrouble: (message: string, error: unknown) => void) {
    super(own, onTrouble);
    this.lists = lists;
  }

  override get local(): undefined {
    return undefined;
  }

  override putLists(lists: readonly UserList[], removed: readonly number[] = []): Promise<void> {
    if (lists.length === 0 && removed.length === 0) return Promise.resolve();
    return this.lists.change(lists, removed);
  }

  /** Undefined, too, while the place does not answer. */
  override getList(userRow: number): Promise<UserList | undefined> {
    return this.lists.find(userRow);
  }

  /** With no lists while the place does not answer. */
  override async getStats(): Promise<CacheStats> {
    const [shared, own] = await Promise.all([this.sharedStats(), super.getStats()]);
    const { lists, bytes } = shared ?? NOTHING;
    const isAvailable = shared !== undefined && this.lists.isAvailable;
    return { lists, listBytes: bytes, bytes: own.bytes, isAvailable, failures: this.lists.failures };
  }

  override async getTables(): Promise<readonly TableStats[]> {
    const [shared, tables] = await Promise.all([this.sharedStats(), super.getTables()]);
    const { lists, bytes } = shared ?? NOTHING;
    const own = tables.filter(({ name }) => name !== 'lists');
    return [{ name: 'shared lists', entries: lists, bytes }, ...own];
  }

  override async ping(): Promise<void> {
    await this.lists.ping();
    await super.ping();
  }

  override async close(): Promise<void> {
    await this.lists.close();
    await super.close();
  }

  private async sharedStats(): Promise<typeof NOTHING | undefined> {
    return this.lists.getStats().catch(() => undefined);
  }
}
