import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from './start.ts';

const NOW_MS = Date.UTC(2024, 0, 2, 3, 4, 5);
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    config: {
      server: { max_batch_records: 50, max_body_bytes: 100_000 },
      recommend: { data_source: { repeated: { purchase: 'count' } } },
    },
    clock: () => NOW_MS,
  });
});
afterAll(() => server.stop());

const feedback = (FeedbackType: string, UserId: string, ItemId: string, Comment = '') => ({
  FeedbackType,
  UserId,
  ItemId,
  Timestamp: '2022-03-04T05:06:07Z',
  Comment,
});
const affected = (count: number) => ({ RowAffected: count });

test('POST keeps what exists, PUT overwrites it', async () => {
  const { call } = server;
  const old = feedback('like', 'u', 'i', 'old');
  const fresh = { ...old, Comment: 'new' };
  expect((await call('POST', '/api/feedback', [old])).body).toEqual(affected(1));
  expect((await call('POST', '/api/feedback', [fresh])).body).toEqual(affected(0));
  expect((await call('GET', '/api/feedback/like/u/i')).body).toEqual(old);
  expect((await call('PUT', '/api/feedback', [fresh])).body).toEqual(affected(1));
  expect((await call('GET', '/api/feedback/like/u/i')).body).toEqual(fresh);
});

test('of a type whose repeats count each event is kept, and details tell of them', async () => {
  const { call } = server;
  const first = { ...feedback('purchase', 'buyer', 'bread', 'rye'), Value: 2 };
  const second = { ...first, Timestamp: '2022-03-11T05:06:07Z', Comment: '' };
  expect((await call('POST', '/api/feedback', [first])).body).toEqual(affected(1));
  for (const count of [1, 0])
    expect((await call('POST', '/api/feedback', [second])).body).toEqual(affected(count));
  const details = {
    ...first,
    Count: 2,
    LastTimestamp: second.Timestamp,
    ValueSum: 4,
    Occurrences: [first, second].map(({ Timestamp, Value }) => ({ Timestamp, Value, Count: 1 })),
  };
  for (const path of [
    '/api/feedback/buyer/bread',
    '/api/user/buyer/feedback',
    '/api/item/bread/feedback/purchase',
  ]) {
    expect((await call('GET', path)).body).toEqual([first]);
    expect((await call('GET', `${path}?details=true`)).body).toEqual([details]);
  }
  expect((await call('GET', '/api/feedback/purchase/buyer/bread?details=true')).body).toEqual(details);
  expect((await call('GET', '/api/feedback/purchase?details=true')).body).toEqual({
    Cursor: '',
    Feedback: [details],
  });
  expect((await call('GET', '/api/feedback/purchase?details=yes')).status).toBe(400);
  expect((await call('DELETE', '/api/feedback/purchase/buyer/bread')).body).toEqual(first);
  for (const id of ['user/buyer', 'item/bread']) await call('DELETE', `/api/${id}`);
});

test('users and items are made by feedback, with their ids alone', async () => {
  expect((await server.call('GET', '/api/user/u')).body).toEqual({
    UserId: 'u',
    Labels: [],
    Comment: '',
    Subscribe: [],
  });
  expect((await server.call('GET', '/api/item/i')).body).toMatchObject({ ItemId: 'i', Timestamp: '' });
});

test('feedback is found by user, item, pair and type', async () => {
  const { call } = server;
  const [a, b, c] = [feedback('share', 'v', 'j'), feedback('star', 'v', 'j'), feedback('star', 'w', 'j')];
  await call('POST', '/api/feedback', [a, b, c]);
  const sorted = (list: { FeedbackType: string; UserId: string }[]) =>
    list.toSorted((x, y) => (x.UserId + x.FeedbackType).localeCompare(y.UserId + y.FeedbackType));
  const ask = async (path: string) => sorted((await call('GET', path)).body);
  expect(await ask('/api/feedback/v/j')).toEqual([a, b]);
  expect(await ask('/api/user/v/feedback')).toEqual([a, b]);
  expect(await ask('/api/user/v/feedback/')).toEqual([a, b]);
  expect(await ask('/api/user/v/feedback/star')).toEqual([b]);
  expect(await ask('/api/item/j/feedback')).toEqual([a, b, c]);
  expect(await ask('/api/item/j/feedback/')).toEqual([a, b, c]);
  expect(await ask('/api/item/j/feedback/star')).toEqual([b, c]);
  for (const path of ['/api/feedback/v/none', '/api/user/none/feedback', '/api/item/none/feedback/star']) {
    expect(await ask(path)).toEqual([]);
  }
  expect(sorted((await call('GET', '/api/feedback/star')).body.Feedback)).toEqual([b, c]);
  expect((await call('GET', '/api/feedback/no-such-type')).body).toEqual({ Cursor: '', Feedback: [] });
});

