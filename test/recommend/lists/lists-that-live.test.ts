import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Explanation } from '../../../src/domain/api-schemas.ts';
import { createRandom } from '../../../src/domain/random.ts';
import { AnsweredQuestions } from '../../../src/recommend/lists/maker/answered-questions.ts';
import {
  HOUR_MS,
  type RecommendOverrides,
  record,
  type Scene,
  SECOND_MS,
  START_MS,
  startScene,
} from '../scene.ts';

/** Fits come when they are asked for alone, and lists are not made again for their age. */
const PERIODS: RecommendOverrides = {
  collaborative: { model_fit_period: 5000 * HOUR_MS },
  offline: { check_recommend_period: 5000 * HOUR_MS, refresh_recommend_period: 5000 * HOUR_MS },
  online: { remake_share: 1 },
  cache_expire: 5000 * HOUR_MS,
};

const USERS = 60;
const LIKES = 1200;
const DAYS = 30;

/**
 * Half of what people like is of their taste, and half is what came in these days, which soon nobody likes any more. Nobody
 * posts an item, so none has a Timestamp.
 */
async function fillFashions(scene: Scene) {
  const random = createRandom(11);
  const records = Array.from({ length: LIKES }, (_, at) => {
    const user = random.below(USERS);
    const day = Math.floor((DAYS * at) / LIKES);
    const ofTaste = `taste-${user % 2}-${random.below(25)}`;
    const item = random.float() < 0.5 ? ofTaste : `days-${Math.floor(day / 3)}-${random.below(6)}`;
    const time = new Date(START_MS - (1 - at / LIKES) * DAYS * 24 * HOUR_MS).toISOString();
    return record('like', `u${user}`, item, time);
  });
  await scene.send('POST', '/api/feedback', records);
  return records;
}

