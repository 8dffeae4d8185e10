import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from './start.ts';

const LIKE = { recommend: { data_source: { positive_feedback_types: ['like'] } } };
/** Records that are kept. */
const KEPT = 1000;

describe('activity', () => {
  let server: TestServer;
  const get = async (path: string) => (await server.call('GET', `/api/admin/activity/${path}`)).body;
  const post = (records: object[]) => server.call('POST', '/api/feedback', records);
  const of = (UserId: string, ItemId: string, FeedbackType = 'like') => ({
    ...{ UserId, ItemId, FeedbackType },
    Timestamp: new Date(Date.now() - 3_600_000).toISOString(),
  });

  beforeAll(async () => {
    server = await startTestServer({ config: LIKE });
    await server.call('POST', '/api/items', [
      { ItemId: 'tea', Comment: 'Green tea', Categories: ['drinks'] },
      { ItemId: 'ale', Comment: 'Pale ale' },
    ]);
    await post([of('ann', 'tea')]);
    await post([of('bob', 'tea'), of('bob', 'ale', 'read')]);
  });
  afterAll(() => server.stop());

  it('shows feedback as it came, the latest first', async () => {
    const { Feedback } = await get('feedback?n=2');
    expect(Feedback).toMatchObject([
      { UserId: 'bob', Id: 'ale', Title: 'Pale ale', FeedbackType: 'read', Positive: false },
      { UserId: 'bob', Id: 'tea', Title: 'Green tea', FeedbackType: 'like', Positive: true },
    ]);
    expect(Feedback[0].Number).toBe(Feedback[1].Number + 1);
    expect(Date.parse(Feedback[0].CameAt)).toBeGreaterThan(Date.parse(Feedback[0].Timestamp));
  });

  it('tells the last days: feedback by type, active users, and what made answers', async () => {
    await server.call('GET', '/api/recommend/ann');
    await server.call('GET', '/api/recommend/nobody');
    const days = await get('days');
    const { Feedback, ActiveUsers, Times, Counts } = days;
    const [before, today] = [28, 29];
    expect(Times).toHaveLength(30);
    // The records of an hour ago may be of yesterday.
    expect(Feedback.like[before] + Feedback.like[today]).toBe(2);
    expect(Feedback.read[before] + Feedback.read[today]).toBe(1);
    const answered = ['answers', 'without_list'].map((name) => Counts[name][before] + Counts[name][today]);
    expect(answered).toEqual([2, 2]);
    expect(ActiveUsers[before] + ActiveUsers[today]).toBe(2);
    await server.restart();
    expect(await get('days')).toMatchObject({ Feedback, ActiveUsers });
  });

  it('shows items for a basket by their titles, whoever has it', async () => {
    const basket = [{ FeedbackType: 'like', ItemId: 'ale' }];
    const shown = (await server.call('POST', '/api/admin/session', basket)).body;
    const entries = (await server.call('POST', '/api/session/recommend', basket)).body as { Id: string }[];
    expect(shown.map(({ Id }: { Id: string }) => Id)).toEqual(entries.map(({ Id }) => Id));
    for (const item of shown) expect(item.Title).toBe('Green tea');
    expect((await server.call('POST', '/api/admin/session', [{ ItemId: 'ale' }])).status).toBe(400);
  });

  it('shows each user once, who was active last first, page by page', async () => {
    const { Users } = await get('users');
    expect(Users).toMatchObject([
      { UserId: 'bob', FeedbackCount: 2 },
      { UserId: 'ann', FeedbackCount: 1 },
    ]);
    expect(Users[0].LastSeen).not.toBe('');
    expect((await get('users?offset=1')).Users).toMatchObject([{ UserId: 'ann' }]);
  });

  it('shows items by their likes, page by page', async () => {
    await post([of('cid', 'ale')]);
    expect((await get('items')).Items).toMatchObject([
      { Id: 'tea', Title: 'Green tea', Likes: 2, Categories: ['drinks'] },
      { Id: 'ale', Likes: 1 },
    ]);
    expect((await get('items?offset=1')).Items).toMatchObject([{ Id: 'ale' }]);
  });

  it('keeps what it has over a restart, less what was deleted', async () => {
    await server.call('DELETE', '/api/user/bob');
    expect((await get('feedback')).Feedback.map(({ UserId }: { UserId: string }) => UserId)).toEqual([
      'cid',
      'ann',
    ]);
    await server.restart();
    expect((await get('users')).Users).toMatchObject([{ UserId: 'cid' }, { UserId: 'ann' }]);
    await server.call('DELETE', '/api/item/ale');
    expect((await get('feedback')).Feedback).toMatchObject([{ UserId: 'ann', Id: 'tea' }]);
  });

  it('keeps a bounded number of records, however many come at once', async () => {
    await post(Array.from({ length: 2 * KEPT }, (_, at) => of(`user${at}`, 'tea')));
    const last = await get(`users?n=100&offset=${KEPT - 1}`);
    expect(last.Users).toMatchObject([{ UserId: `user${KEPT}` }]);
    expect((await get('users?n=1')).Users).toMatchObject([{ UserId: `user${2 * KEPT - 1}` }]);
  });
});
