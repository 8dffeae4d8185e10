import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Feedback } from '../../src/domain/entities.ts';
import { openCacheStore } from '../../src/store/open/thread-stores.ts';
import {
  HOUR_MS,
  type RecommendOverrides,
  record,
  type Scene,
  SECOND_MS,
  START_MS,
  startScene,
} from './scene.ts';

const OFF = {
  enable_latest_recommend: false,
  enable_popular_recommend: false,
  enable_user_based_recommend: false,
  enable_item_based_recommend: false,
  enable_collaborative_recommend: false,
};

function sorted(ids: readonly string[]): string[] {
  return [...ids].sort();
}

/**
 * A small shop. `me` likes tea; so do ann and bob, who like cake too. `twin` has the label that I have, and likes
 * salt. Five strangers like `hit`, and liked `classic` long ago. `news` is new and `timeless` has no date.
 */
async function fillShop({ send }: Scene): Promise<void> {
  const dated = ['news', 'tea', 'cake', 'salt', 'hit', 'classic'].map((ItemId, at) => ({
    ItemId,
    Timestamp: new Date(START_MS - at * HOUR_MS).toISOString(),
  }));
  await send('POST', '/api/items', [...dated, { ItemId: 'timeless' }]);
  await send('POST', '/api/users', [
    { UserId: 'me', Labels: ['tall'] },
    { UserId: 'twin', Labels: ['tall'] },
  ]);
  const recently = new Date(START_MS - HOUR_MS).toISOString();
  const longAgo = new Date(START_MS - 1000 * HOUR_MS).toISOString();
  const strangers = [1, 2, 3, 4, 5].map((at) => `stranger${at}`);
  await send('POST', '/api/feedback', [
    record('like', 'me', 'tea', recently),
    ...['ann', 'bob'].flatMap((user) => ['tea', 'cake'].map((item) => record('like', user, item, recently))),
    record('like', 'twin', 'salt', recently),
    ...strangers.map((user) => record('like', user, 'hit', recently)),
    ...strangers.map((user) => record('like', user, 'classic', longAgo)),
  ]);
}

