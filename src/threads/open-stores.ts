import { parentPort } from 'node:worker_threads';
import { messageOf } from '../domain/furze-error.ts';
import { getOrPut } from '../domain/get-or-put.ts';
import type { CacheStore } from '../store/cache-store.ts';
import type { LocalReads } from '../store/data-store.ts';
import type { ModelPlace, ModelStore } from '../store/model-store.ts';
import {
  openCacheStore,
  openDataReader,
  type ThreadReader,
  withModels,
} from '../store/open/thread-stores.ts';
import type { CircuitBreaker } from '../store/shared/circuit-breaker.ts';
import type { SharedPlace } from '../store/shared/shared-lists.ts';

const readers = new Map<string, ThreadReader>();
const caches = new Map<string, CacheStore>();
const shared = new Map<string, CircuitBreaker>();

/**
 * Runs `work` on this thread's reader of the data store and gives its snapshot back after, because a worker that
 * sleeps between jobs would otherwise keep the store from using freed pages again.
 */
export function withReads<T>(dataPath: string, work: (reads: LocalReads) => T): T {
  const reads = readerAt(dataPath).local;
  reads.refresh();
  try {
    return work(reads);
  } finally {
    reads.refresh();
  }
}

/** This thread's reader of the data store, for work that takes several turns. */
export function readerAt(dataPath: string): ThreadReader {
  return getOrPut(readers, dataPath, () => openDataReader(dataPath));
}

export function cacheAt(cachePath: string): CacheStore {
  return getOrPut(caches, cachePath, () => openCacheStore(cachePath));
}

/** Lets `work` put and get parts of models where they are kept. */
export async function withModelsAt<T>(
  place: ModelPlace,
  work: (models: ModelStore) => Promise<T>,
): Promise<T> {
  if (place.kind === 'postgres')
    return withModels(place, work, (error) => parentPort?.postMessage(messageOf(error)));
  const cache = cacheAt(place.cachePath);
  try {
    return await work(cache);
  } finally {
    // A worker that sleeps on a snapshot would keep the store from using freed pages again.
    cache.local?.refresh();
  }
}

/** This thread's connection to lists that nodes share. */
export async function sharedListsAt(place: SharedPlace): Promise<CircuitBreaker> {
  const { openSharedLists } = await import('../store/open/open-shared-lists.ts');
  return getOrPut(shared, JSON.stringify(place), () => openSharedLists(place));
}
