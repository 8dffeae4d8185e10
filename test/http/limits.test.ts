import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendRaw } from './raw.ts';
import { startTestServer, type TestServer } from './start.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ config: { server: { max_page_bytes: 65_536 } } });
});
afterAll(() => server.stop());

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

test.each([
  ['POST', '/api/session/recommend'],
  ['POST', '/api/feedback'],
  ['PUT', '/api/feedback'],
  ['POST', '/api/item'],
  ['POST', '/api/users'],
  ['PATCH', '/api/user/u'],
])('%s %s refuses JSON that is nested too deep, however long it is', async (method, path) => {
  for (const body of [nested(33), '['.repeat(1_000_000)]) {
    const answer = await server.call(method, path, body);
    expect(answer.status).toBe(400);
    expect(answer.body.detail).toBe('The body must not be nested deeper than 32 arrays and objects.');
  }
});

test('a session is 1,000 records and a megabyte at most', async () => {
  const record = { FeedbackType: 'like', ItemId: 'i' };
  const ask = (body: unknown) => server.call('POST', '/api/session/recommend', body);
  expect((await ask(Array.from({ length: 1000 }, () => record))).status).toBe(200);
  const tooMany = await ask(Array.from({ length: 1001 }, () => record));
  expect(tooMany.status).toBe(413);
  expect(tooMany.body.detail).toBe('The body holds 1001 records and may hold at most 1000.');
  const tooLong = await ask([{ ...record, Comment: 'x'.repeat(1_100_000) }]);
  expect(tooLong.status).toBe(413);
  expect(tooLong.body.code).toBe('BODY_TOO_LARGE');
});

test('what only reads is refused by the length that its body is said to have, before any of it has come', async () => {
  for (const path of [
    'session/recommend',
    'session/recommend/c',
    'admin/session',
    'vectors/v/search',
    'admin/placements/p/preview',
  ]) {
    const head = `POST /api/${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1100000\r\n\r\n[`;
    expect((await sendRaw(server.port, head))[0]?.status, path).toBe(413);
  }
});

test('offset has a limit that the refusal names', async () => {
  expect((await server.call('GET', '/api/latest?offset=10000')).body).toEqual([]);
  const answer = await server.call('GET', '/api/recommend/u?offset=10001');
  expect(answer.status).toBe(400);
  expect(answer.body.errors).toEqual([{ path: 'offset', message: 'must be at most 10000' }]);
});

test('half a surrogate pair is refused in labels and ids', async () => {
  for (const body of ['{"ItemId":"i","Labels":["\\ud800"]}', '{"ItemId":"\\udc00"}']) {
    const answer = await server.call('POST', '/api/item', body);
    expect(answer.status).toBe(400);
    expect(answer.body.detail).toContain('well-formed');
  }
  expect((await server.call('GET', '/api/user/a%00b')).status).toBe(400);
});

/** All entries under `name` of a walk over pages, with the sizes of the pages. */
async function walk(path: string, name: string) {
  const rows: { ItemId?: string; UserId?: string }[] = [];
  const sizes: number[] = [];
  let cursor = '';
  do {
    const { body, text } = await server.call('GET', `${path}?n=1000&cursor=${cursor}`);
    rows.push(...body[name]);
    sizes.push(text.length);
    cursor = body.Cursor;
  } while (cursor !== '');
  return { rows, sizes };
}

test('a page that grows too large ends early, and its cursor goes on behind it', async () => {
  const Comment = 'x'.repeat(20_000);
  const names = Array.from({ length: 9 }, (_, i) => `long-${i}`);
  await server.call(
    'POST',
    '/api/items',
    names.map((ItemId) => ({ ItemId, Comment })),
  );
  await server.call(
    'POST',
    '/api/users',
    names.map((UserId) => ({ UserId, Comment })),
  );
  await server.call(
    'POST',
    '/api/feedback',
    names.map((ItemId) => ({ FeedbackType: 'seen', UserId: 'long-0', ItemId, Comment })),
  );
  for (const [path, name] of [
    ['/api/items', 'Items'],
    ['/api/users', 'Users'],
    ['/api/feedback', 'Feedback'],
    ['/api/feedback/seen', 'Feedback'],
  ] as const) {
    const { rows, sizes } = await walk(path, name);
    const ids = rows.map(({ ItemId, UserId }) => (name === 'Users' ? UserId : ItemId));
    expect(ids, path).toEqual(names);
    expect(sizes.length, path).toBe(3);
    expect(Math.max(...sizes), path).toBeLessThan(65_536 + 21_000);
  }
});
