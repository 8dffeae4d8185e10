import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ItemView, Summary, UserHistory, UserView } from '../../src/domain/admin-schemas.ts';
import { startTestServer, type TestServer } from './start.ts';

const USERS = 40;
const ITEMS = 24;

/** Two tastes: even users like even items, odd users odd ones; the last digit leaves some out. */
function feedback(type = 'like') {
  const records: object[] = [];
  for (let user = 0; user < USERS; user++) {
    for (let item = 0; item < ITEMS; item++) {
      if (item % 2 !== user % 2 || (item * 7 + user * 3) % 5 === 0) continue;
      const Timestamp = new Date(Date.now() - ((user + item) % 20) * 3_600_000).toISOString();
      records.push({ FeedbackType: type, UserId: `u${user}`, ItemId: `i${item}`, Timestamp });
    }
  }
  return records;
}

const items = Array.from({ length: ITEMS }, (_, item) => ({ ItemId: `i${item}`, Comment: `Film ${item}` }));
const positive = { recommend: { data_source: { positive_feedback_types: ['like'] } } };

describe('the admin routes', () => {
  let server: TestServer;
  const get = async (path: string) => (await server.call('GET', path)).body;

  beforeAll(async () => {
    server = await startTestServer({
      config: positive,
    });
    await server.call('POST', '/api/items', items);
    await server.call('POST', '/api/feedback', feedback());
    await server.service.fit();
  });
  afterAll(() => server.stop());

  it('tell the state in one sentence, with counts and the model', async () => {
    const summary: Summary = await get('/api/admin/summary');
    expect(summary.Sentence).toMatch(/^Ready: model 1 serves/);
    expect(summary).toMatchObject({
      Ready: true,
      Recommends: true,
      Users: USERS,
      Items: ITEMS,
      // The items of this data have no time, and popular ones are asked for by name alone.
      Troubles: [{ Code: 'latest_empty' }],
    });
    expect(summary.PositiveFeedback).toBe(feedback().length);
    expect(summary.FeedbackTypes).toEqual([
      { Name: 'like', Count: feedback().length, Positive: true, Read: false },
    ]);
    expect(summary.Model).toMatchObject({ Generation: 1, Users: USERS, Items: ITEMS });
    expect(summary.Model!.Bytes).toBeGreaterThan(0);
    expect(summary.Service.Node).toBe(process.version);
    const upMs = Date.now() - Date.parse(summary.Service.StartedAt);
    expect(Math.abs(upMs - 1000 * summary.Service.UptimeSeconds)).toBeLessThan(60_000);
  });

  it('list the fit with its duration and result, over a restart, too', async () => {
    const { Past } = await get('/api/admin/tasks');
    expect(Past[0]).toMatchObject({
      Kind: 'fit',
      State: 'done',
      Result: { generation: 1, lists: USERS, positives: feedback().length },
    });
    await server.restart();
    const again = await get('/api/admin/tasks');
    expect(again.Past).toContainEqual(Past[0]);
    expect((await get('/api/admin/summary')).Model.FittedAt).toBe(Past[0].EndedAt);
  });

  it('begin a fit that is asked for', async () => {
    const { status, body } = await server.call('POST', '/api/admin/fit');
    expect([status, body.Running[0]?.Kind]).toEqual([200, 'fit']);
    await server.service.fit();
    expect((await get('/api/admin/tasks')).Past[0]).toMatchObject({
      Kind: 'fit',
      Result: { unchanged: true },
    });
  });

  it('list an import by what its sender tells of it', async () => {
    const told = {
      File: 'a.csv',
      Kind: 'items',
      State: 'running',
      Done: 1,
      Total: 2,
      Written: 0,
      Refused: 0,
    };
    const path = '/api/admin/import/one';
    const { status, body } = await server.call('PUT', path, told);
    expect([status, body.Running.at(-1)]).toMatchObject([200, { Kind: 'import', Done: 1, Total: 2 }]);
    expect((await get('/api/admin/summary')).Sentence).toMatch(
      /; an import runs \(items of a\.csv, bytes\)\.$/,
    );
    await server.call('PUT', path, { ...told, State: 'done', Written: 7 });
    expect((await get('/api/admin/tasks')).Past[0]).toMatchObject({ Result: { 'items written': 7 } });
    const bad = await server.call('PUT', path, { ...told, State: 'lost' });
    expect([bad.status, bad.body.errors[0].path]).toEqual([400, '/State']);
  });

  it('judge the lists in a process of their own, which a stop of the service ends', async () => {
    const { status, body } = await server.call('POST', '/api/admin/evaluation');
    expect([status, body.Running[0]?.Kind]).toEqual([200, 'evaluation']);
    expect((await get('/api/admin/quality')).EvaluationTask).toMatchObject({ State: 'running' });
    await server.restart();
    const { Running, Past } = await get('/api/admin/tasks');
    expect(Running).toEqual([]);
    expect(Past[0]).toMatchObject({ Kind: 'evaluation', State: 'stopped' });
  });

  it('page through ids by prefix', async () => {
    const first = await get('/api/admin/items?prefix=i1&n=4');
    expect(first.Items.map(({ ItemId }: { ItemId: string }) => ItemId)).toEqual(['i1', 'i10', 'i11', 'i12']);
    const rest = await get(`/api/admin/items?prefix=i1&n=40&cursor=${first.Cursor}`);
    expect(rest.Items.map(({ ItemId }: { ItemId: string }) => ItemId)).toEqual([
      'i13',
      'i14',
      'i15',
      'i16',
      'i17',
      'i18',
      'i19',
    ]);
    expect(rest.Cursor).toBe('');
    expect((await get('/api/admin/users?prefix=u39')).Users).toHaveLength(1);
    expect((await get('/api/admin/users?prefix=zz')).Users).toEqual([]);
  });

  it('show a user as the pipeline and as each recommender sees them', async () => {
    const path = '/api/admin/user/u2?n=5';
    let view: UserView = await get(path);
    // On a busy machine a recommender may answer too late, and is then asked again.
    while (view.Recommenders.some(({ IsWaiting }) => IsWaiting)) view = await get(path);
    expect(view.Known).toBe(true);
    expect(view.History[0]).toMatchObject({ FeedbackType: 'like', Positive: true });
    expect(view.History[0]!.Title).toMatch(/^Film /);
    expect(view.Pipeline.map(({ Id }) => Id)).toEqual(await get('/api/recommend/u2?n=5'));
    const collaborative = view.Recommenders.find(({ Name }) => Name === 'collaborative')!;
    expect(collaborative).toMatchObject({ InPipeline: true, IsFallback: false, IsWaiting: false });
    const read = new Set(view.History.map(({ Id }) => Id));
    expect(collaborative.Items.length).toBeGreaterThan(0);
    for (const { Id } of [...collaborative.Items, ...view.Pipeline]) expect(read).not.toContain(Id);
    const top = view.Pipeline.find(({ Id }) => Id === collaborative.Items[0]!.Id);
    expect(top?.Ranks.collaborative).toBe(0);
    const nobody: UserView = await get('/api/admin/user/nobody?n=3');
    expect(nobody.Known).toBe(false);
    for (const { Reason } of [...view.Pipeline, ...nobody.Pipeline]) expect(Reason).not.toBe('');
  });

  it('show an item with its neighbors and its feedback over time', async () => {
    const view: ItemView = await get('/api/admin/item/i4?n=5');
    const own = feedback().filter((record) => (record as { ItemId: string }).ItemId === 'i4').length;
    expect(view).toMatchObject({ Users: own, UsersRead: own, FeedbackCount: own });
    expect(view.Trend.All.reduce((sum, count) => sum + count)).toBe(own);
    expect(view.Trend.Positive).toEqual(view.Trend.All);
    expect(view.Neighbors).toHaveLength(5);
    for (const { Id } of view.Neighbors) expect(Number(Id.slice(1)) % 2).toBe(0);
    expect((await server.call('GET', '/api/admin/item/none')).status).toBe(404);
  });

  it('tell sizes by table and part', async () => {
    const storage = await get('/api/admin/storage');
    expect(storage.DataBytes).toBeGreaterThan(0);
    expect(storage.Tables).toContainEqual(
      expect.objectContaining({ Store: 'data', Name: 'users', Entries: USERS }),
    );
    expect(storage.Memory.map(({ Name }: { Name: string }) => Name)).toContain('ALS model');
  });

  it('tell what ranks, and how the fits went', async () => {
    const quality = await get('/api/admin/quality');
    expect(quality.Generation).toBe(1);
    expect(quality.Parts).toContain('ALS model');
    expect(quality.Fits.length).toBeGreaterThan(0);
  });

  it('serve curves of a fixed number of points', async () => {
    const series = await get('/api/admin/series?n=8640');
    expect(series.Times).toHaveLength(360);
    expect(series.StepSeconds).toBe(240);
    // The last step may have begun just now.
    const latest = (values: (number | null)[]) => values.findLast((value) => value !== null);
    expect(latest(series.Values.users)).toBe(USERS);
    expect(latest(series.Values.resident_bytes)).toBeGreaterThan(1e7);
  });

  it('show each feedback once that is there throughout, whatever comes and goes between two pages', async () => {
    const moment = '2024-01-01T00:00:00Z';
    const give = (...ids: string[]) =>
      server.call(
        'POST',
        '/api/feedback',
        ids.map((ItemId) => ({ FeedbackType: 'look', UserId: 'paged', ItemId, Timestamp: moment })),
      );
    const ids = (from: number) => Array.from({ length: 30 }, (_, at) => `paged-${from + at}`);
    // Items get their rows in this order.
    await give(...ids(0));
    await give(...ids(30));
    const seen: string[] = [];
    let cursor = '';
    do {
      const view: UserHistory = await get(`/api/admin/user/paged/feedback?n=10&cursor=${cursor}`);
      seen.push(...view.History.map(({ Id }) => Id));
      cursor = view.Cursor;
      // Of what has been shown, one goes after each page and another comes after two.
      await server.call('DELETE', `/api/feedback/paged/${seen.at(-10)}`);
      if (seen.length % 20 === 0) await give(seen[0]!);
    } while (cursor !== '');
    expect(seen.toSorted()).toEqual([...ids(0), ...ids(30)].toSorted());
  });

  it('show all the feedback of a user, however much, newest first and page by page', async () => {
    // Many of one moment, as imports have them, and some before and after.
    const feedback = Array.from({ length: 350 }, (_, at) => ({
      FeedbackType: 'look',
      UserId: 'busy',
      ItemId: `i${at % 20}-${at}`,
      Timestamp: new Date(
        1_700_000_000_000 + Math.max(0, at - 250) * 1000 - (at < 20 ? 5000 : 0),
      ).toISOString(),
    }));
    await server.call('POST', '/api/feedback', feedback);
    let view: UserHistory = await get('/api/admin/user/busy?n=1');
    expect(view).toMatchObject({ FeedbackCount: 350, PositiveCount: 0 });
    const seen = [...view.History];
    while (view.Cursor !== '') {
      view = await get(`/api/admin/user/busy/feedback?n=100&cursor=${view.Cursor}`);
      expect(view.History.length).toBeGreaterThan(0);
      seen.push(...view.History);
    }
    expect(new Set(seen.map(({ Id }) => Id)).size).toBe(350);
    expect(seen).toHaveLength(350);
    const times = seen.map(({ Timestamp }) => Date.parse(Timestamp));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    expect(await get('/api/admin/user/busy/feedback?n=0')).toMatchObject({ History: [], Cursor: '' });
    const nobody = await get('/api/admin/user/nobody/feedback');
    expect(nobody).toEqual({ FeedbackCount: 0, PositiveCount: 0, History: [], Cursor: '' });
    for (const cursor of ['x', '1', '1_', '_1', '1e3_1', '1_-1'])
      expect(await server.call('GET', `/api/admin/user/busy/feedback?cursor=${cursor}`)).toMatchObject({
        status: 400,
        body: { code: 'INVALID_CURSOR' },
      });
  });
});