test('deleting answers with what went', async () => {
  const { call } = server;
  const [a, b] = [feedback('share', 'd', 'k'), feedback('star', 'd', 'k')];
  await call('POST', '/api/feedback', [a, b]);
  expect((await call('DELETE', '/api/feedback/star/d/k')).body).toEqual(b);
  expect((await call('DELETE', '/api/feedback/star/d/k')).body.code).toBe('FEEDBACK_NOT_FOUND');
  expect((await call('GET', '/api/feedback/star/d/k')).status).toBe(404);
  expect((await call('DELETE', '/api/feedback/d/k')).body).toEqual([a]);
  expect((await call('DELETE', '/api/feedback/d/k')).body).toEqual([]);
});

test('deleting a user or an item takes the feedback along', async () => {
  const { call } = server;
  await call('POST', '/api/feedback', [feedback('star', 'gone', 'm'), feedback('star', 'stays', 'm')]);
  await call('DELETE', '/api/user/gone');
  expect((await call('GET', '/api/item/m/feedback')).body).toHaveLength(1);
  await call('DELETE', '/api/item/m');
  expect((await call('GET', '/api/user/stays/feedback')).body).toEqual([]);
});

test('feedback without a timestamp happened when it arrived', async () => {
  const { call } = server;
  const body = [
    { FeedbackType: 'read', UserId: 'now', ItemId: '1' },
    { FeedbackType: 'read', UserId: 'now', ItemId: '2', Timestamp: '', Comment: null },
    { FeedbackType: 'read', UserId: 'now', ItemId: '3', Timestamp: '2022-03-04' },
  ];
  expect((await call('PUT', '/api/feedback', body)).body).toEqual(affected(3));
  const times = (await call('GET', '/api/user/now/feedback')).body.map(
    (one: { Timestamp: string }) => one.Timestamp,
  );
  expect(times.toSorted()).toEqual(['2022-03-04T00:00:00Z', '2024-01-02T03:04:05Z', '2024-01-02T03:04:05Z']);
});

test('in one batch the first of a triple wins for POST, the last for PUT', async () => {
  const { call } = server;
  const twice = [feedback('star', 'two', 'n', 'first'), feedback('star', 'two', 'n', 'last')];
  await call('POST', '/api/feedback', twice);
  expect((await call('GET', '/api/feedback/star/two/n')).body.Comment).toBe('first');
  await call('PUT', '/api/feedback', twice);
  expect((await call('GET', '/api/feedback/star/two/n')).body.Comment).toBe('last');
});

test('one bad record and nothing is stored', async () => {
  const answer = await server.call('POST', '/api/feedback', [
    feedback('star', 'bad', 'o'),
    { UserId: 'bad' },
  ]);
  expect(answer.status).toBe(400);
  expect(answer.body.errors).toEqual([
    { path: '/1/FeedbackType', message: 'is required' },
    { path: '/1/ItemId', message: 'is required' },
  ]);
  expect((await server.call('GET', '/api/user/bad/feedback')).body).toEqual([]);
});

test('too many records and too large a body are 413', async () => {
  const many = Array.from({ length: 51 }, (_, i) => feedback('star', 'many', `${i}`));
  expect((await server.call('POST', '/api/feedback', many)).body).toMatchObject({
    code: 'BATCH_TOO_LARGE',
    status: 413,
  });
  const large = await server.call('POST', '/api/feedback', ' '.repeat(100_001));
  expect(large.body).toMatchObject({ code: 'BODY_TOO_LARGE', status: 413 });
});

