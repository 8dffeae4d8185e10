import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { UserLists } from '../../../src/recommend/lists/user-lists.ts';
import { SessionSource } from '../../../src/recommend/sources/session-source.ts';
import { startTestServer, type TestServer } from '../../http/start.ts';

const all = Array.from({ length: 60 }, (_, item) => item);
const likesOf = (user: number) => all.filter((item) => item % 2 === user % 2 && (item * 7 + user) % 5 < 2);
const blank = {
  categories: [],
  exclude: [],
  fallback: [],
  max_per_label: 0,
  max_per_category: 0,
  length: 0,
  tired_after: 0,
  tired_hours: 168,
};

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    config: {
      recommend: { cache_size: 6, data_source: { positive_feedback_types: ['like'] } },
      placement: {
        home: {
          ...blank,
          filter: { and: [{ label: 'third' }, { not: { category: 'low' } }] },
          pins: [{ item: 'i1', place: 2 }],
        },
        lifted: { boost: [{ label: 'third', factor: 20 }] },
        own: { discovery: 1 },
        mixed: { discovery: 1, new_share: 0.1 },
        usual: {},
        capped: { ...blank, filter: {}, pins: [], max_per_category: 3 },
      },
    },
  });
  const items = all.map((item) => ({
    ItemId: `i${item}`,
    Timestamp: '2026-01-01T00:00:00Z',
    Labels: item % 3 === 0 ? ['third'] : [],
    Categories: [item < 30 ? 'low' : 'high'],
    IsHidden: false,
    Comment: '',
  }));
  await server.call('POST', '/api/items', items);
  const likes = Array.from({ length: 30 }, (_, user) =>
    likesOf(user).map((item) => ({
      FeedbackType: 'like',
      UserId: `u${user}`,
      ItemId: `i${item}`,
      Timestamp: '2026-01-02T00:00:00Z',
      Comment: '',
    })),
  );
  await server.call('POST', '/api/feedback', likes.flat());
  await server.service.fit();
});
afterAll(() => server.stop());

it('makes lists of a model among the items of a placement', async () => {
  const wanted = all.filter((item) => item % 3 === 0 && item >= 30 && !likesOf(4).includes(item));
  const { body: found } = await server.call('GET', '/api/recommend/u4?placement=home&n=60');
  expect(found[1]).toBe('i1');
  expect(found.toSorted()).toEqual(['i1', ...wanted.map((item) => `i${item}`)].toSorted());
});

it('keeps to the caps, and fills every place that there is something for', async () => {
  const { body: found } = await server.call('GET', '/api/recommend/u4?placement=capped&n=6');
  expect(found).toHaveLength(6);
  expect(found.filter((id: string) => Number(id.slice(1)) < 30)).toHaveLength(3);
  const plain = await server.call('GET', '/api/recommend/u4?n=1');
  expect(found[0]).toBe(plain.body[0]);
});

it('boosts a label as a question does, and both together', async () => {
  const ask = async (query: string) => (await server.call('GET', `/api/recommend/u4?n=12${query}`)).body;
  const lifted = await ask('&placement=lifted');
  expect(lifted).toEqual(await ask('&boost=third:20'));
  expect(lifted).not.toEqual(await ask('&placement=capped'));
  expect(lifted.slice(0, 4).every((id: string) => Number(id.slice(1)) % 3 === 0)).toBe(true);
  expect(await ask('&placement=lifted&boost=third:0.05')).toEqual(
    await ask('&boost=third:20&boost=third:0.05'),
  );
});

it('turns its lists from popularity as a question does, whose own wish goes first', async () => {
  const answer = vi.spyOn(UserLists.prototype, 'answer');
  const askedBy = async (query: string) => {
    answer.mockClear();
    const { body } = await server.call('GET', `/api/recommend/u4?n=12&placement=${query}`);
    expect(body).toHaveLength(12);
    return answer.mock.calls.map(([, , { discovery }]) => discovery);
  };
  expect(await askedBy('usual')).toEqual([undefined]);
  expect(await askedBy('own')).toEqual([1]);
  expect(await askedBy('own&discovery=0')).toEqual([0]);
  // The list and, of new items, another.
  expect(await askedBy('mixed')).toEqual([1, 1]);
  answer.mockRestore();
});

it('turns lists of sessions by its rules, too', async () => {
  const rank = vi.spyOn(SessionSource.prototype, 'rank');
  const askedBy = async (query: string) => {
    rank.mockClear();
    const session = [{ FeedbackType: 'like', ItemId: 'i2' }];
    const { body } = await server.call('POST', `/api/session/recommend?n=12&placement=${query}`, session);
    expect(body).toHaveLength(12);
    return rank.mock.calls.map(([, { discovery }]) => discovery);
  };
  expect(await askedBy('usual')).toEqual([undefined]);
  expect(await askedBy('own')).toEqual([1]);
  expect(await askedBy('own&discovery=0')).toEqual([0]);
  rank.mockRestore();
});
