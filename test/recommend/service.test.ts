import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { UserView } from '../../src/domain/admin-schemas.ts';
import type { DetailedList, Explanation } from '../../src/domain/api-schemas.ts';
import { createRandom } from '../../src/domain/random.ts';
import { startTestServer, type TestServer } from '../http/start.ts';

/** Users and items of two tastes: an even user likes even items, an odd user odd ones; each left a few out. */
const USERS = 24;
const ITEMS = 20;
const START = Date.parse('2024-05-01T00:00:00Z');

let now = START;
let server: TestServer;

function likesOf(user: number): string[] {
  const items: string[] = [];
  for (let item = user % 2; item < ITEMS; item += 2) if ((item + user) % 7 !== 0) items.push(`i${item}`);
  return items;
}

function like(UserId: string, ItemId: string, FeedbackType = 'like', Timestamp = '') {
  return { FeedbackType, UserId, ItemId, Timestamp };
}

async function ids(path: string): Promise<string[]> {
  const { status, body } = await server.call('GET', path);
  expect(status).toBe(200);
  return body;
}

function post(path: string, body: unknown) {
  return server.call('POST', path, body);
}

async function fillCheckerboard(): Promise<void> {
  const items = Array.from({ length: ITEMS }, (_, item) => ({
    ItemId: `i${item}`,
    Timestamp: new Date(START - item * 60_000).toISOString(),
    Categories: [item % 2 === 0 ? 'even' : 'odd', item < 10 ? 'low' : 'high'],
    Labels: [],
    Comment: item % 4 === 0 ? '' : `Film ${item}`,
  }));
  await post('/api/items', items);
  const records = Array.from({ length: USERS }, (_, user) => user).flatMap((user) =>
    likesOf(user).map((item) => like(`u${user}`, item)),
  );
  await post('/api/feedback', records);
}

function start() {
  return startTestServer({
    clock: () => now,
    config: {
      recommend: {
        data_source: { positive_feedback_types: ['like'], read_feedback_types: ['read'] },
        collaborative: { factors: 4, epochs: 10, regularization: 0.1, regularization_exponent: 0.5 },
        online: { fallback_recommend: ['popular', 'latest'] },
      },
    },
  });
}

it('says how many more people would have to like an item that is below the cut', async () => {
  server = await start();
  const random = createRandom(5);
  const liked = Array.from({ length: 2400 }, () =>
    like(`u${Math.floor(random.float() * 120)}`, `i${Math.floor(40 * random.float() ** 3)}`),
  );
  await post('/api/feedback', liked);
  await server.service.fit();
  const explain = async (item: string) =>
    (await server.call('GET', `/api/recommend/u1/explain/${item}?n=3`)).body as Explanation;
  const counts: number[] = [];
  for (let item = 0; item < 40; item++) {
    const { Lift, CutScore, Score = Number.NaN, WhyNot } = await explain(`i${item}`);
    if (Lift !== undefined) expect(WhyNot).toEqual({ Reason: 'below_the_cut' });
    if (Lift?.People === undefined) continue;
    expect(Score).toBeLessThanOrEqual(CutScore ?? 0);
    counts.push(Lift.People);
  }
  // What they would do to the counts has its own test.
  expect(Math.min(...counts)).toBeGreaterThan(0);
  expect(counts.length).toBeGreaterThan(1);
  await server.stop();
});