describe('a small shop', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await startScene();
    await fillShop(scene);
    await scene.server.service.fit();
  });
  afterAll(() => scene.server.stop());

  describe('by default', () => {
    it('makes lists by collaborative filtering and falls back to the latest', async () => {
      const list = await scene.ids('/api/recommend/me?n=100');
      // What those who like tea like too, then what else is liked by anybody; what nobody likes comes from the latest.
      expect(list[0]).toBe('cake');
      expect(sorted(list.slice(0, 4))).toEqual(['cake', 'classic', 'hit', 'salt']);
      expect(list.slice(4)).toEqual(['news']);
      expect(await scene.ids('/api/recommend/nobody?n=100')).toEqual([
        'news',
        'tea',
        'cake',
        'salt',
        'hit',
        'classic',
      ]);
      expect(await scene.ids('/api/recommend/me')).toHaveLength(5);
    });
  });

  describe('in the offline phase', () => {
    const cases: { name: string; offline: RecommendOverrides['offline']; list: string[] }[] = [
      {
        name: 'latest',
        offline: { enable_latest_recommend: true },
        list: ['cake', 'classic', 'hit', 'news', 'salt'],
      },
      { name: 'popular', offline: { enable_popular_recommend: true }, list: ['cake', 'hit', 'salt'] },
      { name: 'item-based', offline: { enable_item_based_recommend: true }, list: ['cake'] },
      { name: 'user-based', offline: { enable_user_based_recommend: true }, list: ['salt'] },
      {
        name: 'collaborative',
        offline: { enable_collaborative_recommend: true },
        list: ['cake', 'classic', 'hit', 'salt'],
      },
      { name: 'no', offline: {}, list: [] },
    ];
    for (const { name, offline, list } of cases) {
      it(`with ${name} alone proposes ${list.join(', ') || 'nothing'}`, async () => {
        await scene.restart({ offline: { ...OFF, ...offline }, online: { fallback_recommend: [] } });
        // Settings were changed: no list that was made with others is served, before the next pass nor after it.
        const early = await scene.ids('/api/recommend/me?n=100');
        expect(early.filter((id) => !list.includes(id))).toEqual([]);
        if (name !== 'user-based') expect(early).toHaveLength(list.length);
        await scene.server.service.fit();
        expect(sorted(await scene.ids('/api/recommend/me?n=100'))).toEqual(list);
      });
    }
  });

  describe('online, without lists', () => {
    const cases: {
      order: NonNullable<RecommendOverrides['online']>['fallback_recommend'];
      list: string[];
    }[] = [
      { order: ['latest'], list: ['news', 'cake', 'salt', 'hit', 'classic'] },
      { order: ['popular'], list: ['hit', 'cake', 'salt'] },
      { order: ['item_based'], list: ['cake'] },
      { order: ['user_based'], list: ['salt'] },
      { order: ['popular', 'latest'], list: ['hit', 'cake', 'salt', 'news', 'classic'] },
      { order: ['item_based', 'user_based', 'latest'], list: ['cake', 'salt', 'news', 'hit', 'classic'] },
      { order: ['user_based', 'item_based', 'popular'], list: ['salt', 'cake', 'hit'] },
    ];
    for (const { order, list } of cases) {
      it(`asks ${order!.join(', then ') || 'nothing'}: ${list.join(', ') || 'an empty answer'}`, async () => {
        await scene.restart({ offline: OFF, online: { fallback_recommend: order! } });
        expect(await scene.ids('/api/recommend/me?n=100')).toEqual(list);
        expect(await scene.ids('/api/recommend/me?n=2')).toEqual(list.slice(0, 2));
      });
    }

    it('asks collaborative filtering: cake first, and nothing for who likes nothing', async () => {
      await scene.restart({ offline: OFF, online: { fallback_recommend: ['collaborative'] } });
      const list = await scene.ids('/api/recommend/me?n=100');
      expect(list[0]).toBe('cake');
      expect(sorted(list)).toEqual(['cake', 'classic', 'hit', 'salt']);
      expect(await scene.ids('/api/recommend/nobody?n=100')).toEqual([]);
    });
  });

  describe('replacement', () => {
    it('puts read items back, each once, and shows them', async () => {
      await scene.restart({
        offline: { ...OFF, enable_popular_recommend: true },
        replacement: { enable_replacement: true },
        online: { fallback_recommend: ['latest'] },
      });
      await scene.server.service.fit();
      const list = await scene.ids('/api/recommend/me?n=100');
      expect(sorted(list)).toEqual(['cake', 'classic', 'hit', 'news', 'salt', 'tea']);
      expect(sorted(list.slice(0, 4))).toEqual(['cake', 'hit', 'salt', 'tea']);
      await scene.read('me', 'hit');
      expect(sorted((await scene.ids('/api/recommend/me?n=100')).slice(0, 4))).toEqual([
        'cake',
        'hit',
        'salt',
        'tea',
      ]);
      const explained = await scene.send('GET', `/api/recommend/me/explain/hit?n=1`);
      expect(explained).toMatchObject({ Recommended: false, WhyNot: { Reason: 'below_the_cut' } });
      await scene.send('DELETE', '/api/feedback/read/me/hit');
    });

    it('is as if nothing had been read where everything may be repeated, and never where nothing may', async () => {
      const offline = { ...OFF, enable_popular_recommend: true };
      const replacement = { enable_replacement: true, positive_replacement_decay: 0.01 };
      await scene.restart({ offline, repeat: 'never', replacement });
      expect(await scene.ids('/api/recommend/me?n=100')).not.toContain('tea');
      await scene.restart({ offline, repeat: 'allow' });
      expect(await scene.ids('/api/recommend/me?n=100')).toContain('tea');
    });

    it('is off by default', async () => {
      await scene.restart({ offline: { ...OFF, enable_popular_recommend: true } });
      expect(await scene.ids('/api/recommend/me?n=100')).not.toContain('tea');
    });
  });

  describe('exploration', () => {
    it('of all places with popular items is the popular list, less what was read', async () => {
      await scene.restart({
        offline: {
          ...OFF,
          enable_latest_recommend: true,
          explore_recommend: { popular: 1, latest: 0 },
        },
        online: { fallback_recommend: [] },
      });
      await scene.server.service.fit();
      const list = await scene.ids('/api/recommend/me?n=100');
      expect(await scene.ids('/api/popular?n=100&user-id=me')).toEqual(['hit', 'cake', 'salt']);
      expect(list.slice(0, 3)).toEqual(['hit', 'cake', 'salt']);
      // Nothing else is popular: the list's own entries follow.
      expect(sorted(list.slice(3))).toEqual(['classic', 'news']);
    });

    it('of all places with latest items is the latest list, less what was read', async () => {
      await scene.restart({
        offline: {
          ...OFF,
          enable_popular_recommend: true,
          explore_recommend: { popular: 0, latest: 1 },
        },
        online: { fallback_recommend: [] },
      });
      await scene.server.service.fit();
      const list = await scene.ids('/api/recommend/me?n=100');
      expect(list).toEqual(await scene.ids('/api/latest?n=100&user-id=me'));
    });
  });
});

describe('an answer that waits for a worker', () => {
  it('is whole and can be written back though items are deleted meanwhile', async () => {
    const scene = await startScene({
      offline: OFF,
      online: { fallback_recommend: ['popular', 'user_based'] },
    });
    try {
      await fillShop(scene);
      const many = Array.from({ length: 12 }, (_, at) => `x${at}`);
      await scene.like('crowd', ...many);
      for (const item of many) {
        const path = '/api/recommend/me?n=100&write-back-type=read&write-back-delay=1h0m0s';
        // The popular items are chosen at once; who is like me is found in a worker.
        const [answer] = await Promise.all([
          scene.server.call('GET', path),
          scene.send('DELETE', `/api/item/${item}`),
        ]);
        expect(answer.status).toBe(200);
        expect(answer.body).toContain('hit');
        expect(answer.body.filter((id: unknown) => typeof id !== 'string')).toEqual([]);
        expect((await scene.ids('/api/recommend/me?n=100')).includes(item)).toBe(false);
      }
      const written = (await scene.send('GET', '/api/user/me/feedback/read')) as Feedback[];
      expect(written.map(({ ItemId }) => ItemId)).toContain('hit');
      expect(written.filter(({ ItemId }) => !/^(hit|cake|salt|x\d+)$/.test(ItemId))).toEqual([]);
    } finally {
      await scene.server.stop();
    }
  });
});

