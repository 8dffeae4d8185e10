import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { openCacheStore } from '../../src/store/open-store.ts';
import { close, openIn, tempFolder } from './helpers.ts';

function list(userRow: number, length: number) {
  return {
    userRow,
    generation: 3,
    madeMs: 1_700_000_000_123,
    knowsMs: 1_700_000_000_456,
    itemRows: Uint32Array.from({ length }, (_, i) => i * 7),
    scores: Float32Array.from({ length }, (_, i) => 1 / (i + 1)),
  };
}

test('lists are packed, replaced as a whole and deleted, and survive a restart', async () => {
  const folder = tempFolder();
  const stores = openIn(folder);
  for (const length of [0, 1, 100, 501, 10_000]) {
    await stores.cache.putLists([list(1, length), list(2, 3)]);
    expect(await stores.cache.getList(1)).toEqual(list(1, length));
    expect(stores.cache.local?.readList(1)).toEqual(list(1, length));
  }
  await stores.cache.deleteLists([2, 77]);
  expect(await stores.cache.getList(2)).toBeUndefined();
  expect((await stores.cache.getStats()).lists).toBe(1);
  await close(stores);
  expect(await openIn(folder).cache.getList(1)).toEqual(list(1, 10_000));
});

test('marks and blobs come back as they went in', async () => {
  const { cache } = openIn(tempFolder());
  await cache.putMark('generation', { number: 7, at: 'now', list: [1, 2] });
  expect(await cache.getMark('generation')).toEqual({ number: 7, at: 'now', list: [1, 2] });
  expect(await cache.getMark('none')).toBeUndefined();
  const bytes = Uint8Array.from({ length: 3_000_001 }, (_, i) => i * 31);
  await cache.putBlob('model', bytes);
  expect(Buffer.compare((await cache.getBlob('model'))!, bytes)).toBe(0);
  await cache.putBlob('model', Uint8Array.of(1));
  expect(await cache.getBlob('model')).toEqual(Uint8Array.of(1));
  expect(await cache.getBlob('none')).toBeUndefined();
  await cache.ping();
});

test('several threads write lists to one folder', async () => {
  const path = join(tempFolder(), 'cache');
  const cache = openCacheStore(path);
  const { threadEntry } = await import('../../src/domain/thread-entry.ts');
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
