import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendRaw } from './raw.ts';
import { startTestServer, type TestServer } from './start.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const ONE = { RowAffected: 1 };

test('a user is written, read, changed and deleted', async () => {
  const { call } = server;
  const user = { UserId: 'a', Labels: ['x', 'y'], Comment: 'c', Subscribe: ['s'] };
  expect((await call('POST', '/api/user', user)).body).toEqual(ONE);
  expect((await call('GET', '/api/user/a')).body).toEqual(user);
  expect((await call('PATCH', '/api/user/a', { Comment: 'd', Labels: null })).body).toEqual(ONE);
  expect((await call('GET', '/api/user/a/')).body).toEqual({ ...user, Comment: 'd' });
  expect((await call('POST', '/api/user', { UserId: 'a', Labels: null, Comment: null })).body).toEqual(ONE);
  expect((await call('GET', '/api/user/a')).body).toEqual({
    UserId: 'a',
    Labels: [],
    Comment: '',
    Subscribe: [],
  });
  expect((await call('DELETE', '/api/user/a')).body).toEqual(ONE);
  expect((await call('DELETE', '/api/user/a')).body).toEqual({ RowAffected: 0 });
});

test('an unknown user is 404 on GET and PATCH', async () => {
  for (const method of ['GET', 'PATCH']) {
    const answer = await server.call(method, '/api/user/nobody', method === 'PATCH' ? {} : undefined);
    expect(answer.status).toBe(404);
    expect(answer.body.code).toBe('USER_NOT_FOUND');
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
  }
});

test('a write that a pipelined request overtakes is kept, whether its connection lives on or is closed', async () => {
  const body = '{"UserId":"overtaken"}';
  const text =
    `POST /api/user HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}` +
    'GET /api/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n';
  const statuses = (await sendRaw(server.port, text, 2)).map(({ status }) => status);
  expect([[], [200], [200, 200]]).toContainEqual(statuses);
  await expect.poll(async () => (await server.call('GET', '/api/user/overtaken')).status).toBe(200);
  await server.call('DELETE', '/api/user/overtaken');
});

test.each([
  'plain',
  'with space',
  'a/b/c',
  '100%',
  '%2F',
  'émoji 😀',
  '__proto__',
  'constructor',
  '?q=1&n=2#f',
  'x'.repeat(512),
  '\u0001',
])('the id %s is ordinary', async (UserId) => {
  const path = `/api/user/${encodeURIComponent(UserId)}`;
  expect((await server.call('POST', '/api/user', { UserId })).body).toEqual(ONE);
  expect((await server.call('GET', path)).body.UserId).toBe(UserId);
  const feedback = { FeedbackType: 'like', UserId, ItemId: 'i' };
  expect((await server.call('POST', '/api/feedback', [feedback])).body).toEqual(ONE);
  expect((await server.call('GET', `${path}/feedback`)).body).toMatchObject([feedback]);
  expect((await server.call('DELETE', path)).body).toEqual(ONE);
  expect((await server.call('GET', `${path}/feedback`)).body).toEqual([]);
});

test('a batch is written whole or not at all', async () => {
  const { call } = server;
  const refused = await call('POST', '/api/users', [{ UserId: 'b1' }, { UserId: 'b2', Subscribe: [1] }]);
  expect(refused.status).toBe(400);
  expect(refused.body).toMatchObject({ code: 'INVALID_BODY', errors: [{ path: '/1/Subscribe/0' }] });
  expect((await call('GET', '/api/user/b1')).status).toBe(404);
  const batch = [{ UserId: 'b1' }, { UserId: 'b2' }, { UserId: 'b1', Comment: 'last' }];
  expect((await call('POST', '/api/users', batch)).status).toBe(200);
  expect((await call('GET', '/api/user/b1')).body.Comment).toBe('last');
  expect((await call('POST', '/api/users', [])).body).toEqual({ RowAffected: 0 });
  for (const UserId of ['b1', 'b2']) await call('DELETE', `/api/user/${UserId}`);
});

test('pages go by id, end with an empty cursor, and take cursor and Cursor', async () => {
  const { call } = server;
  const ids = Array.from({ length: 25 }, (_, i) => `p${String(i).padStart(2, '0')}`);
  await call(
    'POST',
    '/api/users',
    ids.map((UserId) => ({ UserId })),
  );
  for (const name of ['cursor', 'Cursor']) {
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = (await call('GET', `/api/users?n=7&${name}=${encodeURIComponent(cursor)}`)).body;
      seen.push(...page.Users.map((user: { UserId: string }) => user.UserId));
      cursor = page.Cursor;
    } while (cursor !== '');
    expect(seen).toEqual(ids);
  }
  expect((await call('GET', '/api/users')).body.Users).toHaveLength(10);
  expect((await call('GET', '/api/users?n=0')).body.Users).toEqual([]);
  expect((await call('GET', '/api/users?cursor=made-up!')).body.code).toBe('INVALID_CURSOR');
});

test('a walk shows everyone who was there throughout once, while others come and go', async () => {
  const { call } = server;
  const stay = Array.from({ length: 40 }, (_, i) => `walk${String(i * 2).padStart(3, '0')}`);
  await call(
    'POST',
    '/api/users',
    stay.map((UserId) => ({ UserId })),
  );
  const seen: string[] = [];
  let cursor = '';
  for (let step = 0; ; step++) {
    const page = (await call('GET', `/api/users?n=5&cursor=${encodeURIComponent(cursor)}`)).body;
    seen.push(...page.Users.map((user: { UserId: string }) => user.UserId));
    cursor = page.Cursor;
    if (cursor === '') break;
    const passing = `walk${String(step * 6 + 1).padStart(3, '0')}`;
    await call('POST', '/api/user', { UserId: passing });
    if (step % 2 === 0) await call('DELETE', `/api/user/${passing}`);
  }
  for (const id of stay) expect(seen.filter((other) => other === id)).toHaveLength(1);
});

test('all stays over a restart', async () => {
  await server.call('POST', '/api/user', { UserId: 'kept', Comment: 'still here' });
  await server.restart();
  expect((await server.call('GET', '/api/user/kept')).body.Comment).toBe('still here');
});
