import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GenerationManifest } from '../../src/background/generation/generation-storage.ts';
import type { Explanation } from '../../src/domain/api-schemas.ts';
import { createRandom } from '../../src/domain/random.ts';
import type { CacheStore, UserList } from '../../src/store/cache-store.ts';
import { openCacheStore } from '../../src/store/open/thread-stores.ts';
import {
  type RecommendOverrides,
  record,
  type Scene,
  SECOND_MS,
  START_MS,
  startScene,
} from '../recommend/scene.ts';

/** User u and item i are of the tastes u % 3 and i % 3, and carry it as a label. Enough of them to learn to rank. */
const USERS = 240;
const ITEMS = 60;
const TASTES = 3;
const LIKES = 10;

/** Some users that stand for all. */
const SOME = Array.from({ length: 12 }, (_, at) => at * 19);

const EVERYTHING: RecommendOverrides = {
  cache_size: 30,
  // What is recent does not change while the tests run.
  popular: { popular_window: 2000 * 3_600_000 },
  offline: {
    enable_latest_recommend: true,
    enable_popular_recommend: true,
    enable_user_based_recommend: true,
    enable_item_based_recommend: true,
  },
  online: { fallback_recommend: [] },
};

function tasteOf(id: string): number {
  return Number(id.slice(1)) % TASTES;
}

async function fillTastes({ send }: Scene): Promise<void> {
  const random = createRandom(5);
  const label = (at: number) => `taste${at % TASTES}`;
  await send(
    'POST',
    '/api/items',
    Array.from({ length: ITEMS }, (_, item) => ({
      ItemId: `i${item}`,
      Timestamp: new Date(START_MS - (ITEMS - item) * 3_600_000).toISOString(),
      Labels: [label(item), `color${item % 7}`],
    })),
  );
  await send(
    'POST',
    '/api/users',
    Array.from({ length: USERS }, (_, user) => ({ UserId: `u${user}`, Labels: [label(user)] })),
  );
  const records = [];
  for (let at = 0; at < USERS * LIKES; at++) {
    const user = at % USERS;
    const time = new Date(START_MS - (USERS * LIKES - at) * 60_000).toISOString();
    const own = random.float() < 0.9;
    // The lower an item's number, the more popular it is.
    const item =
      Math.floor(random.float() ** 2 * (ITEMS / TASTES)) * TASTES +
      (own ? user % TASTES : random.below(TASTES));
    records.push(record('like', `u${user}`, `i${item}`, time));
    if (at % 5 === 0) records.push(record('read', `u${user}`, `i${(item + 1) % ITEMS}`, time));
  }
  await send('POST', '/api/feedback', records);
}

