import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { nodeTroubles } from '../../../src/admin/nodes.ts';
import { leaderOf, type NodeRole } from '../../../src/store/cluster.ts';
import type { PostgresDsn } from '../../../src/store/dsn.ts';
import { NotLeadingError } from '../../../src/store/model-store.ts';
import { Connection } from '../../../src/store/postgres/connection.ts';
import { ModelParts } from '../../../src/store/postgres/model-parts.ts';
import { NodeSession } from '../../../src/store/postgres/node-session.ts';
import { openSchema } from '../../../src/store/postgres/schema.ts';
import { HAS_POSTGRES, newDsn } from './under-test.ts';

let dsn: PostgresDsn;
let connection: Connection;
let sessions: NodeSession[];
let stores: ModelParts[];

beforeEach(async ({ skip }) => {
  if (!HAS_POSTGRES) skip();
  dsn = newDsn();
  connection = await Connection.open(dsn, 'test');
  await openSchema(connection, dsn.schema);
  sessions = [];
  stores = [];
});

afterEach(async () => {
  if (!HAS_POSTGRES) return;
  for (const each of [...sessions, ...stores]) await each.close();
  await connection.close();
});

async function join(name: string, role: NodeRole = 'all'): Promise<NodeSession> {
  const session = new NodeSession({
    dsn,
    facts: { name, role, version: '1.2.3', settings: {} },
    position: () => 0,
  });
  sessions.push(session);
  await session.start();
  return session;
}

function partsOf(epoch: number): ModelParts {
  const parts = new ModelParts(dsn, epoch);
  stores.push(parts);
  return parts;
}

/** Ends a session's connection, as PostgreSQL does with one that is paused; it does not come back by itself. */
async function cutOff(session: NodeSession): Promise<void> {
  Object.assign(session, { beat: async () => {} });
  await connection.rows(
    `SELECT pg_terminate_backend(l.pid) FROM pg_locks l WHERE l.locktype = 'advisory' AND l.objid = (hashtext($1)::bigint & 4294967295)::oid AND l.granted`,
    [`"${dsn.schema}"`],
  );
}

