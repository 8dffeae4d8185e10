import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startTestServer, type TestServer } from './start.ts';

const NOW_MS = Date.UTC(2026, 0, 31);
const NOW = '2026-01-31T00:00:00Z';
const ITEMS = Array.from({ length: 6 }, (_, number) => ({
  ItemId: `i${number}`,
  IsHidden: false,
  Labels: [],
  Categories: [],
  Timestamp: new Date(NOW_MS - number * 3_600_000).toISOString(),
  Comment: '',
}));
const blank = {
  ...{ categories: [], filter: {}, exclude: [], pins: [], fallback: [] },
  ...{ max_per_label: 0, max_per_category: 0, length: 0, tired_after: 0, tired_hours: 168 },
};

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ clock: () => NOW_MS, config: { placement: { home: blank } } });
  await server.call('POST', '/api/items', ITEMS);
});
afterAll(() => server.stop());

async function tokenOf(user: string, query = 'placement=home&n=3'): Promise<string> {
  const { headers } = await server.call('GET', `/api/recommend/${user}?${query}`);
  return headers.get('X-Furze-Recommendation')!;
}

async function shownTo(user: string) {
  const { status, body } = await server.call('GET', `/api/user/${user}/impressions`);
  expect(status).toBe(200);
  return body;
}

function impressions(records: readonly object[]) {
  return server.call('POST', '/api/impressions', records);
}

it('keeps what was seen, with its places, after a restart too', async () => {
  const Recommendation = await tokenOf('ann');
  const { status, body } = await impressions([
    { UserId: 'ann', Recommendation, Items: ['i2', 'nowhere', 'i0'], Timestamp: '1970-01-01' },
    { UserId: 'ann', Recommendation, Items: ['i1'], Places: [7] },
    { UserId: 'ann', Recommendation, Items: ['nowhere'] },
  ]);
  expect([status, body]).toEqual([200, { RowAffected: 2 }]);
  await server.restart();
  const list = { UserId: 'ann', Placement: 'home', Variant: '', Generation: 0, ListTimestamp: NOW };
  const expected = [
    { ...list, Timestamp: NOW, Items: ['i2', 'i0'], Places: [1, 3] },
    { ...list, Timestamp: NOW, Items: ['i1'], Places: [7] },
  ];
  expect(await shownTo('ann')).toEqual(expected);
  const { body: all } = await server.call('GET', '/api/impressions');
  expect(all).toEqual(expected);
});

it('refuses what is none, naming the place, and stores nothing of it', async () => {
  const Recommendation = await tokenOf('bob');
  const good = { UserId: 'bob', Recommendation, Items: ['i1'] };
  const refused = async (record: object, path: string) => {
    const { status, body } = await impressions([good, record]);
    expect([status, body.errors[0].path]).toEqual([400, path]);
  };
  await refused({ ...good, UserId: 'eve' }, '/1/Recommendation');
  await refused({ ...good, Recommendation: 'home..0.0.x' }, '/1/Recommendation');
  await refused({ ...good, Items: [] }, '/1/Items');
  await refused({ ...good, Items: ['a/b'] }, '/1/Items/0');
  await refused({ ...good, Places: [1, 2] }, '/1/Places');
  await refused({ ...good, Places: [0] }, '/1/Places/0');
  await refused({ ...good, Timestamp: 'soon' }, '/1/Timestamp');
  await refused({ UserId: 'bob', Items: ['i1'] }, '/1/Recommendation');
  expect(await shownTo('bob')).toEqual([]);
});

it('notes of which list feedback came, and stores the feedback as ever', async () => {
  const Recommendation = await tokenOf('cat');
  const like = { FeedbackType: 'like', UserId: 'cat', Timestamp: NOW, Comment: '' };
  const { body } = await server.call('POST', '/api/feedback', [
    { ...like, ItemId: 'new', Recommendation },
    { ...like, ItemId: 'i1', Recommendation: 'of.somebody.else' },
    { ...like, ItemId: 'i2', Recommendation: null },
    { ...like, ItemId: 'i3' },
  ]);
  expect(body).toEqual({ RowAffected: 4 });
  expect(await shownTo('cat')).toEqual([
    {
      ...{ UserId: 'cat', Placement: 'home', Variant: '', Generation: 0, ListTimestamp: NOW, Timestamp: NOW },
      ...{ Items: ['new'], Places: [], FeedbackType: 'like' },
    },
  ]);
  const { body: stored } = await server.call('GET', '/api/user/cat/feedback');
  expect(stored).toHaveLength(4);
  expect(Object.keys(stored[0])).not.toContain('Recommendation');
  const wrong = await server.call('POST', '/api/feedback', [{ ...like, ItemId: 'i4', Recommendation: 7 }]);
  expect([wrong.status, wrong.body.errors[0].path]).toEqual([400, '/0/Recommendation']);
});