describe('lists that live', () => {
  let scene: Scene;
  let filled: Awaited<ReturnType<typeof fillFashions>>;
  beforeAll(async () => {
    scene = await startScene(PERIODS);
    filled = await fillFashions(scene);
    scene.time.nowMs += SECOND_MS;
    await scene.server.service.fit();
  });
  afterAll(() => scene.server.stop());

  it('hold what many have just liked, also where it came by feedback alone', async () => {
    const asked = Array.from({ length: 20 }, (_, at) => `u${USERS - 1 - at}`);
    const holding = async () => {
      const lists = await Promise.all(asked.map((user) => scene.ids(`/api/recommend/${user}?n=10`)));
      return lists.filter((ten) => ten.includes('hot')).length;
    };
    expect(await holding()).toBe(0);
    for (let user = 0; user < USERS - asked.length; user++) await scene.like(`u${user}`, 'hot');
    // What is popular lately is looked for again after ten seconds.
    scene.time.nowMs += 20 * SECOND_MS;
    expect(await holding()).toBeGreaterThanOrEqual(0.8 * asked.length);
  });

  it('turn from what is popular to what is of the taste as far as a question asks, a session’s, too', async () => {
    const users = Array.from({ length: 20 }, (_, at) => `u${at}`);
    const tens = (query: string) =>
      Promise.all(users.map((user) => scene.ids(`/api/recommend/${user}?n=10${query}`)));
    const ofTaste = (lists: readonly (readonly string[])[]) =>
      lists.flatMap((ten, at) => ten.filter((id) => id.startsWith(`taste-${at % 2}`))).length;
    const usual = await tens('');
    expect(await tens('&discovery=auto')).toEqual(usual);
    const likeliest = await tens('&discovery=0');
    expect(ofTaste(usual)).toBeGreaterThanOrEqual(ofTaste(likeliest));
    expect(ofTaste(await tens('&discovery=1'))).toBeGreaterThan(ofTaste(likeliest));
    expect(await tens('')).toEqual(usual);
    const stranger = async (query: string) => {
      const { headers, body } = await scene.server.call('GET', `/api/recommend/stranger?n=5${query}`);
      return [headers.get('X-Furze-Source'), body];
    };
    const fallback = await stranger('');
    expect(await stranger('&discovery=0.5')).toEqual(fallback);
    expect(await stranger('&exclude=nothing')).toEqual(fallback);
    const basket = [record('like', '', 'taste-1-3'), record('like', '', 'taste-1-4')];
    const session = (query: string) =>
      scene.send('POST', `/api/session/recommend?n=10${query}`, basket) as Promise<{ Id: string }[]>;
    const before = await session('');
    expect(await session('&discovery=0')).toEqual(before);
    const after = await session('&discovery=1');
    expect(after.map(({ Id }) => Id)).not.toEqual(before.map(({ Id }) => Id));
    for (const value of ['2', '-1', 'half', '1e9'])
      expect((await scene.server.call('GET', `/api/recommend/u1?discovery=${value}`)).status).toBe(400);
  });

  it('go after a restart by what likes have taught, of which those of what was liked before, is taken back and given again or has just come teach nothing', async () => {
    const partsOf = async (user: string, item: string) => {
      const { Parts } = (await scene.send('GET', `/api/recommend/${user}/explain/${item}`)) as Explanation;
      return new Map(Parts?.map(({ Name, Score }) => [Name, Score]));
    };
    // A lead that changes by less has been taught nothing: parts are told beside the mean of the candidates, which are others
    // after each like, as popularity is; some go by the clock.
    const SAME = 0.001;
    const others = ['popularity', 'base', 'age', 'click_through'];
    const told = async () => {
      const leads = new Map<string, number>();
      for (const user of ['u1', 'u2', 'u3']) {
        const [one, other] = [await partsOf(user, 'taste-0-3'), await partsOf(user, 'taste-0-4')];
        for (const [name, score] of one)
          if (!others.includes(name)) leads.set(`${user} ${name}`, score - (other.get(name) ?? 0));
      }
      return leads;
    };
    /** The largest change of a lead. */
    const change = (before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>) =>
      Math.max(...[...before].map(([name, lead]) => Math.abs(lead - (after.get(name) ?? 0))));
    const fitted = await told();
    const again = filled.slice(-20).map((like) => ({ ...like, Comment: 'again' }));
    await scene.send('PUT', '/api/feedback', again);
    scene.time.nowMs += 2 * SECOND_MS;
    expect(change(fitted, await told())).toBeLessThan(SAME);
    for (let user = 30; user < 42; user++) {
      const Timestamp = new Date(scene.time.nowMs).toISOString();
      await scene.send('POST', '/api/item', { ItemId: `came-${user}`, Timestamp });
      scene.time.nowMs += 2 * SECOND_MS;
      await scene.like(`u${user}`, `came-${user}`);
    }
    expect(change(fitted, await told())).toBeLessThan(SAME);
    for (let user = 0; user < 12; user++) await scene.like(`u${user}`, `taste-${(user + 1) % 2}-${user}`);
    scene.time.nowMs += 2 * SECOND_MS;
    await scene.like('u20', 'taste-1-20');
    const moved = await told();
    expect(change(fitted, moved)).toBeGreaterThan(SAME);
    for (let time = 0; time < 10; time++) {
      await scene.send('DELETE', '/api/feedback/like/u20/taste-1-20');
      scene.time.nowMs += 2 * SECOND_MS;
      await scene.like('u20', 'taste-1-20');
    }
    expect(change(moved, await told())).toBeLessThan(SAME);
    await scene.restart(PERIODS);
    expect(change(moved, await told())).toBeLessThan(SAME);
    scene.time.nowMs += 31 * SECOND_MS;
    await scene.like('u21', 'taste-0-21');
    const later = await told();
    expect(change(moved, later)).toBeGreaterThan(SAME);
    // As after a crash, which saves nothing more.
    const saving = vi.spyOn(AnsweredQuestions.prototype, 'save').mockResolvedValue();
    await scene.restart(PERIODS);
    saving.mockRestore();
    expect(change(later, await told())).toBeLessThan(SAME);
  });
});

/** People of two tastes, and how many of the one have just liked something. */
const OF_TASTE = 400;
const OF_OTHER = 120;
const JUST_LIKED = 300;
const ASKED = 100;
const TASTE_LIKES = 8 * (OF_TASTE + OF_OTHER);