describe('the age of lists', () => {
  let scene: Scene;
  const popularAlone: RecommendOverrides = {
    popular: { popular_window: 2000 * HOUR_MS },
    offline: { ...OFF, enable_popular_recommend: true },
    online: { fallback_recommend: [] },
  };
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'furze-pipeline-'));
    const stores = { data_store: `lmdb://${folder}/data`, cache_store: `lmdb://${folder}/cache` };
    scene = await startScene(popularAlone, { database: stores });
    await fillShop(scene);
    scene.time.nowMs += SECOND_MS;
    await scene.server.service.fit();
  });
  afterAll(async () => {
    await scene.server.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const mine = () => scene.ids('/api/recommend/me?n=100').then(sorted);

  it('a list is made again once likes have come, a second after it was made', async () => {
    expect(await mine()).toEqual(['cake', 'classic', 'hit', 'salt']);
    scene.time.nowMs += SECOND_MS;
    await mine();
    // An item that was there all along becomes popular.
    await scene.like('ann', 'news');
    const wasMadeMs = scene.time.nowMs;
    expect(await mine()).not.toContain('news');
    scene.time.nowMs = wasMadeMs + SECOND_MS + 1;
    expect(await mine()).toEqual(['cake', 'classic', 'hit', 'news', 'salt']);
  });

  it('a new item stands in a list at the latest after server.cache_expire', async () => {
    await scene.restart({ ...popularAlone, offline: { ...OFF, enable_latest_recommend: true } });
    const before = await mine();
    await scene.send('POST', '/api/item', { ItemId: 'fresh', Timestamp: '2024-05-02T00:00:00Z' });
    scene.time.nowMs += 10 * SECOND_MS + 1;
    expect(await mine()).toEqual(sorted([...before, 'fresh']));
    await scene.restart(popularAlone);
  });

  it('a list that cannot be made again is served until recommend.cache_expire', async () => {
    await scene.restart({ ...popularAlone, popular: { popular_window: 100 * HOUR_MS } });
    scene.time.nowMs += 25 * HOUR_MS;
    const before = await mine();
    expect(before).toContain('hit');
    const madeMs = scene.time.nowMs;
    await scene.restart({ ...popularAlone, popular: { popular_window: HOUR_MS } });
    // Nothing is popular any more.
    scene.time.nowMs += 2 * HOUR_MS;
    expect(await scene.ids('/api/popular?n=100')).toEqual([]);
    scene.time.nowMs = madeMs + 72 * HOUR_MS;
    expect(await mine()).toEqual(before);
    scene.time.nowMs += 1;
    expect(await mine()).toEqual([]);
  });

  /** Who likes hit likes classic: an old like, so that the time of the feedback tells nothing of when it came. */
  async function likeHit(userId: string): Promise<void> {
    await scene.send('POST', '/api/feedback', [record('like', userId, 'hit', '2024-01-01T00:00:00Z')]);
  }

  it('feedback that was not asked for before the service stopped shows in the next list', async () => {
    await scene.restart({ ...popularAlone, offline: { ...OFF, enable_item_based_recommend: true } });
    await scene.server.service.fit();
    expect(await mine()).not.toContain('classic');
    await likeHit('me');
    await scene.server.restart();
    expect(await mine()).toContain('classic');
  });

  /** Starts again as if the service had not been stopped in order. */
  async function crash(): Promise<void> {
    await scene.server.service.stop();
    const cache = openCacheStore(join(folder, 'cache'));
    // What a stop writes last, a crash does not.
    expect(await cache.getState('lists-behind')).not.toBeNull();
    await cache.putState('lists-behind', null);
    await cache.close();
    scene.time.nowMs += SECOND_MS;
    await scene.server.restart();
  }

  it('feedback that was not asked for before a crash shows in the next list', async () => {
    expect(await scene.ids('/api/recommend/ann?n=100')).not.toContain('classic');
    await likeHit('ann');
    await crash();
    expect(await scene.ids('/api/recommend/ann?n=100')).toContain('classic');
  });

  it('lists that a crash left behind are still behind after a stop in order', async () => {
    expect(await scene.ids('/api/recommend/bob?n=100')).not.toContain('classic');
    await likeHit('bob');
    await crash();
    await scene.server.restart();
    expect(await scene.ids('/api/recommend/bob?n=100')).toContain('classic');
  });
});