it('counts as shown what is written back', async () => {
  const query = 'placement=home&n=2&offset=1&write-back-type=read';
  const { body } = await server.call('GET', `/api/recommend/dan?${query}`, undefined, {
    'X-API-Version': '2',
  });
  const ids = body.map(({ Id }: { Id: string }) => Id);
  expect(await shownTo('dan')).toMatchObject([{ Items: ids, Places: [2, 3], Placement: 'home' }]);
});

it('forgets a user who is deleted, known or not', async () => {
  for (const user of ['ann', 'cat', 'nobody']) {
    const Recommendation = await tokenOf(user);
    await impressions([{ UserId: user, Recommendation, Items: ['i5'] }]);
    expect(await shownTo(user)).not.toEqual([]);
    expect((await server.call('DELETE', `/api/user/${user}`)).status).toBe(200);
    expect(await shownTo(user)).toEqual([]);
  }
  expect(await shownTo('dan')).toHaveLength(1);
});

it('lets items rest that a user has seen often and passed over, but for pins', async () => {
  let nowMs = NOW_MS;
  const rested = await startTestServer({
    clock: () => nowMs++,
    config: {
      placement: {
        home: { ...blank, tired_after: 2, tired_hours: 10, pins: [{ item: 'i5', place: 1 }] },
        side: blank,
      },
    },
  });
  await rested.call('POST', '/api/items', ITEMS);
  const ask = async (user: string, placement = 'home') => {
    const { body, headers } = await rested.call('GET', `/api/recommend/${user}?placement=${placement}&n=3`);
    const Recommendation = headers.get('X-Furze-Recommendation')!;
    return { UserId: user, Recommendation, Items: body as string[] };
  };
  for (let time = 0; time < 2; time++) {
    const list = await ask('ann');
    expect(list.Items).toEqual(['i5', 'i0', 'i1']);
    await rested.call('POST', '/api/impressions', [list]);
  }
  expect((await ask('ann')).Items).toEqual(['i5', 'i2', 'i3']);
  expect((await ask('bob')).Items).toEqual(['i5', 'i0', 'i1']);
  expect((await ask('ann', 'side')).Items).toEqual(['i0', 'i1', 'i2']);
  nowMs += 11 * 3_600_000;
  expect((await ask('ann')).Items).toEqual(['i5', 'i0', 'i1']);
  await rested.stop();
});

it('lets items sink that a user has passed over, by how much less they are clicked on', async () => {
  let nowMs = NOW_MS;
  const turned = await startTestServer({
    clock: () => nowMs++,
    elapsedMs: () => nowMs,
    config: { placement: { home: { ...blank, rotate: true, tired_after: 0 } } },
  });
  await turned.call('POST', '/api/items', ITEMS);
  const ask = async (user: string) => {
    const { body, headers } = await turned.call('GET', `/api/recommend/${user}?placement=home&n=3`);
    return { UserId: user, Recommendation: headers.get('X-Furze-Recommendation')!, Items: body as string[] };
  };
  // Everybody sees the first list twice, and a quarter likes its first item at once.
  const likes = [];
  for (let time = 0; time < 2; time++) {
    const lists = [];
    for (let user = 0; user < 600; user++) lists.push(await ask(`r${user}`));
    await turned.call('POST', '/api/impressions', lists);
    for (const [user, { UserId, Recommendation }] of lists.entries())
      if (time === 0 && user % 4 === 0)
        likes.push({
          FeedbackType: 'like',
          UserId,
          ItemId: 'i0',
          Timestamp: '',
          Comment: '',
          Recommendation,
        });
    if (time === 0) await turned.call('POST', '/api/feedback', likes);
  }
  nowMs += 3_600_001;
  await vi.waitFor(async () => expect((await ask('r1')).Items).toEqual(['i3', 'i4', 'i5']), 300_000);
  expect((await ask('new')).Items).toEqual(['i0', 'i1', 'i2']);
  await turned.stop();
});

it('tells operators what the log takes', async () => {
  const { body } = await server.call('GET', '/api/admin/storage');
  const own = body.Tables.filter(({ Store }: { Store: string }) => Store === 'shown');
  expect(own[0]).toMatchObject({ Name: 'shown' });
  expect(own[0].Bytes).toBeGreaterThan(0);
});

it('refuses tokens where there is no placement, and takes feedback all the same', async () => {
  const plain = await startTestServer();
  const { status, body } = await plain.call('POST', '/api/impressions', [
    { UserId: 'a', Recommendation: 'x', Items: ['i'] },
  ]);
  expect([status, body.code]).toEqual([400, 'INVALID_BODY']);
  const feedback = { FeedbackType: 'like', UserId: 'a', ItemId: 'i', Timestamp: NOW, Comment: '' };
  const written = await plain.call('POST', '/api/feedback', [{ ...feedback, Recommendation: 'x' }]);
  expect(written.body).toEqual({ RowAffected: 1 });
  await plain.stop();
});
