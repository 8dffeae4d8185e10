import { OperatorError } from '../../domain/operator-error.ts';
import type { CacheStore } from '../cache-store.ts';
import type { DataReader, FeedbackColumns, FeedbackPosition } from '../data-store.ts';
import type { PostgresDsn } from '../dsn.ts';
import { LmdbCacheStore } from '../lmdb/cache/lmdb-cache-store.ts';
import { LmdbDataReader } from '../lmdb/reads/lmdb-data-reader.ts';
import { openDataTables } from '../lmdb/tables/data-tables.ts';
import type { ModelPlace, ModelStore } from '../model-store.ts';

/*
 * What threads beside the main one open. It lies apart from `open-store.ts`, so that a thread that starts reads neither
 * what writes data nor what checks bodies, which is half of the program.
 */

/** The reads of a data store, for a thread beside the one that has called `openStore`. */
export function openDataReader(dataPath: string): LmdbDataReader {
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

/** A cache store of a further thread of the process that has called `openStore`. */
export function openCacheStore(cachePath: string): CacheStore {
  return new LmdbCacheStore(cachePath);
}

/** The reader of a thread. */
export type ThreadReader = ReturnType<typeof openDataReader>;

/** See `readAllFeedback`. */
export async function withAllFeedback(
  dsn: PostgresDsn,
  reader: ThreadReader,
  visit: (block: FeedbackColumns) => void,
): Promise<FeedbackPosition> {
  const { readAllFeedback } = await import('../postgres/count-feedback.ts');
  return readAllFeedback(dsn, reader, visit);
}

/** See `readFeedbackSince`. */
export async function feedbackSince(
  ...asked: Parameters<typeof import('../postgres/count-feedback.ts').readFeedbackSince>
): Promise<FeedbackPosition | undefined> {
  const { readFeedbackSince } = await import('../postgres/count-feedback.ts');
  return readFeedbackSince(...asked);
}

/** Lets `work` put and get parts of models from any thread. */
export async function withModels<T>(
  place: Extract<ModelPlace, { kind: 'postgres' }>,
  work: (models: ModelStore) => Promise<T>,
): Promise<T> {
  const { ModelParts } = await import('../postgres/model-parts.ts');
  const models = new ModelParts(place.dsn, place.epoch, () => Atomics.load(place.givenUp, 0) === 1);
  try {
    return await work(models);
  } finally {
    await models.close();
  }
}
