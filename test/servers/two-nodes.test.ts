import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PostgresDsn, parseDsn } from '../../src/store/dsn.ts';
import { Connection } from '../../src/store/postgres/connection.ts';
import { startTestServer, type TestServer } from '../http/start.ts';
import { HAS_POSTGRES } from '../store/postgres/under-test.ts';
import { newPostgresDsn } from './dsn.ts';
import { freshAnswer } from './roles.ts';

const HOME = {
  ...{ categories: [], filter: {}, exclude: [], pins: [], fallback: [] },
  ...{ max_per_label: 0, max_per_category: 0, length: 0, tired_after: 0, tired_hours: 168 },
};
const SIZES = {
  ...{ placement: 'home', traffic: 1, start: '', measure: '', counts: 'users' as const, guardrails: [] },
  ...{ horizon_hours: 24, plan_users: 1000, alpha: 0.05 },
  variants: [
    { name: 'now', share: 0.5 },
    { name: 'one', share: 0.5, override: { length: 1 } },
  ],
};

describe.skipIf(!HAS_POSTGRES)('two nodes over one PostgreSQL', () => {
  let a: TestServer;
  let b: TestServer;
  let dataStore: string;

  beforeAll(async () => {
    dataStore = newPostgresDsn();
    const database = { data_store: dataStore };
    const recommend = { data_source: { positive_feedback_types: ['like'], read_feedback_types: ['read'] } };
    const config = { database, recommend, placement: { home: HOME }, experiment: { sizes: SIZES } };
    a = await startTestServer({ config });
    b = await startTestServer({ config });
  });

  afterAll(async () => {
    await b?.stop();
    await a?.stop();
  });

  test('what one has answered the other shows with its next answer', async () => {
    const items = Array.from({ length: 40 }, (_, at) => ({ ItemId: `i${at}`, Timestamp: '2024-01-01' }));
    expect((await a.call('POST', '/api/items', items)).body).toEqual({ RowAffected: 40 });
    const rounds = Number(process.env.FRESHNESS_ROUNDS ?? 200);
    for (let round = 0; round < rounds; round++) {
      const [to, from] = round % 2 === 0 ? [a, b] : [b, a];
      const UserId = `u${round % 50}`;
      const ItemId = `i${round % 37}`;
      const FeedbackType = ['like', 'read', 'other'][round % 3]!;
      const record = { FeedbackType, UserId, ItemId, Timestamp: momentOf(round) };
      expect((await to.call('PUT', '/api/feedback', [record])).status).toBe(200);
      const shown = await freshAnswer(from, `/api/user/${UserId}/feedback/${FeedbackType}`);
      expect(shown.body).toContainEqual(
        expect.objectContaining({ ItemId, Timestamp: momentOf(round), FeedbackType }),
      );
      expect((await freshAnswer(from, `/api/recommend/${UserId}?n=40`)).body).not.toContain(ItemId);
    }
  });

  test('both show a user the same variant, and either takes what the other has shown', async () => {
    const UserId = 'visitor';
    const path = `/api/recommend/${UserId}?placement=home&n=5`;
    await a.call('POST', '/api/items', [{ ItemId: 'fresh', Timestamp: '2026-01-01' }]);
    const [ofA, ofB] = [await freshAnswer(a, path), await freshAnswer(b, path)];
    const [Recommendation, other] = [ofA, ofB].map(({ headers }) => headers.get('X-Furze-Recommendation')!);
    expect(Recommendation!.split('.')[1]).toMatch(/^(now|one)$/);
    expect(other!.split('.')[1]).toBe(Recommendation!.split('.')[1]);
    const seen = [{ UserId, Recommendation, Items: ['fresh'] }];
    expect((await b.call('POST', '/api/impressions', seen)).body).toEqual({ RowAffected: 1 });
    const like = { FeedbackType: 'like', UserId, ItemId: 'fresh', Timestamp: momentOf(0), Recommendation };
    await b.call('POST', '/api/feedback', [like]);
    const { body } = await a.call('GET', `/api/user/${UserId}/impressions`);
    expect(body).toHaveLength(2);
    expect(body.map((each: { FeedbackType?: string }) => each.FeedbackType).sort()).toEqual([
      'like',
      undefined,
    ]);
    await a.call('DELETE', `/api/user/${UserId}`);
    expect((await b.call('GET', `/api/user/${UserId}/impressions`)).body).toEqual([]);
  });

  test('an item that one hides or deletes is gone from the lists of the other', async () => {
    await a.call('POST', '/api/items', [
      { ItemId: 'h1', Timestamp: '2025-01-01' },
      { ItemId: 'h2', Timestamp: '2025-01-01' },
    ]);
    const latest = async () =>
      ((await freshAnswer(b, '/api/latest?n=100')).body as { Id: string }[]).map(({ Id }) => Id);
    expect(await latest()).toEqual(expect.arrayContaining(['h1', 'h2']));
    await a.call('PATCH', '/api/item/h1', { IsHidden: true });
    expect(await latest()).not.toContain('h1');
    await a.call('DELETE', '/api/item/h2');
    expect(await latest()).not.toContain('h2');
    expect((await freshAnswer(b, '/api/item/h2')).status).toBe(404);
  });

  test('both writing at once store everything, and show the same', async () => {
    const writes = Array.from({ length: 60 }, (_, at) =>
      (at % 2 === 0 ? a : b).call(
        'POST',
        '/api/feedback',
        Array.from({ length: 50 }, (_, i) => ({
          FeedbackType: 'like',
          UserId: `w${(at * 7 + i) % 90}`,
          ItemId: `n${(at + i * 3) % 70}`,
          Timestamp: '2024-02-02',
        })),
      ),
    );
    const written = (await Promise.all(writes)).map(({ body }) => body.RowAffected as number);
    const pages = await Promise.all(
      [a, b].map(
        async (node) => (await freshAnswer(node, '/api/feedback/like?n=10000')).body.Feedback as object[],
      ),
    );
    expect(pages[0]).toEqual(pages[1]);
    const fresh = pages[0]!.filter((each) => (each as { UserId: string }).UserId.startsWith('w'));
    expect(fresh).toHaveLength(written.reduce((sum, each) => sum + each, 0));
    const { schema } = parseDsn(dataStore) as PostgresDsn;
    const connection = await Connection.open(parseDsn(dataStore) as PostgresDsn, 'test');
    const twice = await connection.rows(
      `SELECT user_row FROM "${schema}".feedback GROUP BY user_row, item_row, type_time >> 52 HAVING count(*) > 1`,
    );
    await connection.close();
    expect(twice).toEqual([]);
  });

  test('a node that was away catches up, one without its copy makes a new one, and both show the same', async () => {
    await b.service.stop();
    await a.call('POST', '/api/users', [{ UserId: 'late' }]);
    await b.restart();
    expect((await freshAnswer(b, '/api/user/late')).body).toMatchObject({ UserId: 'late' });
    const third = await startTestServer({
      config: {
        database: { data_store: dataStore },
        recommend: { data_source: { positive_feedback_types: ['like'] } },
      },
    });
    const all = async (node: TestServer) =>
      (await freshAnswer(node, '/api/feedback?n=10000')).body.Feedback as object[];
    expect(byText(await all(third))).toEqual(byText(await all(a)));
    expect((await freshAnswer(third, '/api/items?n=1000')).body).toEqual(
      (await freshAnswer(a, '/api/items?n=1000')).body,
    );
    await third.stop();
  });
});

function byText(rows: readonly object[]): string[] {
  return rows.map((row) => JSON.stringify(row)).sort();
}

/** A moment of its own for each round. */
function momentOf(round: number): string {
  return new Date(Date.UTC(2020, 0, 1) + round * 1000).toISOString().replace('.000Z', 'Z');
}
