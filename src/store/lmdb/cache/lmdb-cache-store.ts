import { decode, encode } from '@msgpack/msgpack';
import type { CacheStats, CacheStore, LocalCache, UserList } from '../../cache-store.ts';
import type { TableStats } from '../../data-store.ts';
import type { FolderLock } from '../../lock/folder-lock.ts';
import { packList, unpackList } from '../../packed-list.ts';
import { rowKey, writeRow } from '../format/record-layout.ts';
import {
  countEntries,
  describeTables,
  type Engine,
  type EngineOptions,
  openEngine,
  readBytes,
  type Table,
  tableBytes,
} from '../tables/engine.ts';

const TABLES_MAX = 8;
const TABLES = ['lists', 'marks', 'blobs'];
/** Mark of the data store that a cache belongs to. */
const OWNER_STATE = Buffer.from('data-store');

/** The tables of the cache environment. */
export interface CacheTables {
  readonly engine: Engine;
  readonly lists: Table;
  readonly marks: Table;
  readonly blobs: Table;
}

/** Opens the cache environment, and makes it when the folder is empty unless it is only read. */
export function openCacheTables(path: string, options?: EngineOptions): CacheTables {
  const engine = openEngine(path, TABLES_MAX, TABLES, options);
  return {
    engine,
    lists: engine.table('lists'),
    marks: engine.table('marks'),
    blobs: engine.table('blobs'),
  };
}

/** The cache store on LMDB. Every thread that needs one opens its own over the same folder. */
export class LmdbCacheStore implements CacheStore {
  readonly local: LocalCache;
  private readonly lock: FolderLock | undefined;
  private readonly tables: CacheTables;
  private readonly rowBytes = new Uint8Array(4);

  /** @param lock let go of once the store is closed; a further thread of the process has none */
  constructor(path: string, lock?: FolderLock, mapBytes?: number) {
    this.lock = lock;
    this.tables = openCacheTables(path, { mapBytes, batchesTurns: false });
    const { engine } = this.tables;
    this.local = {
      refresh: () => engine.renewReads(),
      readList: (userRow) => this.readList(userRow),
    };
  }

  /**
   * Makes this the cache of the data store with that identity as of now. What belongs to another, or to an older or newer state
   * of this one, is removed: its rows are others.
   * @param openings see `readOpenings`
   * @returns false when something was removed
   */
  claim(identity: string, openings: readonly string[]): boolean {
    const { engine, lists, marks, blobs } = this.tables;
    const known = marks.getBinary(OWNER_STATE);
    const [owner, opening] = known === undefined ? [identity] : [decode(known)].flat();
    const isOwn = owner === identity && (opening === undefined || openings.includes(opening as string));
    try {
      engine.transact(() => {
        if (!isOwn) for (const table of [lists, marks, blobs]) table.clearSync();
        marks.put(OWNER_STATE, encode([identity, openings[0]]));
      });
    } catch (error) {
      // A full disk: the next start does it.
      if (!isOwn) throw error;
    }
    return isOwn;
  }

  async putLists(lists: readonly UserList[], removed: readonly number[] = []): Promise<void> {
    if (lists.length === 0 && removed.length === 0) return;
    const { engine, lists: table } = this.tables;
    await engine.enqueue(() => {
      for (const list of lists) table.put(rowKey(list.userRow), packList(list));
      for (const userRow of removed) table.remove(rowKey(userRow));
    });
  }

  async getList(userRow: number): Promise<UserList | undefined> {
    const list = this.readList(userRow);
    return list && { ...list, itemRows: list.itemRows.slice(), scores: list.scores.slice() };
  }

  async putState(name: string, value: unknown): Promise<void> {
    const { engine, marks } = this.tables;
    await engine.enqueue(() => marks.put(Buffer.from(name), encode(value)));
  }

  async getState(name: string): Promise<unknown> {
    const bytes = this.tables.marks.getBinary(Buffer.from(name));
    return bytes && decode(bytes);
  }

  async putBlob(name: string, bytes: Uint8Array): Promise<void> {
    const { engine, blobs } = this.tables;
    await engine.enqueue(() => blobs.put(Buffer.from(name), bytes));
  }

  async getBlob(name: string): Promise<Uint8Array | undefined> {
    const bytes = readBytes(this.tables.blobs, Buffer.from(name));
    // What LMDB hands out may lie in its map, where the next commit writes. The length of a reused buffer is not its view's own.
    return bytes && new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length).slice();
  }

  async getStats(): Promise<CacheStats> {
    const { lists, engine } = this.tables;
    const sizes = { lists: countEntries(lists), listBytes: tableBytes(lists), bytes: engine.bytes };
    return { ...sizes, isAvailable: true, failures: 0 };
  }

  async getTables(): Promise<readonly TableStats[]> {
    const { lists, marks, blobs } = this.tables;
    return describeTables({ lists, marks, models: blobs });
  }

  async ping(): Promise<void> {
    this.tables.engine.ping();
  }

  async close(): Promise<void> {
    await this.tables.engine.close();
    this.lock?.release();
  }

  private readList(userRow: number): UserList | undefined {
    const bytes = readBytes(this.tables.lists, writeRow(this.rowBytes, 0, userRow));
    return bytes && unpackList(userRow, bytes);
  }
}
