import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type PostgresDsn, parseDsn } from '../../src/store/dsn.ts';
import { Connection } from '../../src/store/postgres/connection.ts';
import type { Answer, TestServer } from '../http/start.ts';
import { HAS_POSTGRES } from '../store/postgres/under-test.ts';
import { newPostgresDsn } from './dsn.ts';
import { freshAnswer, LIKES, PATIENT, servedGeneration, startNode } from './roles.ts';

describe.skipIf(!HAS_POSTGRES)('a server and workers over one PostgreSQL', () => {
  let server: TestServer;
  let worker: TestServer;
  let dataStore: string;

  const start = (role: 'server' | 'worker', name: string) => startNode(dataStore, role, name);
  const listOf = async (node: TestServer, user: string) =>
    (await node.call('GET', `/api/recommend/${user}?n=20`)).body as string[];

  beforeAll(async () => {
    dataStore = newPostgresDsn();
    server = await start('server', 's1');
    await server.call('POST', '/api/feedback', LIKES);
  });

  afterAll(async () => {
    await server?.stop();
    await worker?.stop();
  });

  test('a server does not learn', async () => {
    await expect(server.service.fit()).rejects.toThrow(/Another node leads/);
    expect(await servedGeneration(server)).toBeUndefined();
    const { Nodes, Troubles } = (await server.call('GET', '/api/admin/summary')).body;
    expect(Nodes).toMatchObject([{ Name: 's1', Role: 'server', Leads: false, Self: true, State: 'there' }]);
    expect(Troubles).toContainEqual(expect.objectContaining({ Code: 'no_leader' }));
    const refused = await server.call('POST', '/api/admin/fit');
    expect([refused.status, refused.body.detail]).toEqual([400, expect.stringMatching(/No node leads/)]);
  });

  test('it takes over what a worker has learned, and answers as that does', async () => {
    worker = await start('worker', 'w1');
    expect(await worker.service.fit()).toMatchObject({ unchanged: false, lists: 0 });
    await vi.waitFor(async () => expect(await servedGeneration(server)).toBe(1), PATIENT);
    const state = (await server.call('GET', '/api/admin/summary')).body;
    expect(state.Model.AgeSeconds).toBeGreaterThanOrEqual(0);
    expect(state.Troubles).not.toContainEqual(expect.objectContaining({ Code: 'no_leader' }));
    await vi.waitFor(async () => {
      const { Nodes } = (await server.call('GET', '/api/admin/summary')).body;
      expect(Nodes).toMatchObject([
        { Name: 's1', Generation: 1, CommitsBehind: 0 },
        { Name: 'w1', Role: 'worker', Leads: true, Self: false, Generation: 1, CommitsBehind: 0 },
      ]);
    }, PATIENT);
    const metrics = (await server.call('GET', '/metrics')).text;
    expect(metrics).toMatch(/^furze_cluster_has_leader 1$/m);
    expect(metrics).toMatch(/^furze_cluster_nodes\{role="worker"\} 1$/m);
    expect(metrics).toMatch(/^furze_published_generation 1$/m);
    for (const user of ['u1', 'u2', 'u33'])
      expect(await listOf(server, user)).toEqual(await listOf(worker, user));
  });

  test('a server that joins begins with the counts that the worker has published', async () => {
    const { schema, ...dsn } = parseDsn(dataStore) as PostgresDsn;
    const connection = await Connection.open({ schema, ...dsn }, 'test');
    const published = () =>
      connection.rows(`SELECT 1 FROM "${schema}".model_parts WHERE name = 'given/counts'`);
    await vi.waitFor(async () => expect(await published()).toHaveLength(1), PATIENT);
    // It cannot read all feedback.
    await connection.run(`ALTER TABLE "${schema}".feedback RENAME TO not_to_be_read`);
    const joined = await start('server', 's2');
    try {
      const types = async (node: TestServer) =>
        (await node.call('GET', '/api/admin/summary')).body.FeedbackTypes;
      const [{ Count }] = await types(worker);
      await vi.waitFor(
        async () => expect(await types(joined)).toMatchObject([{ Name: 'like', Count }]),
        PATIENT,
      );
      expect(Count).toBeGreaterThan(1000);
    } finally {
      await joined.stop();
      await connection.run(`ALTER TABLE "${schema}".not_to_be_read RENAME TO feedback`);
      await connection.close();
    }
  });

  test('what only a copy of everything tells, a server asks of a worker', async () => {
    await server.call('PUT', '/api/feedback', [{ ...LIKES[0], ItemId: 'new', UserId: 'u7' }]);
    for (const path of [
      '/api/user/u7/neighbors?n=5',
      '/api/item/new/neighbors?n=5',
      '/api/item/i3/neighbors?n=5',
    ]) {
      const [own, asked] = await Promise.all([worker, server].map((node) => freshAnswer(node, path)));
      // Scores out of a table that has travelled are rounded.
      const idsOf = ({ body }: Answer) => [path, ...body.map(({ Id }: { readonly Id: string }) => Id)];
      expect(idsOf(asked!)).toEqual(idsOf(own!));
      expect(asked!.body).not.toHaveLength(0);
    }
  });

  test('after a restart it serves the same generation at once', async () => {
    const before = await listOf(server, 'u5');
    await server.restart();
    expect(await servedGeneration(server)).toBe(1);
    expect(await listOf(server, 'u5')).toEqual(before);
  });

  test('a generation in a format of a later version is refused, and the last one stays', async () => {
    const dsn = parseDsn(dataStore) as PostgresDsn;
    const connection = await Connection.open(dsn, 'test');
    await connection.run(
      `UPDATE "${dsn.schema}".generation SET number = 2, mark = (mark::jsonb || '{"format": 9, "version": "9.0.0", "generation": 2}')::json`,
    );
    await connection.close();
    const told = /generation 2 has model format 9, of furze 9\.0\.0; this program reads/;
    await vi.waitFor(() => expect(server.lines.join('\n')).toMatch(told), PATIENT);
    expect(await servedGeneration(server)).toBe(1);
    expect(await listOf(server, 'u5')).not.toHaveLength(0);
  });

  test('when the worker is gone another takes its place, and learns the next generation', async () => {
    await worker.stop();
    worker = await start('worker', 'w2');
    await server.call('POST', '/api/feedback', [{ FeedbackType: 'like', UserId: 'u1', ItemId: 'i40' }]);
    // Asked of the server, it is done by the one that leads.
    await vi.waitFor(
      async () => expect((await server.call('POST', '/api/admin/fit')).status).toBeLessThan(300),
      PATIENT,
    );
    await vi.waitFor(async () => expect(await servedGeneration(server)).toBe(3), PATIENT);
  });
});
