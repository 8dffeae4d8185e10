import { join, resolve } from 'node:path';
import type { Clock } from '../../domain/clock.ts';
import { OperatorError } from '../../domain/operator-error.ts';
import { readPositiveKinds } from '../../domain/positive-feedback-types.ts';
import { limitRepeats } from '../../platform/log/limit-log-repeats.ts';
import type { CacheStore } from '../cache-store.ts';
import type { DataStore } from '../data-store.ts';
import type { PostgresDsn } from '../dsn.ts';
import { LmdbCacheStore } from '../lmdb/cache/lmdb-cache-store.ts';
import { LmdbDataStore, type TroubleLog } from '../lmdb/lmdb-data-store.ts';
import { LmdbShownLog } from '../lmdb/lmdb-shown-log.ts';
import { refuseCutOffRestore, removeUnfinished } from '../lmdb/maintenance/unfinished-copies.ts';
import type { SyncMode, WriteRules } from '../lmdb/tables/writer-messages.ts';
import { type FolderLock, type LockLog, lockFolder, lockFolders } from '../lock/folder-lock.ts';
import type { ObjectPlace } from '../model-store.ts';
import type { OnCopied } from '../postgres/copy-all.ts';
import { PartialDataStore } from '../postgres/partial-data-store.ts';
import { PostgresShownLog } from '../postgres/postgres-shown-log.ts';
import { prepareReplica } from '../postgres/replica-start.ts';
import { ReplicatedDataStore } from '../postgres/replicated-data-store.ts';
import { SharedCache } from '../shared/shared-cache.ts';
import type { SharedPlace } from '../shared/shared-lists.ts';
import type { ShownBounds, ShownLog } from '../shown-log.ts';
import { UnsavedStateCache } from '../unsaved-state-cache.ts';
import { openSharedLists } from './open-shared-lists.ts';

export { BulkImport, type FinishOptions } from '../lmdb/bulk/bulk-import.ts';
export { checkStore, type Report } from '../lmdb/check/check-store.ts';
export { findDamage, guardFiles, refuseUnsound } from '../lmdb/check/damaged-files.ts';
export { inspectFile } from '../lmdb/check/file-head.ts';
export {
  type Backup,
  type BackupStream,
  backupStore,
  receiveBackup,
  streamStore,
} from '../lmdb/maintenance/backup.ts';
export { compactStore } from '../lmdb/maintenance/offline-compaction.ts';
export { type RestoreOptions, restoreStore } from '../lmdb/maintenance/restore.ts';
export type { SyncMode } from '../lmdb/tables/writer-messages.ts';
export { FolderLockedError, type LockLog } from '../lock/folder-lock.ts';
export { openGorseTables } from '../postgres/gorse-tables.ts';
export { NodeSession } from '../postgres/node-session.ts';
export { PostgresQuestions } from '../postgres/postgres-questions.ts';

export interface StorePaths {
  /** Folder of the data store, or of this machine's replica of it. */
  readonly dataPath: string;
  readonly cachePath: string;
  /** Where nodes share their lists, once the stores are open; undefined where each keeps its own. */
  readonly sharedLists?: SharedPlace | undefined;
}

/** The right to write both folders; the stores let go of it when they are closed. */
export interface StoreLocks {
  readonly data: FolderLock;
  readonly cache: FolderLock;
}

export interface StoreOptions extends StorePaths, WriteRules {
  /** The PostgreSQL that `dataPath` is a replica of, which `prepareReplica` has made ready; absent for an embedded store. */
  readonly sharedDatabase?: PostgresDsn | undefined;
  /** True where the folder is to hold items alone, and users once they are asked for. */
  readonly isPartial?: boolean | undefined;
  /** Where nodes share their lists; absent where they are kept in `cachePath`. */
  readonly sharing?: Omit<SharedPlace, 'tag'> | undefined;
  /** Largest lag of reads of a replica behind other nodes' writes, milliseconds; 0, the default, for not at all. */
  readonly behindMsMax?: number;
  readonly sync: SyncMode;
  /** The time of arrival of feedback without a timestamp. */
  readonly clock?: Clock;
  /** Told of failures that no answer shows in full. */
  readonly onTrouble?: TroubleLog;
  /** Bytes of writes that may wait; more is refused as OVERLOADED. */
  readonly waitingBytesMax?: number;
  /** Bytes of address space that each store begins with; chosen by the file's size when absent. */
  readonly mapBytes?: number | undefined;
  /** Pause before a writer thread that has died is started again, milliseconds; it doubles with each try. */
  readonly writerRestartMs?: number;
}

export interface Stores {
  /** Identity of the data, the same on all nodes that share them. */
  readonly identity: string;
  readonly data: DataStore;
  readonly cache: CacheStore;
  readonly sharedLists: SharedPlace | undefined;
}

/**
 * Takes both folders for this process, and makes them where there are none.
 * @param waitMs how long to wait for another process that has them, at most
 * @param signal ends the waiting when it is aborted, with its reason
 * @throws OperatorError when it still has them, or when both are one folder
 */