test('a walk over feedback shows each record that was there throughout once', async () => {
  const { call } = server;
  const stay = Array.from({ length: 45 }, (_, i) => feedback('walk', `w${i % 7}`, `p${i}`));
  await call('POST', '/api/feedback', stay);
  const seen: string[] = [];
  let cursor = '';
  for (let step = 0; ; step++) {
    const page = (await call('GET', `/api/feedback/walk?n=4&Cursor=${encodeURIComponent(cursor)}`)).body;
    seen.push(
      ...page.Feedback.map((one: { UserId: string; ItemId: string }) => `${one.UserId} ${one.ItemId}`),
    );
    cursor = page.Cursor;
    if (cursor === '') break;
    await call('POST', '/api/feedback', [feedback('walk', `w${step % 7}`, `new${step}`)]);
    if (step % 2 === 0) await call('DELETE', `/api/feedback/walk/w${step % 7}/new${step}`);
  }
  for (const one of stay) expect(seen.filter((id) => id === `${one.UserId} ${one.ItemId}`)).toHaveLength(1);
});

test('a list without pages arrives whole in many parts, of a user and of an item', async () => {
  const { call } = server;
  const ofUser = Array.from({ length: 450 }, (_, i) => feedback('long', 'lu', `l${i}`));
  const ofItem = Array.from({ length: 450 }, (_, i) =>
    feedback(i % 300 === 0 ? 'rare' : 'long', `l${i}`, 'li'),
  );
  const all = [...ofUser, ...ofItem];
  for (let at = 0; at < all.length; at += 50) await call('POST', '/api/feedback', all.slice(at, at + 50));
  const byUser = await call('GET', '/api/user/lu/feedback/long');
  expect(byUser.headers.get('content-length')).toBeNull();
  expect(byUser.body.map((one: { ItemId: string }) => one.ItemId).sort()).toEqual(
    ofUser.map(({ ItemId }) => ItemId).sort(),
  );
  expect((await call('GET', '/api/item/li/feedback')).body).toHaveLength(450);
  expect((await call('GET', '/api/item/li/feedback/rare')).body).toHaveLength(2);
});

test('all stays over a restart', async () => {
  const before = (await server.call('GET', '/api/feedback?n=1000')).body;
  expect(before.Feedback.length).toBeGreaterThan(40);
  await server.restart();
  expect((await server.call('GET', '/api/feedback?n=1000')).body).toEqual(before);
});

test('without auto-insert, feedback of unknown users and items is left out', async () => {
  const strict = await startTestServer({
    config: { server: { auto_insert_user: false, auto_insert_item: false } },
  });
  try {
    await strict.call('POST', '/api/user', { UserId: 'u' });
    await strict.call('POST', '/api/item', { ItemId: 'i' });
    const body = [feedback('star', 'u', 'i'), feedback('star', 'x', 'i'), feedback('star', 'u', 'x')];
    expect((await strict.call('POST', '/api/feedback', body)).body).toEqual(affected(1));
    expect((await strict.call('GET', '/api/user/x')).status).toBe(404);
  } finally {
    await strict.stop();
  }
});

test('the page of an item counts each event of a type whose repeats count, at its own time', async () => {
  // Also where only some of a type are positive, which then has a number of its own.
  const positive_feedback_types = ['purchase>=2', 'like'];
  const data_source = { repeated: { purchase: 'count' as const }, positive_feedback_types };
  const own = await startTestServer({ config: { recommend: { data_source } }, clock: () => NOW_MS });
  const { call } = own;
  const days = ['2022-01-01', '2022-01-02', '2022-03-01'];
  const bought = days.map((day) => ({
    ...feedback('purchase', 'eater', 'rolls'),
    Timestamp: `${day}T00:00:00Z`,
    Value: 1,
  }));
  await call('POST', '/api/feedback', [...bought, feedback('like', 'eater', 'rolls')]);
  const { body } = await call('GET', '/api/admin/item/rolls');
  expect([body.Users, body.FeedbackCount]).toEqual([1, 4]);
  expect(body.FeedbackTypes).toEqual([
    { Name: 'purchase>=2', Count: 3 },
    { Name: 'like', Count: 1 },
  ]);
  expect([body.Trend.All[0], body.Trend.All.at(-1)]).toEqual([2, 1]);
  await own.stop();
});
