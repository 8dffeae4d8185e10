import { Gorse, GorseException, type Item, type User } from 'gorsejs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../http/start.ts';

const KEY = 'client-key';
let server: TestServer;
let client: Gorse<string>;
beforeAll(async () => {
  server = await startTestServer({
    config: {
      server: { api_key: KEY },
      recommend: { data_source: { positive_feedback_types: ['like'], read_feedback_types: ['read'] } },
    },
  });
  client = recorded(new Gorse({ endpoint: server.base, secret: KEY }));
});
afterAll(() => server.stop());

const called = new Set<string>();

/** The client as it is; only the names of the methods that are taken from it are noted. */
function recorded<T extends object>(target: T): T {
  return new Proxy(target, {
    get(object, name) {
      called.add(String(name));
      return Reflect.get(object, name, object);
    },
  });
}

// The client's type of a user lacks Subscribe; the answers have it.
const user = (UserId: string) => ({ UserId, Labels: ['x'], Comment: 'c', Subscribe: [] as string[] });
const item = (ItemId: string): Item => ({
  ItemId,
  IsHidden: false,
  Labels: ['film'],
  Categories: ['Drama'],
  Timestamp: '2022-03-04T05:06:07Z',
  Comment: 'c',
});
const feedback = (FeedbackType: string, UserId: string, ItemId: string) => ({
  FeedbackType,
  UserId,
  ItemId,
  Timestamp: new Date(Date.now() - 60_000).toISOString(),
});

test('users', async () => {
  expect(await client.insertUser(user('u1'))).toBe(1);
  expect(await client.insertUsers([user('u2'), user('u3')])).toBe(2);
  expect(await client.getUser('u1')).toEqual(user('u1'));
  expect(await client.updateUser('u1', { Comment: 'd' } as User)).toBe(1);
  expect((await client.getUser('u1')).Comment).toBe('d');
  expect((await client.getUsers({ Cursor: '', n: 2 })).Users).toHaveLength(2);
  expect(await client.deleteUser('u3')).toBe(1);
  await expect(client.getUser('u3')).rejects.toBeInstanceOf(GorseException);
});

test('items', async () => {
  expect(await client.upsertItem(item('i1'))).toBe(1);
  expect(await client.upsertItems([item('i2'), item('i3'), item('i4')])).toBe(3);
  expect(await client.getItem('i1')).toEqual(item('i1'));
  expect(await client.updateItem('i1', { Comment: 'd' } as Item)).toBe(1);
  expect(await client.insertItemCategory('i1', 'Court')).toBe(1);
  expect((await client.getItem('i1')).Categories).toEqual(['Drama', 'Court']);
  expect(await client.deleteItemCategory('i1', 'Court')).toBe(1);
  expect((await client.getItems({ Cursor: '', n: 10 })).Items).toHaveLength(4);
  expect(await client.deleteItem('i4')).toBe(1);
});

test('feedback', async () => {
  expect(await client.insertFeedbacks([feedback('like', 'u1', 'i1'), feedback('read', 'u1', 'i2')])).toBe(2);
  expect(await client.upsertFeedbacks([feedback('like', 'u2', 'i1'), feedback('like', 'u2', 'i2')])).toBe(2);
  const key = { type: 'like', userId: 'u1', itemId: 'i1' };
  expect(await client.getFeedback(key)).toMatchObject({ FeedbackType: 'like', UserId: 'u1', ItemId: 'i1' });
  // The client's typings call the field Feedbacks; the interface, and the server it was written for, say Feedback.
  expect(await client.getFeedbacks('like', { Cursor: '', n: 10 })).toMatchObject({ Feedback: { length: 3 } });
  expect(await client.getFeedbacks('', { Cursor: '', n: 10 })).toMatchObject({ Feedback: { length: 4 } });
  expect(await client.getUserFeedback('u1')).toHaveLength(2);
  expect(await client.getUserFeedbackByType('u1', 'like')).toHaveLength(1);
  expect(await client.getItemFeedback('i1')).toHaveLength(2);
  expect(await client.getItemFeedbackByType('i1', 'like')).toHaveLength(2);
  expect(await client.deleteFeedback({ type: 'read', userId: 'u1', itemId: 'i2' })).toMatchObject({
    ItemId: 'i2',
  });
});

test('lists and recommendations', async () => {
  const cursorOptions = { Cursor: '', n: 10 };
  expect((await client.getLatest({ cursorOptions })).length).toBe(3);
  expect((await client.getLatest({ category: 'Drama', cursorOptions })).length).toBe(3);
  expect((await client.getPopular({ cursorOptions })).length).toBe(2);
  expect((await client.getPopular({ category: 'None', cursorOptions })).length).toBe(0);
  expect((await client.getItemNeighbors({ itemId: 'i1', cursorOptions })).length).toBeGreaterThan(0);
  expect(Array.isArray(await client.getUserNeighbors({ userId: 'u1', cursorOptions }))).toBe(true);
  expect(Array.isArray(await client.getSessionRecommend([feedback('like', 's', 'i1')]))).toBe(true);
  const asked = { userId: 'u1', writeBackType: 'read', writeBackDelay: '0h0m0s', cursorOptions };
  const recommended = await client.getRecommend(asked);
  expect(recommended.length).toBeGreaterThan(0);
  expect(await client.getUserFeedbackByType('u1', 'read')).toHaveLength(recommended.length);
});

test('a wrong key is told as the exception of the client', async () => {
  const stranger = new Gorse({ endpoint: server.base, secret: 'wrong' });
  await expect(stranger.getUser('u1')).rejects.toMatchObject({ code: 401 });
});

test('every method of the client was called', () => {
  const methods = Object.getOwnPropertyNames(Gorse.prototype).filter((name) => name !== 'constructor');
  expect(methods.filter((name) => !called.has(name))).toEqual([]);
});

test('with error_format = "text" the exception of the client says what is wrong', async () => {
  const plain = await startTestServer({ config: { server: { error_format: 'text' } } });
  try {
    const asking = new Gorse({ endpoint: plain.base });
    const caught: unknown = await asking.getUser('nobody').catch((error: unknown) => error);
    expect(caught).toBeInstanceOf(GorseException);
    expect(caught).toMatchObject({ code: 404, message: 'There is no user "nobody".' });
    const answer = await plain.call('POST', '/api/user', '{');
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(answer.text).toMatch(/^The body is not valid JSON/);
  } finally {
    await plain.stop();
  }
});
