import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ScoredEntry } from '../../src/domain/entities.ts';
import { ItemNeighbors } from '../../src/recommend/neighbors/item-neighbors.ts';
import { HOUR_MS, record, type Scene, SECOND_MS, START_MS, startScene } from './scene.ts';

const DAY_MS = 24 * HOUR_MS;
const at = (ms: number) => new Date(START_MS + ms).toISOString();

/** Fits come when they are asked for alone. */
const PERIODS = {
  collaborative: { model_fit_period: 5000 * HOUR_MS },
  offline: { check_recommend_period: 5000 * HOUR_MS },
};

describe('neighbors that are worked out when asked for', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await startScene({
      ...PERIODS,
      data_source: { positive_feedback_ttl: 100 },
      user_neighbors: { neighbor_type: 'related' },
      item_neighbors: { neighbor_type: 'related' },
    });
    const pairs = (user: string, item: string, time: string) => [
      record('like', user, 'tea', time),
      record('like', user, item, time),
    ];
    await scene.send('POST', '/api/feedback', [
      ...pairs('me', 'mug', at(-HOUR_MS)),
      ...pairs('ann', 'cake', at(-HOUR_MS)),
      ...pairs('old', 'salt', at(-200 * DAY_MS)),
      ...pairs('next', 'jam', at(DAY_MS)),
    ]);
  });
  afterAll(() => scene.server.stop());

  it('count no likes that have run out or are not in effect yet', async () => {
    expect((await scene.ids('/api/item/tea/neighbors?n=100')).sort()).toEqual(['cake', 'mug']);
    expect(await scene.ids('/api/user/me/neighbors?n=100')).toEqual(['ann']);
  });

  it('count them once they are in effect, and from what the fit laid out alike', async () => {
    await scene.server.service.fit();
    scene.time.nowMs += SECOND_MS;
    // The first question lays users out, behind the answer.
    for (let asked = 0; asked < 3; asked++)
      expect(await scene.ids('/api/user/me/neighbors?n=100')).toEqual(['ann']);
    scene.time.nowMs = START_MS + DAY_MS;
    expect(await scene.ids('/api/item/jam/neighbors?n=100')).toEqual(['tea']);
    expect((await scene.ids('/api/user/next/neighbors?n=100')).sort()).toEqual(['ann', 'me']);
  });
});

it('items that are gone say nothing of how rare a label or a user is', async () => {
  const scene = await startScene({ ...PERIODS, item_neighbors: { neighbor_type: 'related' } });
  try {
    const gone = Array.from({ length: 6 }, (_, item) => ({ ItemId: `gone${item}` }));
    await scene.send('POST', '/api/items', gone);
    for (const { ItemId } of gone) await scene.send('DELETE', `/api/item/${ItemId}`);
    await scene.send(
      'POST',
      '/api/items',
      ['a', 'b', 'c', 'd'].map((ItemId) => ({ ItemId })),
    );
    await scene.like('both', 'a', 'b');
    await scene.like('one', 'a');
    const score = async () =>
      ((await scene.send('GET', '/api/item/a/neighbors')) as ScoredEntry[]).map(({ Id, Score }) => [
        Id,
        Score.toFixed(6),
      ]);
    // Four items; one user has two of them, the other one.
    const [both, one] = [Math.log(4 / 2), Math.log(4 / 1)];
    const expected = [['b', ((both * (1 / 101)) / Math.sqrt(both + one) / Math.sqrt(both)).toFixed(6)]];
    expect(await score()).toEqual(expected);
    await scene.server.service.fit();
    expect(await score()).toEqual(expected);
  } finally {
    await scene.server.stop();
  }
});

describe('an item with few neighbors at the fit', () => {
  for (const neighbor_type of ['similar', 'related'] as const) {
    it(`shows those that came after, compared by what is ${neighbor_type}`, async () => {
      const scene = await startScene({ ...PERIODS, item_neighbors: { neighbor_type } });
      try {
        const tea = { ItemId: 'tea', Labels: ['hot', 'drink'] };
        const rest = [{ ItemId: 'cake', Labels: ['drink'] }, { ItemId: 'salt' }];
        await scene.send('POST', '/api/items', [tea, ...rest]);
        await scene.like('ann', 'tea', 'cake');
        await scene.server.service.fit();
        scene.time.nowMs += SECOND_MS;
        const ready = vi.spyOn(ItemNeighbors.prototype, 'ready');
        expect(await scene.ids('/api/item/tea/neighbors')).toEqual(['cake']);
        // The fit read what this process imported: nothing is to be worked out.
        expect(ready.mock.results.map(({ value }) => value?.rows.length)).toEqual([1]);
        ready.mockRestore();
        await scene.send('POST', '/api/item', { ItemId: 'new', Labels: ['hot'] });
        await scene.like('ann', 'new');
        expect(await scene.ids('/api/item/tea/neighbors')).toEqual(['cake', 'new']);
      } finally {
        await scene.server.stop();
      }
    });
  }
});

describe('a category of a user', () => {
  it('is not filled by collaborative filtering where that is off', async () => {
    const off = { ...PERIODS.offline, enable_collaborative_recommend: false };
    const scene = await startScene({ ...PERIODS, offline: off, online: { fallback_recommend: [] } });
    try {
      const items = ['tea', 'cake', 'mug'].map((ItemId) => ({ ItemId, Categories: ['shop'] }));
      await scene.send('POST', '/api/items', items);
      await scene.like('me', 'tea');
      for (const user of ['ann', 'bob']) await scene.like(user, 'tea', 'cake', 'mug');
      await scene.server.service.fit();
      expect(await scene.ids('/api/recommend/me')).toEqual([]);
      expect(await scene.ids('/api/recommend/me/shop')).toEqual([]);
    } finally {
      await scene.server.stop();
    }
  });
});