/** Nearly all that people like is of their taste; some items come one day, and are liked less and less. */
async function fillTastes(scene: Scene): Promise<void> {
  const random = createRandom(5);
  const records = Array.from({ length: TASTE_LIKES }, (_, at) => {
    const user = random.below(OF_TASTE + OF_OTHER);
    const taste = random.float() < 0.95 === user < OF_TASTE ? 'a' : 'b';
    const day = Math.floor((DAYS * at) / TASTE_LIKES);
    const age = Math.floor(-12 * Math.log(1 - random.float()));
    const item = random.float() < 0.6 ? `${taste}-${random.below(50)}` : `${taste}-of-${day - age}`;
    const time = new Date(START_MS - (1 - at / TASTE_LIKES) * DAYS * 24 * HOUR_MS).toISOString();
    return record('like', `u${user}`, item, time);
  });
  const daysAgo = new Date(START_MS - 5 * 24 * HOUR_MS).toISOString();
  for (let user = 0; user < 3; user++) records.push(record('like', `u${user}`, 'seldom', daysAgo));
  await scene.send('POST', '/api/feedback', records);
}

describe('an item that 300 of a taste have just liked', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await startScene(PERIODS);
    await fillTastes(scene);
    scene.time.nowMs += SECOND_MS;
    await scene.server.service.fit();
  });
  afterAll(() => scene.server.stop());

  it('stands in the next lists of that taste, and not in those of the other', async () => {
    const holding = async (from: number, item: string) => {
      const users = Array.from({ length: ASKED }, (_, at) => `u${from + at}`);
      const lists = await Promise.all(users.map((user) => scene.ids(`/api/recommend/${user}?n=10`)));
      return lists.filter((ten) => ten.includes(item)).length;
    };
    await scene.send('POST', '/api/item', { ItemId: 'posted', Timestamp: new Date(START_MS).toISOString() });
    for (const item of ['posted', 'unknown', 'seldom']) {
      expect(await holding(JUST_LIKED, item)).toBe(0);
      const now = new Date(scene.time.nowMs).toISOString();
      const likes = Array.from({ length: JUST_LIKED }, (_, user) => record('like', `u${user}`, item, now));
      await scene.send('POST', '/api/feedback', likes);
      scene.time.nowMs += 2 * SECOND_MS;
      expect(await holding(JUST_LIKED, item)).toBeGreaterThanOrEqual(80);
      // Some have few likes, or a few of this taste, too.
      expect(await holding(OF_TASTE, item)).toBeLessThanOrEqual(10);
    }
  });
});

describe('a service that begins empty', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await startScene(PERIODS);
  });
  afterAll(() => scene.server.stop());

  it('has lists of what is liked of late from the second person on, without a fit and after one of a single like', async () => {
    const items = Array.from({ length: 12 }, (_, at) => `i${at}`);
    const likes = async (from: number, to: number) => {
      for (let user = from; user < to; user++) {
        // The first half of the items is liked twice as often; later people like the other half, and so will who comes next.
        const liked = user < 30 ? (user % 9) % 6 : 6 + (user % 6);
        scene.time.nowMs += 90 * SECOND_MS;
        await scene.like(`u${user}`, items[liked]!);
        await scene.like(`u${user}`, `own-${user}`);
      }
    };
    await likes(0, 1);
    await likes(1, 3);
    expect((await scene.ids('/api/recommend/u2?n=10')).sort()).toEqual(['i0', 'i1', 'own-0', 'own-1']);
    await scene.server.service.fit();
    expect(scene.server.service.hasModel).toBe(true);
    expect((await scene.ids('/api/recommend/u2?n=10')).sort()).toEqual(['i0', 'i1', 'own-0', 'own-1']);
    await likes(3, 90);
    expect(await scene.ids('/api/recommend/u89?n=5')).toEqual(expect.arrayContaining(items.slice(6, 11)));
    const learned = await scene.ids('/api/recommend/u1?n=6');
    expect(learned.every((id) => items.indexOf(id) >= 6)).toBe(true);
  });
});
