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
