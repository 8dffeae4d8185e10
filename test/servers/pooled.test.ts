import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startTestServer, type TestServer } from '../http/start.ts';
import { HAS_POSTGRES } from '../store/postgres/under-test.ts';
import { newPostgresDsn } from './dsn.ts';
import { hasPool, startPool, type TestPool } from './pgbouncer.ts';

const PATIENT = { timeout: 50_000, interval: 100 };
const IS_HERE = HAS_POSTGRES && hasPool();
if (HAS_POSTGRES && !IS_HERE)
  console.warn(
    'SKIPPED the test behind a pool: there is no PgBouncer on this machine (apt-get install pgbouncer)',
  );

describe.skipIf(!IS_HERE)('nodes behind a pool that lends connections by transaction', () => {
  let pool: TestPool;
  let dataStore: string;
  const nodes: TestServer[] = [];

  const start = async (role: 'server' | 'worker', name: string) => {
    const node = await startTestServer({
      config: {
        node: { role, name },
        database: { data_store: dataStore },
        recommend: {
          data_source: { positive_feedback_types: ['like'] },
          collaborative: { factors: 8, epochs: 3 },
          offline: { enable_click_through_prediction: false },
        },
      },
    });
    nodes.push(node);
    return node;
  };
  const leaders = async (node: TestServer) =>
    ((await node.call('GET', '/api/admin/summary')).body.Nodes as { Name: string; Leads: boolean }[])
      .filter(({ Leads }) => Leads)
      .map(({ Name }) => Name);
  const served = async (node: TestServer) =>
    (await node.call('GET', '/api/admin/summary')).body.Model?.Generation as number | undefined;

  beforeAll(async () => {
    const url = new URL(newPostgresDsn());
    pool = await startPool(url.href);
    url.searchParams.set('direct', url.host);
    url.host = pool.host;
    dataStore = url.href;
  });

  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await pool?.stop();
  });

  test('reads follow writes, one leads, learns and is followed, and the next takes its place', async () => {
    const a = await start('server', 's1');
    const likes = Array.from({ length: 1200 }, (_, at) => ({
      FeedbackType: 'like',
      UserId: `u${at % 100}`,
      ItemId: `i${((at % 3) + 3 * ((at * 7) % 19)) % 57}`,
      Timestamp: new Date(Date.UTC(2024, 0, 1) + at * 60_000).toISOString(),
    }));
    expect((await a.call('POST', '/api/feedback', likes)).status).toBe(200);
    // Its copy is made by way of the pool, too.
    const b = await start('server', 's2');
    for (let round = 0; round < 60; round++) {
      const [to, from] = round % 2 === 0 ? [a, b] : [b, a];
      const record = {
        FeedbackType: 'like',
        UserId: `u${round}`,
        ItemId: `n${round}`,
        Timestamp: '2024-03-01',
      };
      await to.call('POST', '/api/feedback', [record]);
      const shown = await from.call('GET', `/api/user/u${round}/feedback/like`);
      expect(shown.body).toContainEqual(expect.objectContaining({ ItemId: record.ItemId }));
      expect(shown.headers.get('x-furze-stale')).toBeNull();
    }
    const first = await start('worker', 'w1');
    await vi.waitFor(async () => expect(await leaders(a)).toEqual(['w1']), PATIENT);
    const second = await start('worker', 'w2');
    expect(await first.service.fit()).toMatchObject({ unchanged: false });
    for (const node of [a, b, second])
      await vi.waitFor(async () => expect(await served(node)).toBe(1), PATIENT);
    expect(await leaders(b)).toEqual(['w1']);
    await first.stop();
    await vi.waitFor(async () => expect(await leaders(a)).toEqual(['w2']), PATIENT);
    await b.call('POST', '/api/feedback', [{ FeedbackType: 'like', UserId: 'u1', ItemId: 'i40' }]);
    expect(await second.service.fit()).toMatchObject({ unchanged: false });
    await vi.waitFor(async () => expect(await served(a)).toBe(2), PATIENT);
  });
});
