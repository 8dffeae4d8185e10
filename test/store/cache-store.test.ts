import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import type { CacheStore } from '../../src/store/cache-store.ts';
import { LmdbCacheStore } from '../../src/store/lmdb/cache/lmdb-cache-store.ts';
import type { Stores } from '../../src/store/open/open-store.ts';
import { cacheStoreContract, list } from './contract/cache-store.ts';
import { close, openIn, tempFolder } from './helpers.ts';

const opened = new Map<CacheStore, { folder: string; stores: Stores }>();
const openAt = (folder: string) => {
  const stores = openIn(folder);
  opened.set(stores.cache, { folder, stores });
  return stores.cache;
};
cacheStoreContract('LMDB', {
  open: async () => openAt(tempFolder()),
  async reopen(cache) {
    const { folder, stores } = opened.get(cache)!;
    await close(stores);
    return openAt(folder);
  },
});

test('several threads write lists to one folder', async () => {
  const path = join(tempFolder(), 'cache');
  const cache = new LmdbCacheStore(path);
  const { threadEntry } = await import('../../src/platform/program/thread-entry.ts');
  const { url, execArgv } = threadEntry(import.meta.url, './cache-thread');
  await Promise.all(
    [0, 1].map(
      (part) =>
        new Promise<void>((resolve, reject) => {
          const worker = new Worker(url, { workerData: { path, part }, execArgv });
          worker.once('error', reject);
          worker.once('exit', () => resolve());
        }),
    ),
  );
  await cache.putLists([list(5000, 1)]);
  expect((await cache.getStats()).lists).toBe(401);
  expect((await cache.getList(399))?.itemRows).toEqual(Uint32Array.of(399));
  await cache.close();
});
