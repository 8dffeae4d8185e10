import type { CacheStats, CacheStore, LocalCache, UserList } from './cache-store.ts';
import type { TableStats } from './data-store.ts';

/** Time between two attempts to store states that could not be, milliseconds. */
const RETRY_MS = 1000;
const NO_STATS: CacheStats = { lists: 0, listBytes: 0, bytes: 0, isAvailable: false, failures: 0 };

/**
 * A cache whose states can always be put: while its disk takes none they are kept in memory, and stored when it does. What
 * cannot be read counts as missing. All that a cache holds can be made again, so nothing that goes on for other reasons may
 * fail for it.
 */
export class UnsavedStateCache implements CacheStore {
  private readonly cache: CacheStore;
  private readonly onTrouble: (message: string, error: unknown) => void;
  private readonly ownLocal: LocalCache | undefined;
  private readonly unsaved = new Map<string, unknown>();
  private timer: NodeJS.Timeout | undefined;

  /** @param onTrouble told at each attempt that fails */
  constructor(cache: CacheStore, onTrouble: (message: string, error: unknown) => void) {
    this.cache = cache;
    this.onTrouble = onTrouble;
    const { local } = cache;
    this.ownLocal = local && {
      refresh: () => local.refresh(),
      readList: (userRow) => {
        try {
          return local.readList(userRow);
        } catch (error) {
          return this.missing(error, undefined);
        }
      },
    };
  }

  get local(): LocalCache | undefined {
    return this.ownLocal;
  }

  /** Resolves when the state is stored, or kept until it can be. */
  async putState(name: string, value: unknown): Promise<void> {
    this.unsaved.set(name, value);
    await this.save();
  }

  async getState(name: string): Promise<unknown> {
    return this.unsaved.has(name)
      ? this.unsaved.get(name)
      : this.read(() => this.cache.getState(name), undefined);
  }

  putLists(lists: readonly UserList[], removed?: readonly number[]): Promise<void> {
    return this.cache.putLists(lists, removed);
  }

  getList(userRow: number): Promise<UserList | undefined> {
    return this.read(() => this.cache.getList(userRow), undefined);
  }

  putBlob(name: string, bytes: Uint8Array): Promise<void> {
    return this.cache.putBlob(name, bytes);
  }

  getBlob(name: string): Promise<Uint8Array | undefined> {
    return this.read(() => this.cache.getBlob(name), undefined);
  }

  getStats(): Promise<CacheStats> {
    return this.read(() => this.cache.getStats(), NO_STATS);
  }

  getTables(): Promise<readonly TableStats[]> {
    return this.read(() => this.cache.getTables(), []);
  }

  ping(): Promise<void> {
    return this.cache.ping();
  }

  async close(): Promise<void> {
    clearTimeout(this.timer);
    if (this.unsaved.size > 0) await this.save();
    clearTimeout(this.timer);
    await this.cache.close();
  }

  private async read<T>(read: () => Promise<T>, missing: T): Promise<T> {
    try {
      return await read();
    } catch (error) {
      return this.missing(error, missing);
    }
  }

  private missing<T>(error: unknown, missing: T): T {
    this.onTrouble('The cache cannot be read; the service goes on without', error);
    return missing;
  }

  private async save(): Promise<void> {
    try {
      for (const [name, value] of [...this.unsaved]) {
        await this.cache.putState(name, value);
        if (this.unsaved.get(name) === value) this.unsaved.delete(name);
      }
    } catch (error) {
      this.onTrouble('The cache cannot be written; the service goes on without', error);
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.save(), RETRY_MS);
      this.timer.unref();
    }
  }
}