export async function lockStores(
  { dataPath, cachePath }: StorePaths,
  waitMs: number,
  log?: LockLog,
  signal?: AbortSignal,
): Promise<StoreLocks> {
  checkApart(dataPath, cachePath);
  const [data, cache] = await lockFolders([dataPath, cachePath], waitMs, log, signal);
  return { data: data!, cache: cache! };
}

function lockNow({ dataPath, cachePath }: StorePaths): StoreLocks {
  checkApart(dataPath, cachePath);
  const data = lockFolder(dataPath);
  try {
    return { data, cache: lockFolder(cachePath) };
  } catch (error) {
    data.release();
    throw error;
  }
}

function checkApart(dataPath: string, cachePath: string): void {
  if (resolve(dataPath) !== resolve(cachePath)) return;
  throw new OperatorError(`The data store and the cache store cannot both be in ${dataPath}.`);
}

/**
 * Opens both stores.
 * @param locks of both folders, the stores' own from now on, whether they open or not; taken here when absent
 * @throws OperatorError when a newer version wrote the data folder
 * @throws FolderLockedError when another process has a folder
 */
export function openStore(options: StoreOptions, locks: StoreLocks = lockNow(options)): Stores {
  const {
    dataPath,
    cachePath,
    sync,
    clock,
    onTrouble,
    waitingBytesMax,
    writerRestartMs,
    mapBytes,
    sharedDatabase,
    sharing,
    behindMsMax = 0,
    isPartial = false,
    ...rules
  } = options;
  const more = { clock, onTrouble, waitingBytesMax, writerRestartMs, mapBytes };
  let cache: LmdbCacheStore | undefined;
  try {
    if (sharedDatabase === undefined) refuseCutOffRestore(dataPath);
    removeUnfinished(dataPath);
    cache = new LmdbCacheStore(cachePath, locks.cache, mapBytes);
    const { data: lock } = locks;
    const ofData = { dataPath, sync, rules, lock, ...more };
    const data =
      sharedDatabase === undefined
        ? new LmdbDataStore(ofData)
        : new (isPartial ? PartialDataStore : ReplicatedDataStore)({
            ...ofData,
            sharedDatabase,
            behindMsMax,
          });
    if (!cache.claim(data.identity, data.openings)) {
      onTrouble?.(
        'The cache was that of another data store, or of another state of this one; it is made anew',
        undefined,
      );
    }
    const report = limitRepeats(onTrouble ?? (() => {}));
    const identity = data.historyIdentity;
    const sharedLists = sharing && { ...sharing, tag: tagOf(identity) };
    const all = sharedLists
      ? new SharedCache(openSharedLists(sharedLists, { onTrouble: report }), cache, report)
      : new UnsavedStateCache(cache, report);
    return { identity, data, cache: all, sharedLists };
  } catch (error) {
    locks.data.release();
    if (cache === undefined) locks.cache.release();
    else void cache.close();
    throw error;
  }
}

/**
 * As `openStore`, and makes this node's replica ready first where the data is in PostgreSQL.
 * @param onCopied told now and then how many records are copied, when the replica has to be made
 * @throws OperatorError when PostgreSQL cannot be reached or used, too
 */
export async function openReadyStore(
  options: StoreOptions,
  locks: StoreLocks = lockNow(options),
  onCopied: OnCopied = () => {},
): Promise<Stores> {
  const { sharedDatabase, dataPath, isPartial, positiveFeedbackTypes } = options;
  const kinds = isPartial ? readPositiveKinds(positiveFeedbackTypes) : undefined;
  try {
    if (sharedDatabase !== undefined) await prepareReplica(sharedDatabase, dataPath, onCopied, kinds);
  } catch (error) {
    locks.data.release();
    locks.cache.release();
    throw error;
  }
  const stores = openStore(options, locks);
  // So that the first requests find a connection; where there is none they do without.
  if (stores.sharedLists !== undefined) await stores.cache.ping().catch(() => {});
  return stores;
}

/**
 * Opens the log of what was shown: beside the data, or in the database that nodes share.
 * @param identity of the data
 */
export async function openShownLog(
  { dataPath, sharedDatabase, sync }: StoreOptions,
  bounds: ShownBounds,
  identity: string,
): Promise<ShownLog> {
  if (sharedDatabase !== undefined) return PostgresShownLog.open(sharedDatabase, bounds);
  const path = join(dataPath, 'shown');
  return new LmdbShownLog(path, bounds, sync === 'disk', identity);
}

/** Tells a store from others in the same Redis or bucket: 48 bits of its identity. */
export function tagOf(identity: string): string {
  return Buffer.from(identity, 'hex').subarray(0, 6).toString('base64url');
}

/** What is not deleted now goes with the next generation. */
export const keeping =
  (place: ObjectPlace, onTrouble?: TroubleLog) => async (kept: () => Promise<readonly string[]>) => {
    const objects = new (await import('../s3/model-objects.ts')).ModelObjects(place);
    await objects
      .keep(kept)
      .catch((error) => onTrouble?.('parts of old generations could not be deleted', error));
    objects.close();
  };
