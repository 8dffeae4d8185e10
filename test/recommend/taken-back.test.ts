import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  fillCheckerboard,
  HOUR_MS,
  likesOf,
  type RecommendOverrides,
  type Scene,
  SECOND_MS,
  startScene,
} from './scene.ts';

/** Fits come when they are asked for alone. */
const PERIODS: RecommendOverrides = {
  collaborative: { model_fit_period: 5000 * HOUR_MS },
  offline: { check_recommend_period: 5000 * HOUR_MS, refresh_recommend_period: 5000 * HOUR_MS },
  online: { fallback_recommend: [] },
  cache_expire: 5000 * HOUR_MS,
};

async function fitted(recommend: RecommendOverrides): Promise<Scene> {
  const scene = await startScene({ ...PERIODS, ...recommend });
  await fillCheckerboard(scene);
  scene.time.nowMs += SECOND_MS;
  await scene.server.service.fit();
  return scene;
}

const listOf = (scene: Scene, user: string) => scene.ids(`/api/recommend/${user}?n=100`);

/** Expects the list of somebody of whom nothing is known but a name, as far as likes of the two do not tell apart. */
async function expectNothingPersonal(scene: Scene, user: string): Promise<void> {
  await scene.send('POST', '/api/user', { UserId: 'stranger' });
  const read = ((await scene.send('GET', `/api/user/${user}/feedback`)) as { ItemId: string }[]).map(
    ({ ItemId }) => ItemId,
  );
  const popular = (await listOf(scene, 'stranger')).filter((item) => !read.includes(item));
  expect((await listOf(scene, user)).toSorted()).toEqual(popular.toSorted());
}

async function takeAllBack(scene: Scene, user: string): Promise<void> {
  const records = (await scene.send('GET', `/api/user/${user}/feedback`)) as { ItemId: string }[];
  for (const { ItemId } of records) await scene.send('DELETE', `/api/feedback/${user}/${ItemId}`);
}

describe('feedback that is taken back', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await fitted({ data_source: { positive_feedback_ttl: 100 } });
  });
  afterAll(() => scene.server.stop());

  it('as a whole leaves no personal list, at once and after a fit', async () => {
    expect(await listOf(scene, 'u1')).not.toEqual([]);
    await takeAllBack(scene, 'u1');
    await expectNothingPersonal(scene, 'u1');
    await expectNothingPersonal(scene, 'u1');
    scene.time.nowMs += SECOND_MS;
    await scene.server.service.fit();
    await expectNothingPersonal(scene, 'u1');
  });

  it('by a user who asks only after a fit leaves no personal list', async () => {
    expect(await listOf(scene, 'u3')).not.toEqual([]);
    await takeAllBack(scene, 'u3');
    scene.time.nowMs += SECOND_MS;
    await scene.server.service.fit();
    await expectNothingPersonal(scene, 'u3');
  });

  it('as a whole leaves no personal list over a restart', async () => {
    expect(await listOf(scene, 'u5')).not.toEqual([]);
    await takeAllBack(scene, 'u5');
    await scene.server.restart();
    await expectNothingPersonal(scene, 'u5');
  });

  it('because a user was deleted leaves nothing for who comes back by that name', async () => {
    expect(await listOf(scene, 'u7')).not.toEqual([]);
    await scene.send('DELETE', '/api/user/u7');
    expect(await listOf(scene, 'u7')).toEqual([]);
    await scene.send('POST', '/api/user', { UserId: 'u7' });
    await expectNothingPersonal(scene, 'u7');
    await scene.read('u7', 'i2');
    await expectNothingPersonal(scene, 'u7');
  });

  it('because the one liked item was deleted leaves no personal list', async () => {
    await scene.send('POST', '/api/item', { ItemId: 'lone' });
    await scene.like('hermit', 'lone', 'i1');
    expect(await listOf(scene, 'hermit')).not.toEqual([]);
    await scene.send('DELETE', '/api/feedback/hermit/lone');
    expect(await listOf(scene, 'hermit')).not.toEqual([]);
    await scene.send('DELETE', '/api/item/i1');
    await expectNothingPersonal(scene, 'hermit');
  });

  it('because its time ran out leaves no personal list', async () => {
    expect(await listOf(scene, 'u9')).not.toEqual([]);
    scene.time.nowMs += 100 * 24 * HOUR_MS;
    await expectNothingPersonal(scene, 'u9');
    await scene.like('u9', 'i2');
    expect(await listOf(scene, 'u9')).not.toEqual([]);
  });
});

describe('likes by which users like one are found', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await fitted({
      offline: {
        ...PERIODS.offline,
        enable_collaborative_recommend: false,
        enable_user_based_recommend: true,
        // A ranking that is learned lets popular and new items come up by themselves.
        enable_click_through_prediction: false,
      },
    });
  });
  afterAll(() => scene.server.stop());

  it('propose nothing any more once some are taken back', async () => {
    // Two users of even taste, one of whom likes an odd item too.
    await scene.like('mixed', ...likesOf(2), ...likesOf(3));
    const parities = async () => (await listOf(scene, 'mixed')).map((id) => Number(id.slice(1)) % 2);
    scene.time.nowMs += SECOND_MS;
    await scene.server.service.fit();
    expect(new Set(await parities())).toEqual(new Set([0, 1]));
    for (const item of likesOf(3)) await scene.send('DELETE', `/api/feedback/mixed/${item}`);
    scene.time.nowMs += SECOND_MS;
    // Odd items are still liked by users of even taste no more than before: by nobody.
    const after = await parities();
    expect(after).not.toEqual([]);
    expect(new Set(after)).toEqual(new Set([0]));
  });

  it('propose nothing at all once all are taken back', async () => {
    expect(await listOf(scene, 'u4')).not.toEqual([]);
    await takeAllBack(scene, 'u4');
    expect(await listOf(scene, 'u4')).toEqual([]);
  });
});
