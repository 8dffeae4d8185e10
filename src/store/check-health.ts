import type { HealthReport } from '../domain/api-schemas.ts';
import { messageOf } from '../domain/furze-error.ts';
import type { CacheStore } from './cache-store.ts';
import type { DataStore } from './data-store.ts';
import type { ShownLog } from './shown-log.ts';

/** Asks each store whether it answers. A failure of the log of what was shown is reported as one of the data store. */
export async function checkHealth(
  data: DataStore,
  cache: CacheStore,
  shownLog: ShownLog | undefined,
): Promise<HealthReport> {
  const stores = [data, cache, ...(shownLog ? [shownLog] : [])];
  const [storeError = '', cacheError = '', shownError = ''] = await Promise.all(stores.map(failureOf));
  const dataError = storeError || shownError;
  return {
    CacheStoreConnected: cacheError === '',
    CacheStoreError: cacheError,
    DataStoreConnected: dataError === '',
    DataStoreError: dataError,
    // Answers do without a cache that nodes share: a node that cannot reach it is as good as the others.
    Ready: dataError === '' && (cacheError === '' || cache.local === undefined),
  };
}

async function failureOf(store: { ping(): Promise<void> }): Promise<string> {
  try {
    await store.ping();
    return '';
  } catch (error) {
    return messageOf(error);
  }
}
