import { expect, it } from 'vitest';
import {
  fillCheckerboard,
  HOUR_MS,
  likesOf,
  type RecommendOverrides,
  SECOND_MS,
  startScene,
} from './scene.ts';

/** Users who like the same, so that no model tells them apart. */
const TWINS = Array.from({ length: 8 }, (_, at) => `twin${at}`);

const recommend = (more: RecommendOverrides, predict: boolean): RecommendOverrides => ({
  ...more,
  collaborative: { model_fit_period: 5000 * HOUR_MS },
  offline: { check_recommend_period: 5000 * HOUR_MS, enable_click_through_prediction: predict },
  online: { fallback_recommend: [] },
});

it('without click-through prediction candidates are merged at random, unless another order is asked for', async () => {
  const scene = await startScene(recommend({}, false));
  try {
    await fillCheckerboard(scene);
    for (const twin of TWINS) await scene.like(twin, ...likesOf(1));
    scene.time.nowMs += SECOND_MS;
    await scene.server.service.fit();
    const orders = async () => {
      const lists = await Promise.all(TWINS.map((twin) => scene.ids(`/api/recommend/${twin}?n=100`)));
      // Whatever the order, it is of the same items.
      expect(new Set(lists.map((list) => [...list].sort().join())).size).toBe(1);
      expect(lists[0]!.length).toBeGreaterThan(3);
      return new Set(lists.map((list) => list.join())).size;
    };
    expect(await orders()).toBeGreaterThan(1);
    await scene.restart(recommend({ ranker: 'collaborative' }, false));
    expect(await orders()).toBe(1);
    await scene.restart(recommend({ ranker: 'random' }, true));
    expect(await orders()).toBeGreaterThan(1);
  } finally {
    await scene.server.stop();
  }
});

it('a category page is in one order: the list, then what else of it the models propose, as they would rank it', async () => {
  const scene = await startScene({ ...recommend({ ranker: 'random' }, false), cache_size: 4 });
  try {
    await fillCheckerboard(scene);
    scene.time.nowMs += SECOND_MS;
    await scene.server.service.fit();
    const list = await scene.ids('/api/recommend/u1?n=4');
    const page = await scene.ids('/api/recommend/u1/low?n=100');
    const inList = list.filter((id) => Number(id.slice(1)) < 10);
    expect(page.slice(0, inList.length)).toEqual(inList);
    expect(page.length).toBeGreaterThan(inList.length);
    // What follows does not go by the collaborative score where lists go by chance: twins get it in orders of their own.
    for (const twin of TWINS) await scene.like(twin, ...likesOf(1));
    const pages = await Promise.all(TWINS.map((twin) => scene.ids(`/api/recommend/${twin}/low?n=100`)));
    expect(new Set(pages.map((ids) => [...ids].sort().join())).size).toBe(1);
    expect(new Set(pages.map((ids) => ids.join())).size).toBeGreaterThan(1);
    // Pages of one answer fit together.
    const [first, second] = await Promise.all(
      [0, 3].map((at) => scene.ids(`/api/recommend/u1/low?n=3&offset=${at}`)),
    );
    expect([...first!, ...second!]).toEqual(page.slice(0, 6));
  } finally {
    await scene.server.stop();
  }
});
