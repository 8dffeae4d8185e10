import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { AnswerCache } from '../../src/recommend/lists/answer-cache.ts';
import { startTestServer, type TestServer } from './start.ts';

const blank = {
  ...{ categories: [], filter: {}, exclude: [], boost: [], pins: [], fallback: [] },
  ...{ max_per_label: 0, max_per_category: 0, length: 0, tired_after: 0, tired_hours: 168, explore: 0 },
};
let nowMs = Date.UTC(2026, 0, 30);
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({
    clock: () => nowMs,
    config: {
      placement: {
        home: {
          ...blank,
          filter: { label: 'in' },
          pins: [{ item: 'i9', place: 1, until: '2026-02-20T00:00:00Z' }],
        },
        side: { ...blank, length: 3 },
      },
    },
  });
  const items = Array.from({ length: 20 }, (_, at) => item(at));
  await server.call('POST', '/api/items', items);
  await server.call(
    'POST',
    '/api/users',
    ['ann', 'bob'].map((UserId) => ({ UserId, Labels: [] })),
  );
});
afterAll(() => server.stop());

function item(at: number, more: object = {}) {
  const Timestamp = new Date(Date.UTC(2026, 0, 29) - at * 3_600_000).toISOString();
  return {
    ItemId: `i${at}`,
    IsHidden: false,
    Labels: ['in'],
    Categories: [],
    Comment: '',
    Timestamp,
    ...more,
  };
}

async function ask(user: string, placement = 'home', query = 'n=4') {
  const { body, headers } = await server.call(
    'GET',
    `/api/recommend/${user}?placement=${placement}&${query}`,
  );
  expect(headers.get('X-Furze-Recommendation')).toMatch(new RegExp(`^${placement}\\.`));
  return { items: (body as string[]).join(' '), source: headers.get('X-Furze-Source') };
}

it('answers the same again, with its source and a token of its own', async () => {
  const found = vi.spyOn(AnswerCache.prototype, 'findPlaced');
  const first = await ask('ann');
  expect(first.items).toBe('i9 i0 i1 i2');
  expect(await ask('ann')).toEqual(first);
  // At first not even the filter is at hand.
  expect(found.mock.results.map(({ value }) => value)).toEqual(['["i9","i0","i1","i2"]']);
  expect((await ask('bob')).items).toBe('i9 i0 i1 i2');
  // By the length of the placement, and another number of entries.
  for (let time = 0; time < 2; time++) {
    expect((await ask('ann', 'side')).items).toBe('i0 i1 i2');
    expect((await ask('ann', 'home', 'n=2')).items).toBe('i9 i0');
    expect((await ask('ann', 'home', 'n=2&offset=2')).items).toBe('i1 i2');
    expect((await ask('ann', 'home', 'n=2&exclude=i0')).items).toBe('i9 i1');
  }
});

it("lets go of it when the user reads something, and of nobody else's", async () => {
  await ask('ann');
  await ask('ann', 'side');
  await ask('bob');
  const read = {
    FeedbackType: 'read',
    UserId: 'ann',
    ItemId: 'i0',
    Timestamp: '2026-01-29T00:00:00Z',
    Comment: '',
  };
  await server.call('POST', '/api/feedback', [read]);
  expect((await ask('ann')).items).toBe('i9 i1 i2 i3');
  expect((await ask('ann', 'side')).items).toBe('i1 i2 i3');
  expect((await ask('bob')).items).toBe('i9 i0 i1 i2');
});

it('has no item that is hidden, deleted, or does not pass any more', async () => {
  await ask('bob');
  await server.call('PATCH', '/api/item/i0', { IsHidden: true });
  expect((await ask('bob')).items).toBe('i9 i1 i2 i3');
  await server.call('PATCH', '/api/item/i1', { Labels: [] });
  expect((await ask('bob')).items).toBe('i9 i2 i3 i4');
  await server.call('DELETE', '/api/item/i2');
  expect((await ask('bob')).items).toBe('i9 i3 i4 i5');
});

it('takes in what came to pass within a minute', async () => {
  await ask('bob');
  await server.call('PATCH', '/api/item/i0', { IsHidden: false });
  nowMs += 60_001;
  expect((await ask('bob')).items).toBe('i9 i0 i3 i4');
});

it('ends with a pin', async () => {
  nowMs = Date.UTC(2026, 1, 20) - 10;
  expect((await ask('bob')).items).toBe('i9 i0 i3 i4');
  nowMs += 20;
  expect((await ask('bob')).items).toBe('i0 i3 i4 i5');
});

it('keeps the answer of a user whose own list nobody has asked for since feedback came', async () => {
  const read = {
    FeedbackType: 'read',
    UserId: 'ann',
    ItemId: 'i7',
    Timestamp: '2026-01-29T00:00:00Z',
    Comment: '',
  };
  await server.call('POST', '/api/feedback', [read]);
  const found = vi.spyOn(AnswerCache.prototype, 'findPlaced');
  const first = await ask('ann', 'side');
  expect(await ask('ann', 'side')).toEqual(first);
  expect(found.mock.results.at(-1)?.value).toBe(JSON.stringify(first.items.split(' ')));
});

it('keeps a list that is shorter than it was asked for, each number of entries on its own', async () => {
  await server.call('POST', '/api/users', [{ UserId: 'eve', Labels: [] }]);
  const found = vi.spyOn(AnswerCache.prototype, 'findPlaced');
  const first = await ask('eve', 'side', 'n=40');
  expect(first.items.split(' ')).toHaveLength(3);
  const whole = await ask('eve', 'home', 'n=40');
  const short = await ask('eve', 'home', 'n=2');
  expect(whole.items.split(' ').length).toBeLessThan(40);
  found.mockClear();
  expect(await ask('eve', 'home', 'n=40')).toEqual(whole);
  expect(await ask('eve', 'home', 'n=2')).toEqual(short);
  expect(found.mock.results.map(({ value }) => value !== undefined)).toEqual([true, true]);
  found.mockRestore();
});