describe('with a fitted model', () => {
  beforeAll(async () => {
    server = await start();
    await fillCheckerboard();
    await server.service.fit();
  });
  afterAll(() => server.stop());

  it('recommends what those of the same taste like, first', async () => {
    for (const user of [2, 3]) {
      const liked = likesOf(user);
      const unread = ITEMS / 2 - liked.length;
      const first = (await ids(`/api/recommend/u${user}?n=${unread}`)).map((id) => Number(id.slice(1)) % 2);
      expect(unread).toBeGreaterThan(0);
      expect(first).toEqual(Array(unread).fill(user % 2));
    }
  });

  it('answers a user who has just come with its taste, from the first like on', async () => {
    await post('/api/feedback', [like('newcomer', 'i3')]);
    const first = await ids('/api/recommend/newcomer?n=3');
    expect(first.map((id) => Number(id.slice(1)) % 2)).toEqual([1, 1, 1]);
    expect(first).not.toContain('i3');
  });

  it('changes the next answer when the taste changes', async () => {
    await post('/api/feedback', [like('turncoat', 'i3')]);
    await ids('/api/recommend/turncoat?n=3');
    await post(
      '/api/feedback',
      ['i2', 'i4', 'i6', 'i8'].map((item) => like('turncoat', item)),
    );
    await server.call('DELETE', '/api/feedback/turncoat/i3');
    const next = await ids('/api/recommend/turncoat?n=3');
    expect(next.map((id) => Number(id.slice(1)) % 2)).toEqual([0, 0, 0]);
  });

  it('narrows a recommendation to a category of the whole catalogue', async () => {
    const low = await ids('/api/recommend/u2/low?n=20');
    expect(low.every((id) => Number(id.slice(1)) < 10)).toBe(true);
    const unread = Array.from({ length: 10 }, (_, item) => `i${item}`).filter(
      (id) => !likesOf(2).includes(id),
    );
    expect([...low].sort()).toEqual(unread.sort());
    expect(await ids('/api/recommend/u2?category=low&category=odd&n=20')).toEqual(
      (await ids('/api/recommend/u2/low?n=20')).filter((id) => Number(id.slice(1)) % 2 === 1),
    );
    expect(await ids('/api/recommend/u2/nowhere')).toEqual([]);
  });

  it('explains a recommended item by the items of the user that pull towards it', async () => {
    const [first] = await ids('/api/recommend/u2?n=1');
    const { body } = await server.call('GET', `/api/recommend/u2/explain/${first}?n=1`);
    expect(body).toMatchObject({ UserId: 'u2', ItemId: first, Recommended: true, Rank: 0 });
    const names = body.Recommenders.map(({ Name }: { Name: string }) => Name);
    expect(names).toContain('collaborative');
    expect(names).not.toContain('user_based');
    expect(body.Score).toBeGreaterThan(0);
    expect(body.Score).toBeLessThanOrEqual(1);
    const parts: { ItemId: string; Score: number; Share: number }[] = body.Contributions;
    expect(parts.map(({ ItemId }) => ItemId).sort()).toEqual(likesOf(2).sort());
    expect(parts.reduce((sum, { Share }) => sum + Math.abs(Share), 0)).toBeCloseTo(1, 6);
    // Of all that is named.
    const titleOf = (id: string) => (Number(id.slice(1)) % 4 === 0 ? '' : `Film ${id.slice(1)}`);
    expect(body.Titles).toEqual(Object.fromEntries([first!, ...likesOf(2)].map((id) => [id, titleOf(id)])));
  });

  it('tells the score as a sum of what speaks for an item and against it, in a list and outside', async () => {
    const [first] = await ids('/api/recommend/u2?n=1');
    for (const item of [first!, 'i1']) {
      const { body } = await server.call('GET', `/api/recommend/u2/explain/${item}`);
      const parts: { Name: string; Meaning: string; Score: number }[] = body.Parts;
      expect(parts[0]!.Name).toBe('base');
      expect(parts.every(({ Meaning }) => Meaning !== '')).toBe(true);
      const logOdds = Math.log(body.Score / (1 - body.Score));
      expect(parts.reduce((sum, { Score }) => sum + Score, 0)).toBeCloseTo(logOdds, 6);
      // Signs are kept, and what speaks most for it comes first.
      const scores = (body.Contributions as { Score: number; Share: number }[]).map(({ Score }) => Score);
      expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    }
  });

  it('gives each item of a list the reason that is the largest part of its score', async () => {
    const get = async (path: string) => (await server.call('GET', path)).body;
    const { Pipeline } = (await get('/api/admin/user/u2?n=5')) as UserView;
    const { Items } = (await get('/api/recommend/u2?n=5&details=true')) as DetailedList;
    const ofOdd = (await get('/api/recommend/u2?n=3&details=true&category=odd')) as DetailedList;
    expect(Pipeline).toHaveLength(5);
    expect(Items.map(({ Id }) => Id)).toEqual(await ids('/api/recommend/u2?n=5'));
    const own = [...Items, ...ofOdd.Items].filter(({ Source }) => Source === 'personal');
    expect(own.length).toBeGreaterThan(5);
    expect(Items.map(({ Reason }) => Reason)).toEqual(Pipeline.map(({ Reason }) => Reason));
    expect(Items[0]!.Reason).not.toBe('the user is likely to like it');
    for (const { Id, Reason } of [...Pipeline, ...own]) {
      const { Parts } = await get(`/api/recommend/u2/explain/${Id}`);
      const [, ...parts] = Parts as { Name: string; Meaning: string; Score: number }[];
      const most = parts.reduce((one, other) => (other.Score > one.Score ? other : one));
      if (most.Score <= 0) expect(Reason).toBe('the user is likely to like it');
      else if (['popularity', 'age'].includes(most.Name)) expect(Reason).toBe(most.Meaning);
      else
        expect(Reason).toMatch(
          /^(liked by people of the same taste|goes with what this customer likes|what people )/,
        );
    }
  });

  it('says why an item is not recommended', async () => {
    const reason = async (item: string, query = '') =>
      (await server.call('GET', `/api/recommend/u2/explain/${item}${query}`)).body.WhyNot;
    const [first, second] = await ids('/api/recommend/u2?n=2');
    expect(await reason(second!, '?n=1')).toEqual({ Reason: 'below_the_cut' });
    const explain = (item: string) => server.call('GET', `/api/recommend/u2/explain/${item}?n=1`);
    const [{ body: shown }, { body: missing }] = [await explain(first!), await explain(second!)];
    expect(shown).not.toHaveProperty('CutScore');
    expect(missing.CutScore).toBe(shown.Score);
    expect(missing.CutScore).toBeGreaterThanOrEqual(missing.Score);
    expect(await reason(likesOf(2)[0]!)).toEqual({ Reason: 'read', ReadAt: '2024-05-01T00:00:00Z' });
    expect(await reason(first!, '?category=odd')).toEqual({ Reason: 'not_in_category' });
    await server.call('PATCH', `/api/item/${first}`, { IsHidden: true });
    expect(await reason(first!)).toEqual({ Reason: 'hidden' });
    await server.call('PATCH', `/api/item/${first}`, { IsHidden: false });
    const unknown = await server.call('GET', '/api/recommend/u2/explain/nothing');
    expect([unknown.status, unknown.body.code]).toEqual([404, 'ITEM_NOT_FOUND']);
  });

  it('names likes that would lift an item into the list, and each does', async () => {
    // So late a like teaches the ranking nothing, which could bring another item to its place.
    const late = (item: string) => like('new', item, 'like', new Date(START - 2 * 3_600_000).toISOString());
    await post('/api/feedback', [late('i0')]);
    const explain = (item: string) => server.call('GET', `/api/recommend/new/explain/${item}?n=6`);
    let [tried, lifted] = [0, 0];
    for (let item = 0; item < ITEMS; item++) {
      const { Lift } = (await explain(`i${item}`)).body;
      for (const ItemId of Lift?.Likes ?? []) {
        await post('/api/feedback', [late(ItemId)]);
        const { Recommended } = (await explain(`i${item}`)).body;
        if (Recommended) lifted++;
        await server.call('DELETE', `/api/feedback/like/new/${ItemId}`);
        tried++;
      }
    }
    expect(tried).toBeGreaterThan(5);
    expect(lifted).toBe(tried);
    await server.call('DELETE', '/api/user/new');
  });

  it('makes the same lists again after a restart, from the saved model', async () => {
    const before = await ids('/api/recommend/u2?n=20');
    await server.restart();
    expect(server.service.hasModel).toBe(true);
    expect(await ids('/api/recommend/u2?n=20')).toEqual(before);
  });

  it('makes the same model whatever the number of threads', async () => {
    const lists = async () =>
      Promise.all(['u1', 'u2', 'u7'].map((user) => ids(`/api/recommend/${user}?n=20`)));
    const mine = server;
    const one = await lists();
    server = await startTestServer({
      clock: () => now,
      config: {
        worker: { threads: 3 },
        recommend: {
          data_source: { positive_feedback_types: ['like'], read_feedback_types: ['read'] },
          collaborative: { factors: 4, epochs: 10, regularization: 0.1, regularization_exponent: 0.5 },
          online: { fallback_recommend: ['popular', 'latest'] },
        },
      },
    });
    try {
      await fillCheckerboard();
      await server.service.fit();
      expect(await lists()).toEqual(one);
    } finally {
      await server.stop();
      server = mine;
    }
  });
});