describe('a service that cannot recommend', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ config: { server: { api_key: 'hush' } } });
  });
  afterAll(() => server.stop());
  const headers = { 'X-API-Key': 'hush' };
  const troubles = async () =>
    (await server.call('GET', '/api/admin/summary', undefined, headers)).body.Troubles as Summary['Troubles'];

  it('says why, at the start, in the summary and when a fit finds nothing', async () => {
    expect(server.lines.join('\n')).toContain('No positive feedback types are configured.');
    await server.call('POST', '/api/feedback', feedback('click'), headers);
    await server.call('POST', '/api/feedback', feedback('view').slice(0, 9), headers);
    const seen = `seen so far: click (${feedback().length}), view (9)`;
    const [worst] = await troubles();
    expect(worst).toMatchObject({ Code: 'no_positive_types', Severity: 'error' });
    expect(worst!.Message).toContain(seen);
    expect(worst!.Advice).toContain('positive_feedback_types = ["click"]');
    expect(await server.service.fit()).toBeUndefined();
    expect(server.lines.at(-1)).toContain(seen);
  });

  it('asks for the key, and never tells it', async () => {
    expect((await server.call('GET', '/api/admin/summary')).status).toBe(401);
    expect((await server.call('POST', '/api/admin/fit')).status).toBe(401);
    const { text, body } = await server.call('GET', '/api/admin/config', undefined, headers);
    expect(text).not.toContain('hush');
    expect(body.Keys).toContainEqual(expect.objectContaining({ Key: 'server.api_key', Value: '********' }));
  });
});

describe('the first fit', () => {
  it('begins when the first import has settled', async () => {
    const offline = { check_recommend_period: 3_600_000 };
    const config = { recommend: { ...positive.recommend, offline } };
    const server = await startTestServer({ config, settleMs: 200 });
    try {
      await server.call('POST', '/api/feedback', feedback());
      await expect.poll(() => server.service.hasModel).toBe(true);
    } finally {
      await server.stop();
    }
  });
});
