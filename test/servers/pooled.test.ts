import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { TestServer } from '../http/start.ts';
import { HAS_POSTGRES } from '../store/postgres/under-test.ts';
import { newPostgresDsn } from './dsn.ts';
import { hasPool, startPool, type TestPool } from './pgbouncer.ts';
import { freshAnswer, LIKES, PATIENT, servedGeneration, startNode } from './roles.ts';

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
    const node = await startNode(dataStore, role, name);
    nodes.push(node);
    return node;
  };
  const leaders = async (node: TestServer) =>
    ((await node.call('GET', '/api/admin/summary')).body.Nodes as { Name: string; Leads: boolean }[])
      .filter(({ Leads }) => Leads)
      .map(({ Name }) => Name);

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
    expect((await a.call('POST', '/api/feedback', LIKES)).status).toBe(200);
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
      expect((await to.call('POST', '/api/feedback', [record])).status).toBe(200);
      const shown = await freshAnswer(from, `/api/user/u${round}/feedback/like`);
      expect(shown.body).toContainEqual(expect.objectContaining({ ItemId: record.ItemId }));
    }
    const first = await start('worker', 'w1');
    await vi.waitFor(async () => expect(await leaders(a)).toEqual(['w1']), PATIENT);
    const second = await start('worker', 'w2');
    expect(await first.service.fit()).toMatchObject({ unchanged: false });
    for (const node of [a, b, second])
      await vi.waitFor(async () => expect(await servedGeneration(node)).toBe(1), PATIENT);
    expect(await leaders(b)).toEqual(['w1']);
    await first.stop();
    await vi.waitFor(async () => expect(await leaders(a)).toEqual(['w2']), PATIENT);
    await b.call('POST', '/api/feedback', [{ FeedbackType: 'like', UserId: 'u1', ItemId: 'i40' }]);
    expect(await second.service.fit()).toMatchObject({ unchanged: false });
    await vi.waitFor(async () => expect(await servedGeneration(a)).toBe(2), PATIENT);
  });
});