describe('without a model', () => {
  beforeEach(async () => {
    now = START;
    server = await start();
    await fillCheckerboard();
    return () => server.stop();
  });

  it('falls back to popular, then latest, each item once', async () => {
    await post('/api/item', { ItemId: 'unpopular', Timestamp: '2024-04-30T23:59:30Z' });
    const list = await ids('/api/recommend/nobody?n=100');
    expect(list).toHaveLength(ITEMS + 1);
    expect(new Set(list).size).toBe(ITEMS + 1);
    expect(list.at(-1)).toBe('unpopular');
    const popular = (await server.call('GET', '/api/popular?n=100')).body.map((e: { Id: string }) => e.Id);
    expect(list.slice(0, popular.length)).toEqual(popular);
  });

  it('hides at once and shows again, everywhere', async () => {
    const everywhere = [
      '/api/latest?n=100',
      '/api/popular?n=100',
      '/api/recommend/u1?n=100',
      '/api/latest/low?n=100',
    ];
    const shown = async () =>
      (await Promise.all(everywhere.map((path) => server.call('GET', path)))).map((a) =>
        a.text.includes('"i2"'),
      );
    expect(await shown()).toEqual([true, true, true, true]);
    await server.call('PATCH', '/api/item/i2', { IsHidden: true });
    expect(await shown()).toEqual([false, false, false, false]);
    await server.call('PATCH', '/api/item/i2', { IsHidden: false });
    expect(await shown()).toEqual([true, true, true, true]);
    await server.call('DELETE', '/api/item/i2');
    expect(await shown()).toEqual([false, false, false, false]);
  });

  it('a new item stands in latest and in its categories in the very next answer', async () => {
    await post('/api/item', {
      ItemId: 'new',
      Timestamp: '2024-05-02T00:00:00Z',
      Categories: ['fresh', 'low'],
    });
    for (const path of ['/api/latest?n=1', '/api/latest/fresh?n=1', '/api/latest/low?n=1']) {
      expect((await server.call('GET', path)).body).toEqual([
        { Id: 'new', Score: Date.parse('2024-05-02') / 1000 },
      ]);
    }
    await server.call('DELETE', '/api/item/new/category/low');
    expect((await server.call('GET', '/api/latest/low?n=1')).body[0].Id).toBe('i0');
  });

  it('popular moves with each like and unlike', async () => {
    const count = async () =>
      (await server.call('GET', '/api/popular/?n=100')).body.find((e: { Id: string }) => e.Id === 'i5')
        ?.Score;
    const before = await count();
    await post('/api/feedback', [like('z', 'i5')]);
    await post('/api/feedback', [like('z', 'i5')]);
    expect(await count()).toBe(before + 1);
    await server.call('DELETE', '/api/feedback/like/z/i5');
    expect(await count()).toBe(before);
  });

  it('a read with a future timestamp counts once its time is reached', async () => {
    await post('/api/feedback', [like('w', 'i1', 'read', '2024-05-01T01:00:00Z')]);
    expect(await ids('/api/recommend/w?n=100')).toContain('i1');
    now = Date.parse('2024-05-01T01:00:00Z');
    expect(await ids('/api/recommend/w?n=100')).not.toContain('i1');
  });

  it('writes back what it answered, with and without a delay', async () => {
    const first = await ids('/api/recommend/b?n=3&write-back-type=read');
    const second = await ids('/api/recommend/b?n=3&write-back-type=read&write-back-delay=1h0m0s');
    expect(second.filter((id) => first.includes(id))).toEqual([]);
    expect(await ids('/api/recommend/b?n=3')).toEqual(second);
    now += 3_600_000;
    const third = await ids('/api/recommend/b?n=3');
    expect(third.filter((id) => first.includes(id) || second.includes(id))).toEqual([]);
    expect((await server.call('GET', `/api/feedback/read/b/${second[0]}`)).body.Timestamp).toBe(
      '2024-05-01T01:00:00Z',
    );
  });

  it('leaves out of latest and popular what the user has read', async () => {
    for (const list of ['latest', 'popular']) {
      const body: { Id: string }[] = (await server.call('GET', `/api/${list}?n=100&user-id=u3`)).body;
      expect(body.some(({ Id }) => likesOf(3).includes(Id))).toBe(false);
      expect(body).toHaveLength(ITEMS - likesOf(3).length);
    }
  });

  it('recommends for a session what its users liked too', async () => {
    const { body } = await post('/api/session/recommend?n=5', [like('', 'i2'), like('', 'i4')]);
    expect(body.map(({ Id }: { Id: string }) => Number(Id.slice(1)) % 2)).toEqual([0, 0, 0, 0, 0]);
    expect(body.map(({ Id }: { Id: string }) => Id)).not.toContain('i2');
    expect((await post('/api/session/recommend/odd?n=5', [like('', 'i2')])).body).toEqual([]);
  });

  it('never answers a hidden, deleted, read or repeated item, and pages fit together', async () => {
    const item = fc.integer({ min: 0, max: ITEMS - 1 }).map((at) => `i${at}`);
    const step = fc.oneof(
      fc.record({ kind: fc.constant('read' as const), item }),
      fc.record({ kind: fc.constant('hide' as const), item }),
      fc.record({ kind: fc.constant('show' as const), item }),
      fc.record({ kind: fc.constant('delete' as const), item }),
      fc.record({ kind: fc.constant('insert' as const), item }),
    );
    const gone = new Set<string>();
    const hidden = new Set<string>();
    let round = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 12 }),
        fc.integer({ min: 1, max: 7 }),
        async (steps, size) => {
          const user = `p${round++}`;
          const read = new Set<string>();
          for (const { kind, item } of steps) {
            if (kind === 'read') {
              await post('/api/feedback', [like(user, item, 'read')]);
              read.add(item);
              // Feedback on an item that is gone makes it anew, without a timestamp.
              if (gone.delete(item)) hidden.delete(item);
            } else if (kind === 'delete') {
              await server.call('DELETE', `/api/item/${item}`);
              gone.add(item);
              read.delete(item);
            } else if (kind === 'insert') {
              await post('/api/item', { ItemId: item, Timestamp: '2024-05-01T00:00:00Z' });
              gone.delete(item);
              hidden.delete(item);
            } else if (!gone.has(item)) {
              await server.call('PATCH', `/api/item/${item}`, { IsHidden: kind === 'hide' });
              if (kind === 'hide') hidden.add(item);
              else hidden.delete(item);
            }
          }
          const whole = await ids(`/api/recommend/${user}?n=${ITEMS + 5}`);
          expect(new Set(whole).size).toBe(whole.length);
          expect(whole.filter((id) => gone.has(id) || hidden.has(id) || read.has(id))).toEqual([]);
          const pages: string[] = [];
          for (let offset = 0; offset < ITEMS + size; offset += size) {
            pages.push(...(await ids(`/api/recommend/${user}?n=${size}&offset=${offset}`)));
          }
          expect(pages).toEqual(whole);
        },
      ),
      { numRuns: 25 },
    );
  });
});

it('fits a first model by itself soon after feedback has come', async () => {
  const early = await startTestServer({
    config: {
      recommend: {
        data_source: { positive_feedback_types: ['like'] },
        offline: { check_recommend_period: 200 },
      },
    },
  });
  try {
    await early.call('POST', '/api/feedback', [like('a', 'x'), like('b', 'x'), like('b', 'y')]);
    await expect.poll(() => early.service.hasModel).toBe(true);
    expect((await early.call('GET', '/api/recommend/a?n=1')).body).toEqual(['y']);
  } finally {
    await early.stop();
  }
});
