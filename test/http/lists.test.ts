import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from './start.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    config: {
      server: { default_n: 3 },
      recommend: {
        data_source: { positive_feedback_types: ['like'], read_feedback_types: ['read'] },
        offline: { enable_popular_recommend: true },
      },
    },
  });
  const items = Array.from({ length: 6 }, (_, i) => ({
    ItemId: `i${i}`,
    Timestamp: `2022-03-0${i + 1}`,
    Categories: i % 2 === 0 ? ['even', 'all'] : ['odd', 'all'],
    Labels: ['film'],
  }));
  await server.call('POST', '/api/items', [...items, { ItemId: 'timeless', Categories: ['all'] }]);
  const Timestamp = new Date().toISOString();
  const like = (UserId: string, ItemId: string) => ({ FeedbackType: 'like', UserId, ItemId, Timestamp });
  await server.call('POST', '/api/feedback', [like('u', 'i0'), like('v', 'i0'), like('v', 'i1')]);
});
afterAll(() => server.stop());

const ids = async (path: string): Promise<string[]> =>
  (await server.call('GET', path)).body.map((entry: { Id: string }) => entry.Id);

test('latest is newest first, by category, from an offset, without what a user has seen', async () => {
  expect(await ids('/api/latest')).toEqual(['i5', 'i4', 'i3']);
  expect(await ids('/api/latest/')).toEqual(['i5', 'i4', 'i3']);
  expect(await ids('/api/latest?n=100')).toEqual(['i5', 'i4', 'i3', 'i2', 'i1', 'i0']);
  expect(await ids('/api/latest?n=2&offset=2')).toEqual(['i3', 'i2']);
  expect(await ids('/api/latest?offset=100')).toEqual([]);
  expect(await ids('/api/latest?n=0')).toEqual([]);
  expect(await ids('/api/latest/even')).toEqual(['i4', 'i2', 'i0']);
  expect(await ids('/api/latest?category=all&category=odd')).toEqual(['i5', 'i3', 'i1']);
  expect(await ids('/api/latest/none')).toEqual([]);
  expect(await ids('/api/latest/even?user-id=u')).toEqual(['i4', 'i2']);
  const [first] = (await server.call('GET', '/api/latest?n=1')).body;
  expect(first).toEqual({ Id: 'i5', Score: Date.UTC(2022, 2, 6) / 1000 });
});

test('popular counts positive feedback', async () => {
  expect((await server.call('GET', '/api/popular')).body).toEqual([
    { Id: 'i0', Score: 2 },
    { Id: 'i1', Score: 1 },
  ]);
  expect(await ids('/api/popular/odd/')).toEqual(['i1']);
  expect(await ids('/api/popular?user-id=u')).toEqual(['i1']);
});

test('neighbors are lists of scored entries, empty for who is unknown', async () => {
  for (const path of ['/api/item/i0/neighbors', '/api/item/i0/neighbors/', '/api/item/i0/neighbors/even']) {
    const answer = await server.call('GET', path);
    expect(answer.status).toBe(200);
    expect(answer.body.length).toBeGreaterThan(0);
    expect(answer.body[0]).toEqual({ Id: expect.any(String), Score: expect.any(Number) });
  }
  expect((await server.call('GET', '/api/user/u/neighbors')).status).toBe(200);
  expect((await server.call('GET', '/api/item/none/neighbors')).body).toEqual([]);
  expect((await server.call('GET', '/api/user/none/neighbors')).body).toEqual([]);
});

