import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../../domain/operator-error.ts';
import type { CacheStore } from '../cache-store.ts';
import type { DataReader } from '../data-store.ts';
import { LmdbCacheStore } from '../lmdb/cache/lmdb-cache-store.ts';
import { LmdbDataReader } from '../lmdb/reads/lmdb-data-reader.ts';
import { openDataTables } from '../lmdb/tables/data-tables.ts';
import { DATA_FILE } from '../lmdb/tables/engine.ts';
import { KEPT_NAMES, type ModelStore, type SharedModelPlace } from '../model-store.ts';

/*
 * What threads beside the main one open. It lies apart from `open-store.ts`, so that a thread that starts reads neither
 * what writes data nor what checks bodies, which is half of the program.
 */

/**
 * The reads of a data store, for a thread beside the one that has called `openStore`.
 * @throws OperatorError where the folder was moved away since: an empty store would take its place
 */
export function openDataReader(dataPath: string): LmdbDataReader {
  refuseGone(dataPath);
  return new LmdbDataReader(openDataTables(dataPath));
}

/**
 * Opens the data store in a folder to read it, for a process that has not opened it; a service may run on it.
 * @throws OperatorError when there is none, it is damaged, a newer version wrote it, or it is a server's, of items alone
 */
export async function openReader(dataPath: string): Promise<DataReader> {
  const { refuseUnsound } = await import('../lmdb/check/damaged-files.ts');
  await refuseUnsound(dataPath);
  const reader = openDataReader(dataPath);
  if (!reader.local.isPartial) return reader;
  await reader.close();
  throw new OperatorError(
    `The folder ${dataPath} is a server's copy, which lacks what users do: ask a worker, or a node of the role "all".`,
  );
}

/** A cache store of a further thread of the process that has called `openStore`. @throws OperatorError likewise */
export function openCacheStore(cachePath: string): CacheStore {
  refuseGone(cachePath);
  return new LmdbCacheStore(cachePath);
}

function refuseGone(path: string): void {
  if (existsSync(join(path, DATA_FILE))) return;
  throw new OperatorError(
    `The store is no longer in ${path}, where it was opened; put it back, or stop and start again.`,
  );
}

/** The reader of a thread. */
export type ThreadReader = ReturnType<typeof openDataReader>;

/** What reads feedback out of the database, which few threads do. */
export const feedbackReads = () => import('../postgres/count-feedback.ts');

/** Lets `work` put and get parts of models from any thread. `onWait` is told why, when what is put begins to wait. */
export async function withModels<T>(
  { dsn, epoch, objects: place, givenUp }: SharedModelPlace,
  work: (models: ModelStore) => Promise<T>,
  onWait: (error: unknown) => void,
): Promise<T> {
  const { persist } = await import('../postgres/connection.ts');
  const { ModelParts } = await import('../postgres/model-parts.ts');
  const rows = new ModelParts(dsn, epoch);
  const objects = place && new (await import('../s3/model-objects.ts')).ModelObjects(place);
  const isGivenUp = () => Atomics.load(givenUp, 0) === 1;
  // Names that are kept are written again and again, by the leader alone.
  const storeOf = (name: string) => (name.startsWith(KEPT_NAMES) ? rows : (objects ?? rows));
  try {
    return await work({
      putBlob: (name, bytes) => persist(() => storeOf(name).putBlob(name, bytes), isGivenUp, onWait),
      // What was published before there was a bucket is in the database.
      getBlob: async (name) => (await storeOf(name).getBlob(name)) ?? (objects && rows.getBlob(name)),
    });
  } finally {
    objects?.close();
    await rows.close();
  }
}