/** A scene on stores that can be looked into while the service is stopped. */
async function startTastes(threads: number) {
  const folder = await mkdtemp(join(tmpdir(), 'furze-learning-'));
  const cachePath = join(folder, 'cache');
  const scene = await startScene(EVERYTHING, {
    database: { data_store: `lmdb://${folder}/data`, cache_store: `lmdb://${cachePath}` },
    worker: { threads },
  });
  await fillTastes(scene);
  scene.time.nowMs += SECOND_MS;
  return {
    scene,
    /** Stops the service and looks into its cache. */
    async inCache<T>(look: (cache: CacheStore) => Promise<T>): Promise<T> {
      await scene.server.service.stop();
      const cache = openCacheStore(cachePath);
      try {
        return await look(cache);
      } finally {
        await cache.close();
      }
    },
    async stop() {
      await scene.server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
type Tastes = Awaited<ReturnType<typeof startTastes>>;

function allLists(cache: CacheStore): Promise<(UserList | undefined)[]> {
  return Promise.all(Array.from({ length: USERS }, (_, row) => cache.getList(row)));
}

/** The lists of some users, made anew of what the service holds in memory, as each question that names a discovery is answered. */
async function freshLists({ ids }: Scene): Promise<string[][]> {
  const lists: string[][] = [];
  for (const user of SOME) lists.push(await ids(`/api/recommend/u${user}?n=30&discovery=auto`));
  return lists;
}

/** The share of the first ten entries that are of the user's own taste. */
function ownShare(lists: readonly string[][]): number {
  const hits = lists.map(
    (list, at) => list.slice(0, 10).filter((id) => tasteOf(id) === SOME[at]! % TASTES).length,
  );
  return hits.reduce((sum, count) => sum + count, 0) / (10 * lists.length);
}

describe('a fit of all that a generation has', () => {
  let tastes: Tastes;
  let scene: Scene;
  const stages = new Map<string, { done: number; total: number }>();
  beforeAll(async () => {
    tastes = await startTastes(1);
    scene = tastes.scene;
    await scene.server.service.fit((stage, done, total) => {
      const last = stages.get(stage);
      // A stage that comes again has come to its end before.
      if (last !== undefined && done < last.done) expect(last.done).toBe(last.total);
      stages.set(stage, { done, total });
    });
  });
  afterAll(() => tastes.stop());

  it('tells its stages in order, each to its end', () => {
    const names = [...stages.keys()];
    for (const name of [
      'Loading feedback',
      'Training ALS',
      'Training click-through model',
      'Computing item similarities',
      'Writing recommendations',
    ])
      expect(names).toContain(name);
    expect(names[0]).toBe('Loading feedback');
    expect(names.at(-1)).toBe('Writing recommendations');
    for (const [stage, { done, total }] of stages) expect([stage, done]).toEqual([stage, total]);
    expect(stages.get('Writing recommendations')!.total).toBe(USERS);
  });

  it('learns how to rank, and says so in a table', () => {
    const line = scene.server.lines.map((text) => JSON.parse(text)).find(({ table }) => table !== undefined);
    expect(line?.msg).toMatch(/^lists are ranked by .*, chosen on held-out feedback$/);
    expect(line.users).toBeGreaterThanOrEqual(20);
    const chosen = line.msg.slice('lists are ranked by '.length, line.msg.indexOf(', chosen on'));
    const ndcg = (text: string) => Number(/NDCG@10 ([\d.]+)/.exec(text)![1]);
    const row = line.table.find((text: string) => text.startsWith(chosen));
    for (const name of ['collaborative  ', 'popular_ever  ', 'popular_7d ']) {
      const alone = line.table.find((text: string) => text.startsWith(name));
      expect(ndcg(row)).toBeGreaterThanOrEqual(ndcg(alone));
    }
  });

  it('makes the same lists, byte for byte, in one thread and in two', async () => {
    const made = await tastes.inCache(allLists);
    await scene.server.restart();
    expect(made.every((list) => list !== undefined)).toBe(true);
    const other = await startTastes(2);
    try {
      await other.scene.server.service.fit();
      expect(await other.inCache(allLists)).toEqual(made);
    } finally {
      await other.stop();
    }
  });

  it('recommends by taste', async () => {
    expect(ownShare(await freshLists(scene))).toBeGreaterThan(0.7);
  });

  it('makes lists by hand as the pass did', async () => {
    const passed: string[][] = [];
    for (const user of SOME) passed.push(await scene.ids(`/api/recommend/u${user}?n=30`));
    expect(await freshLists(scene)).toEqual(passed);
  });

  it('serves the same after a restart, out of what was saved', async () => {
    const before = await freshLists(scene);
    const neighbors = await scene.send('GET', '/api/item/i7/neighbors?n=20');
    await scene.server.restart();
    expect(scene.server.service.hasModel).toBe(true);
    expect(await freshLists(scene)).toEqual(before);
    expect(await scene.send('GET', '/api/item/i7/neighbors?n=20')).toEqual(neighbors);
  });

  it('recommends a new item with the labels of what a user likes, before the next fit', async () => {
    await scene.send('POST', '/api/item', {
      ItemId: 'new1',
      Timestamp: new Date(START_MS).toISOString(),
      Labels: ['taste1', 'color1'],
    });
    await expect
      .poll(async () => {
        scene.time.nowMs += 11 * SECOND_MS;
        return (await scene.ids('/api/recommend/u1?n=20')).includes('new1');
      })
      .toBe(true);
    // It is less likely for who has another taste.
    const place = async (user: number) => {
      const at = (await scene.ids(`/api/recommend/u${user}?n=30`)).indexOf('new1');
      return at < 0 ? Number.POSITIVE_INFINITY : at;
    };
    const own = await Promise.all([1, 4, 31, 61].map(place));
    const others = await Promise.all([2, 5, 32, 62].map(place));
    expect(Math.max(...own)).toBeLessThan(10);
    expect(Math.min(...others)).toBeGreaterThan(Math.max(...own));
    await scene.send('DELETE', '/api/item/new1');
  });

  it('gives each entry of a list its probability, none above the one before', async () => {
    const lists = await tastes.inCache(allLists);
    await scene.server.restart();
    expect(lists.filter((list) => list !== undefined)).toHaveLength(USERS);
    for (const list of lists) {
      const scores = [...list!.scores];
      expect(scores.every((score) => score > 0 && score < 1)).toBe(true);
      expect(scores).toEqual([...scores].sort((a, b) => b - a));
    }
  });

  it('reports a saved part that is damaged, passes it over, and replaces it with the next fit', async () => {
    let fitted: string[][] | undefined;
    for (const part of ['click', 'itemNeighbors', 'als'] as const) {
      await tastes.inCache(async (cache) => {
        const { parts } = (await cache.getState('generation')) as GenerationManifest;
        await cache.putBlob(parts[part]!, Uint8Array.of(1, 2, 3));
      });
      const from = scene.server.lines.length;
      await scene.server.restart();
      const reported = scene.server.lines.slice(from).filter((line) => JSON.parse(line).level === 'error');
      expect(reported.join()).toMatch(/cannot be (used|read)/);
      expect((await scene.server.call('GET', '/api/recommend/u1?n=5')).status).toBe(200);
      await scene.server.service.fit();
      expect(scene.server.service.hasModel).toBe(true);
      const lists = await freshLists(scene);
      expect(ownShare(lists)).toBeGreaterThan(0.7);
      // Each of these fits is of the same feedback.
      fitted ??= lists;
      expect(lists).toEqual(fitted);
    }
  });

  it('ranks by the collaborative score when it is told to, and learns click-through when that is on again', async () => {
    const fitted = async (isOn: boolean) => {
      const offline = { ...EVERYTHING.offline, enable_click_through_prediction: isOn };
      const ranker = isOn ? 'auto' : 'collaborative';
      await scene.restart({ ...EVERYTHING, ranker, offline });
      await scene.server.service.fit();
      return freshLists(scene);
    };
    const on = await freshLists(scene);
    const off = await fitted(false);
    expect(off).not.toEqual(on);
    const scores: number[] = [];
    for (const item of off[0]!.slice(0, 10)) {
      const path = `/api/recommend/u${SOME[0]}/explain/${item}`;
      const { Recommenders } = (await scene.send('GET', path)) as Explanation;
      scores.push(Recommenders.find(({ Name }) => Name === 'collaborative')!.Score);
    }
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    await scene.send('POST', '/api/feedback', [record('like', 'late', 'i3')]);
    const offAnew = await fitted(false);
    expect(ownShare(offAnew)).toBeGreaterThan(0.7);
    // Nothing has changed but the configuration.
    const onAnew = await fitted(true);
    expect(onAnew).not.toEqual(offAnew);
    expect(
      scene.server.lines.filter((line) => line.includes('chosen on held-out feedback')).length,
    ).toBeGreaterThan(1);
  });
});
