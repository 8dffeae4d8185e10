import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openCacheStore } from '../../src/store/open/thread-stores.ts';
import { record, START_MS, startScene } from './scene.ts';

const USERS = 300;
const ITEMS = 100;

/** What the lists take after each user was asked for, in some categories too, when items are in so many categories. */
async function listsWith(categories: number): Promise<{ lists: number; bytesPerUser: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'furze-memory-'));
  const cachePath = join(folder, 'cache');
  const scene = await startScene(
    { cache_size: 50 },
    { database: { data_store: `lmdb://${folder}/data`, cache_store: `lmdb://${cachePath}` } },
  );
  try {
    const perItem = categories / ITEMS;
    const items = Array.from({ length: ITEMS }, (_, item) => ({
      ItemId: `i${item}`,
      Timestamp: new Date(START_MS - item).toISOString(),
      Categories: Array.from(
        { length: Math.ceil(perItem) },
        (_, at) => `c${Math.floor(item * perItem) + at}`,
      ),
    }));
    expect(new Set(items.flatMap(({ Categories }) => Categories)).size).toBe(categories);
    await scene.send('POST', '/api/items', items);
    const likes = Array.from({ length: USERS * 5 }, (_, at) =>
      record('like', `u${at % USERS}`, `i${(at * 7) % ITEMS}`),
    );
    await scene.send('POST', '/api/feedback', likes);
    await scene.server.service.fit();
    for (let user = 0; user < USERS; user += 10) {
      await scene.ids(`/api/recommend/u${user}?n=10`);
      for (const category of [0, categories - 1])
        await scene.ids(`/api/recommend/u${user}/c${category}?n=10`);
    }
    await scene.server.service.stop();
    const cache = openCacheStore(cachePath);
    const { lists, listBytes } = await cache.getStats();
    await cache.close();
    return { lists, bytesPerUser: listBytes / lists };
  } finally {
    await scene.server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

it('the cache holds one list a user, as large with 10 as with 1,000 categories', async () => {
  const few = await listsWith(10);
  const many = await listsWith(1000);
  expect(few.lists).toBe(USERS);
  expect(many).toEqual(few);
  // 50 entries of a score and, of a hundred items, one byte of a row; and what the store adds.
  expect(few.bytesPerUser).toBeGreaterThan(50 * 5);
  expect(few.bytesPerUser).toBeLessThan(2 * 50 * 5);
});
