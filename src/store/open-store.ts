import type { Clock } from '../domain/clock.ts';
import { FurzeError } from '../domain/errors.ts';
import type { Limits } from '../domain/limits.ts';
import type { CacheStore } from './cache-store.ts';
import type { DataReader, DataStore } from './data-store.ts';
import { LmdbDataReader } from './lmdb/data-reader.ts';
import { openDataTables } from './lmdb/data-tables.ts';
import { LmdbCacheStore } from './lmdb/lmdb-cache-store.ts';
import { LmdbDataStore, type TroubleLog } from './lmdb/lmdb-data-store.ts';
import type { SyncMode } from './lmdb/messages.ts';

export { compactStore } from './lmdb/compact.ts';
export type { SyncMode } from './lmdb/messages.ts';

export interface StoreOptions {
  /** Folder of the data store. */
  readonly dataPath: string;
  /** Folder of the cache store. */
  readonly cachePath: string;
  readonly sync: SyncMode;
  readonly limits: Limits;
  readonly autoInsertUser: boolean;
  readonly autoInsertItem: boolean;
  readonly positiveFeedbackTypes: readonly string[];
  readonly readFeedbackTypes: readonly string[];
  /** The time of arrival of feedback without a timestamp. */
  readonly clock?: Clock;
  /** Told of failures that no answer shows in full. */
  readonly onTrouble?: TroubleLog;
  /** Bytes of writes that may wait; more is refused as OVERLOADED. */
  readonly waitingBytesMax?: number;
}

export interface Stores {
  readonly data: DataStore;
  readonly cache: CacheStore;
}

/**
 * Opens both stores, and makes their folders where there are none. One process at a time may write a data folder.
 * @throws FurzeError STORE_UNAVAILABLE when a newer version wrote the data folder
 */
export function openStore(options: StoreOptions): Stores {
  const { dataPath, cachePath, sync, clock, onTrouble, waitingBytesMax, ...rules } = options;
  const data = new LmdbDataStore({ dataPath, sync, rules, clock, onTrouble, waitingBytesMax });
  return { data, cache: openCacheStore(cachePath) };
}

/** The reads of a data store, for a thread beside the one that has called `openStore`. */
export function openDataReader(dataPath: string): DataReader {
  return new LmdbDataReader(openDataTables(dataPath));
}

/** A cache store of this thread. */
export function openCacheStore(cachePath: string): CacheStore {
  return new LmdbCacheStore(cachePath);
}

const LMDB_SCHEME = 'lmdb://';

/**
 * The folder that a DSN names: `lmdb://PATH`, a relative path being relative to the working directory.
 * @throws FurzeError INVALID_PARAMETER for another scheme or an empty path
 */
export function parseDsn(dsn: string): { readonly engine: 'lmdb'; readonly path: string } {
  if (!dsn.startsWith(LMDB_SCHEME)) {
    const scheme = /^[a-z0-9+.-]+(?=:\/\/)/i.exec(dsn)?.[0];
    const found = scheme === undefined ? 'has no scheme' : `has the scheme "${scheme}"`;
    throw new FurzeError('INVALID_PARAMETER', `A store is named lmdb://PATH; this name ${found}.`);
  }
  const path = dsn.slice(LMDB_SCHEME.length);
  if (path === '')
    throw new FurzeError('INVALID_PARAMETER', 'The store lmdb:// has no path behind its scheme.');
  return { engine: 'lmdb', path };
}