test('recommendations are item ids, with write-back if asked', async () => {
  const { call } = server;
  const list = (await call('GET', '/api/recommend/stranger?n=2')).body;
  expect(list).toHaveLength(2);
  expect(list.every((id: unknown) => typeof id === 'string')).toBe(true);
  expect((await call('GET', '/api/recommend/stranger/odd/')).status).toBe(200);
  const path = '/api/recommend/u?n=2&write-back-type=read&write-back-delay=0h10m0s';
  const written = (await call('GET', path)).body as string[];
  const stored = (await call('GET', '/api/user/u/feedback/read')).body as {
    ItemId: string;
    Timestamp: string;
  }[];
  expect(stored.map(({ ItemId }) => ItemId).toSorted()).toEqual(written.toSorted());
  for (const { Timestamp } of stored) expect(Date.parse(Timestamp)).toBeGreaterThan(Date.now());
});

test('a session takes feedback with and without a user', async () => {
  const body = [{ FeedbackType: 'like', ItemId: 'i0', Timestamp: '2022-03-04' }];
  for (const path of [
    '/api/session/recommend',
    '/api/session/recommend/',
    '/api/session/recommend/even?n=1',
  ]) {
    const answer = await server.call('POST', path, body);
    expect(answer.status).toBe(200);
    for (const entry of answer.body)
      expect(entry).toEqual({ Id: expect.any(String), Score: expect.any(Number) });
  }
  expect((await server.call('POST', '/api/session/recommend', [{ ItemId: 'a/b' }])).status).toBe(400);
  expect((await server.call('POST', '/api/session/recommend', 'null')).body.code).toBe('INVALID_BODY');
});

test('answers name what made them', async () => {
  const source = async (method: string, path: string, body?: unknown) => {
    const { headers } = await server.call(method, path, body);
    expect(headers.get('Access-Control-Expose-Headers')).toContain('X-Furze-Source');
    return headers.get('X-Furze-Source');
  };
  expect(await source('GET', '/api/latest/even')).toBe('latest');
  expect(await source('GET', '/api/popular?n=1')).toBe('popular');
  expect(await source('GET', '/api/popular?offset=100')).toBe('none');
  expect(await source('GET', '/api/recommend/stranger')).toBe('latest');
  expect(await source('GET', '/api/recommend/u?n=0')).toBe('none');
  const basket = [{ FeedbackType: 'like', ItemId: 'i0', Timestamp: '2022-03-04' }];
  expect(await source('POST', '/api/session/recommend', basket)).toBe('session, item_based');
  expect(await source('POST', '/api/session/recommend', [])).toBe('none');
  // The second of these is answered out of what was kept of the first.
  for (let round = 0; round < 2; round++) {
    expect(await source('GET', '/api/recommend/u?n=1')).toBe('personal');
    expect(await source('GET', '/api/recommend/u?n=1000')).toBe('personal, latest');
    expect(await source('GET', '/api/recommend/u?n=1&exclude=none')).toBe('personal');
  }
  const { call } = server;
  expect((await call('GET', '/api/item/i0/neighbors')).headers.get('X-Furze-Source')).toBeNull();
});

test.each([
  ['/api/latest?n=-1', 'n'],
  ['/api/latest?n=1.5', 'n'],
  ['/api/latest?n=ten', 'n'],
  ['/api/latest?n=10001', 'n'],
  ['/api/popular?offset=-1', 'offset'],
  ['/api/popular?offset=99999999999999999999', 'offset'],
  ['/api/recommend/u?write-back-type=read&write-back-delay=10', 'write-back-delay'],
  [`/api/latest?user-id=${'x'.repeat(513)}`, 'user-id'],
  ['/api/latest?user-id=%ff', 'user-id'],
])('%s is a 400 that names %s', async (path, name) => {
  const answer = await server.call('GET', path);
  expect(answer.status).toBe(400);
  expect(answer.body).toMatchObject({ code: 'INVALID_PARAMETER', errors: [{ path: name }] });
});

test('the largest n is named in its refusal, and parameters without a value are not given', async () => {
  expect((await server.call('GET', '/api/latest?n=10001')).body.detail).toContain('10000');
  expect(await ids('/api/latest?n=&offset=&user-id=&category=&unknown=1')).toHaveLength(3);
});