describe('nodes over one database', () => {
  test('one of those that may learn leads, and another when it stops', async () => {
    const server = await join('s', 'server');
    expect(server.epoch).toBeUndefined();
    const first = await join('a');
    const second = await join('b', 'worker');
    expect(first.epoch).toBe(1);
    expect(second.epoch).toBeUndefined();
    expect(leaderOf(second)).toMatchObject({ name: 'a', role: 'all', isSelf: false, version: '1.2.3' });
    await first.close();
    await vi.waitFor(() => expect(second.epoch).toBe(2), 600_000);
    expect(server.epoch).toBeUndefined();
    await vi.waitFor(() => expect(leaderOf(server)?.name).toBe('b'), 600_000);
    expect(server.nodes.map(({ name }) => name)).toEqual(['s', 'b']);
  });

  test('a leader that was cut off can store no parts and publish nothing under its epoch', async () => {
    const first = await join('a');
    await first.publish({ number: 1, manifest: { of: 'a' } }, [], 1);
    await cutOff(first);
    const second = await join('b');
    await vi.waitFor(() => expect(second.epoch).toBe(2), 600_000);
    expect(first.epoch).toBe(1);
    await expect(partsOf(1).putBlob('als/2-1', new Uint8Array(8))).rejects.toThrow(NotLeadingError);
    await expect(first.publish({ number: 2, manifest: {} }, [], 1)).rejects.toThrow(NotLeadingError);
    expect(await second.readPublished()).toEqual({ number: 1, manifest: { of: 'a' } });
    await second.publish({ number: 2, manifest: { of: 'b' } }, [], 2);
    expect(await first.readPublished()).toEqual({ number: 2, manifest: { of: 'b' } });
  });

  test('a leader that lost its connection goes on under its epoch', async () => {
    const first = await join('a');
    const second = await join('b');
    await connection.rows(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'furze node'`,
    );
    const turns: (number | undefined)[] = [];
    first.onTurn(() => turns.push(first.epoch));
    await expect(first.publish({ number: 1, manifest: {} }, [], 1)).resolves.toBeUndefined();
    await vi.waitFor(() => expect(second.published).toBe(1), 600_000);
    expect(turns).not.toContain(undefined);
    expect([first.epoch, second.epoch]).toEqual([1, undefined]);
  });

  test('parts of several chunks come back as they were, and go with the generation after the next', async () => {
    const leader = await join('a');
    const parts = partsOf(leader.epoch!);
    const large = new Uint8Array(2.5 * 2 ** 20).map((_, at) => at * 7);
    for (const number of [1, 2, 3]) {
      await parts.putBlob(`als/${number}`, large.fill(number, 0, 100));
      await parts.putBlob(`empty/${number}`, new Uint8Array(0));
      await leader.publish({ number, manifest: {} }, [`als/${number}`, `empty/${number}`], 1);
    }
    expect(Buffer.compare((await partsOf(-1).getBlob('als/3'))!, large)).toBe(0);
    expect(await parts.getBlob('empty/3')).toEqual(new Uint8Array(0));
    const kept = await connection.rows(`SELECT DISTINCT name FROM "${dsn.schema}".model_parts ORDER BY name`);
    expect(kept.flat()).toEqual(['als/2', 'als/3', 'empty/2', 'empty/3']);
    expect(await parts.getBlob('als/1')).toBeUndefined();
  });

  test('what is published twice, since its answer was lost, keeps the parts of the generation before', async () => {
    const leader = await join('a');
    const parts = partsOf(1);
    for (const number of [1, 2, 2]) {
      if ((await parts.getBlob(`als/${number}`)) === undefined)
        await parts.putBlob(`als/${number}`, new Uint8Array(8));
      await leader.publish({ number, manifest: {} }, [`als/${number}`], 1);
    }
    expect(await parts.getBlob('als/1')).toHaveLength(8);
  });

  test('what was learned under an older epoch is not published by a node that leads again', async () => {
    const node = await join('a');
    await connection.run(`UPDATE "${dsn.schema}".generation SET epoch = 7`);
    await vi.waitFor(() => expect(node.epoch).not.toBe(1), 600_000);
    await expect(node.publish({ number: 1, manifest: {} }, [], 1)).rejects.toThrow(NotLeadingError);
    await node.publish({ number: 1, manifest: {} }, [], 7);
  });

  test('a node with other settings than the leader says which from its start on, as do all, until there is one kind', async () => {
    const joinWith = async (name: string, settings: Record<string, string>) => {
      const facts = { name, role: 'all', version: '1', settings } as const;
      const session = new NodeSession({ dsn, facts, position: () => 0 });
      sessions.push(session);
      await session.start();
      return session;
    };
    const leader = await joinWith('a', { 'recommend.x': '1', 'recommend.y': '2' });
    const other = await joinWith('b', { 'recommend.x': '3', 'vectors.v': '4' });
    const differs = [
      {
        Code: 'settings_differ',
        Message: expect.stringContaining('b: recommend.x, recommend.y, vectors.v.'),
      },
    ];
    expect(nodeTroubles(other)).toMatchObject(differs);
    await vi.waitFor(() => expect(leader.nodes).toHaveLength(2), 600_000);
    expect(nodeTroubles(leader)).toMatchObject(differs);
    await leader.close();
    // The one that is left goes by its own.
    const codes = () => nodeTroubles(other).map(({ Code }) => Code);
    await vi.waitFor(() => expect(codes()).not.toContain('settings_differ'), 600_000);
  });

  test('a node that gets the lock and cannot say that it leads lets go of it', async () => {
    const generation = `"${dsn.schema}".generation`;
    const session = new NodeSession({
      dsn,
      facts: { name: 'a', role: 'all', version: '1', settings: {} },
      position: () => 0,
    });
    sessions.push(session);
    await connection.run(`ALTER TABLE ${generation} RENAME COLUMN leader TO other`);
    await expect(session.start()).rejects.toThrow(/leader/);
    const mine = await connection.rows('SELECT pg_try_advisory_xact_lock($1, hashtext($2))', [
      0x66757a6c,
      `"${dsn.schema}"`,
    ]);
    expect(mine).toEqual([[true]]);
    await connection.run(`ALTER TABLE ${generation} RENAME COLUMN other TO leader`);
    await session.start();
    expect(session.epoch).toBe(1);
  });
});
