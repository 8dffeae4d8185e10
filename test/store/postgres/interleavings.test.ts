import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FurzeError } from '../../../src/domain/furze-error.ts';
import type { DataStore } from '../../../src/store/data-store.ts';
import type { Stores } from '../../../src/store/open/open-store.ts';
import { CommitLog } from '../../../src/store/postgres/commit-log.ts';
import { Connection } from '../../../src/store/postgres/connection.ts';
import { NodeSession } from '../../../src/store/postgres/node-session.ts';
import { type Operation, operation } from '../contract/operations.ts';
import { close, PLAIN_RULES, sorted, tempFolder, walk } from '../helpers.ts';
import { HAS_POSTGRES, newDsn, openNode } from './under-test.ts';

const NODES = 3;
const TABLES = ['users', 'items', 'feedback', 'notes', 'types', 'removals', 'changes', 'head'];

const at = fc.nat(NODES - 1);
const event = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('write' as const), at, operation }) },
  // Several nodes at once, over the same few users and items.
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('burst' as const),
      operations: fc.array(operation, { maxLength: 9 }),
    }),
  },
  // A node that is open and is not asked does not follow, as one whose thread stands still.
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('read' as const), at }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('restart' as const), at }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('stop' as const), at }) },
  // Commits say when they began, which is not in the order of their turns: any may be old.
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('prune' as const),
      old: fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'lead' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'standby' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'fail over' as const }) },
);

/** Nodes over one database, with all that can come between them. */
class Cluster {
  readonly dsn = newDsn();
  private readonly s = `"${this.dsn.schema}"`;
  private readonly folders = Array.from({ length: NODES }, () => tempFolder());
  private readonly nodes: (Promise<Stores> | undefined)[] = Array.from({ length: NODES });
  private readonly log = new CommitLog(this.dsn, PLAIN_RULES, 'disk');
  private connection!: Connection;
  private leader: NodeSession | undefined;
  private hasStandby = false;

  async open(): Promise<void> {
    for (let node = 0; node < NODES; node++) await this.node(node);
    this.connection = await Connection.open(this.dsn, 'test');
  }

  async node(node: number): Promise<DataStore> {
    this.nodes[node] ??= openNode(this.dsn, this.folders[node]!);
    return (await this.nodes[node]).data;
  }

  async write(node: number, operation: Operation): Promise<void> {
    if (operation === 'reopen') return;
    const data = await this.node(node);
    await data.write(operation()).catch((error: unknown) => {
      if (!(error instanceof FurzeError)) throw error;
      expect(error.code).not.toBe('INTERNAL');
    });
  }

  async stop(node: number): Promise<void> {
    const stores = this.nodes[node];
    this.nodes[node] = undefined;
    if (stores !== undefined) await close(await stores);
  }

  /** Some of the commits are as old as those that are not kept. */
  async prune(old: readonly boolean[]): Promise<void> {
    const positions = await this.connection.rows<[number]>(`SELECT position FROM ${this.s}.changes`);
    const chosen = positions.flatMap(([position]) => (old[position % old.length] ? [position] : []));
    await this.connection.rows(
      `UPDATE ${this.s}.changes SET at = now() - interval '25 hours' WHERE position = ANY($1::bigint[])`,
      [chosen],
    );
    await this.log.forgetOld();
    const kept = await this.connection.rows<[number]>(
      `SELECT position FROM ${this.s}.changes ORDER BY position`,
    );
    const [head] = await this.connection.rows<[number]>(`SELECT position FROM ${this.s}.head`);
    // A suffix of the history.
    expect(kept.map(([position]) => position)).toEqual(kept.map((_, i) => head![0] - kept.length + 1 + i));
  }

  async lead(): Promise<void> {
    await this.leader?.close();
    const facts = { name: 'n', role: 'all', version: '1', settings: {} } as const;
    this.leader = new NodeSession({ dsn: this.dsn, facts, position: () => 0 });
    await this.leader.start();
    expect(this.leader.epoch).toBeDefined();
  }

  /** Keeps what there is, as a standby has it that falls behind from now on. */
  async standby(): Promise<void> {
    for (const table of TABLES)
      await this.connection.run(
        `DROP TABLE IF EXISTS ${this.s}.standby_${table}; CREATE TABLE ${this.s}.standby_${table} AS TABLE ${this.s}.${table}`,
      );
    this.hasStandby = true;
  }

  async failOver(): Promise<void> {
    if (!this.hasStandby) return;
    const restore = TABLES.map(
      (table) =>
        `TRUNCATE ${this.s}.${table}; INSERT INTO ${this.s}.${table} SELECT * FROM ${this.s}.standby_${table};`,
    );
    await this.connection.run(`BEGIN; ${restore.join('\n')} COMMIT`);
  }

  async stored(): Promise<unknown> {
    const { s, connection } = this;
    const rows = <T extends readonly unknown[]>(text: string) => connection.rows<T>(text);
    const users = await rows<[number, string, object]>(
      `SELECT user_row, user_id, detail FROM ${s}.users ORDER BY user_id`,
    );
    const items = await rows<[number, string, object]>(
      `SELECT item_row, item_id, detail FROM ${s}.items ORDER BY item_id`,
    );
    const feedback = await rows<[string, string, string, number]>(
      `SELECT t.name, u.user_id, i.item_id, f.type_time & 4503599627370495 FROM ${s}.feedback f
       JOIN ${s}.users u USING (user_row) JOIN ${s}.items i USING (item_row)
       JOIN ${s}.types t ON t.type = (f.type_time >> 52 & 4095)`,
    );
    return {
      users: users.map(([row, UserId, detail]) => [row, { UserId, ...detail }]),
      items: items.map(([row, ItemId, detail]) => [row, { ItemId, ...detail }]),
      feedback: feedback
        .map(([type, user, item, time]) => `${type} ${user} ${item} ${time - 2 ** 51}`)
        .sort(),
    };
  }

  /** What a node shows; one that says that it cannot follow is started again. */
  async shown(node: number): Promise<unknown> {
    const data = await this.node(node);
    await data.barrier!.pass();
    if ((await data.ping().catch((error: unknown) => error)) !== undefined) {
      await this.stop(node);
      return 'started again';
    }
    const users = await walk(50, (n, cursor) => data.getUsers(n, cursor));
    const items = await walk(50, (n, cursor) => data.getItems(n, cursor));
    const feedback = sorted(await walk(50, (n, cursor) => data.getFeedbackPage(n, cursor)));
    return {
      users: users.map((user) => [data.local!.userRow(user.UserId), user]),
      items: items.map((item) => [data.local!.itemRow(item.ItemId), item]),
      feedback: feedback
        .map((each) => `${each.FeedbackType} ${each.UserId} ${each.ItemId} ${Date.parse(each.Timestamp)}`)
        .sort(),
    };
  }

  async close(): Promise<void> {
    for (let node = 0; node < NODES; node++) await this.stop(node);
    await this.leader?.close();
    await this.log.close();
    await this.connection.close();
  }
}

async function carryOut(
  cluster: Cluster,
  each: typeof event extends fc.Arbitrary<infer T> ? T : never,
): Promise<void> {
  switch (each.kind) {
    case 'write':
      return cluster.write(each.at, each.operation);
    case 'burst':
      await Promise.all(each.operations.map((one, at) => cluster.write(at % NODES, one)));
      return;
    case 'read': {
      const data = await cluster.node(each.at);
      await data.barrier!.pass();
      return;
    }
    case 'stop':
      return cluster.stop(each.at);
    case 'restart':
      await cluster.stop(each.at);
      await cluster.node(each.at);
      return;
    case 'prune':
      return cluster.prune(each.old);
    case 'lead':
      return cluster.lead();
    case 'standby':
      return cluster.standby();
    case 'fail over':
      return cluster.failOver();
  }
}

describe.skipIf(!HAS_POSTGRES)('prune, lag, restarts, leaders and failovers in any order', () => {
  test('leave every node equal to PostgreSQL, row for row', async () => {
    const numRuns = Number(process.env.INTERLEAVINGS ?? 3);
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 5, maxLength: 25 }), async (events) => {
        const cluster = new Cluster();
        await cluster.open();
        for (const each of events) await carryOut(cluster, each);
        const stored = await cluster.stored();
        for (let node = 0; node < NODES; node++) await expect.poll(() => cluster.shown(node)).toEqual(stored);
        await cluster.close();
      }),
      { numRuns, seed: 9, endOnFailure: true },
    );
  });
});
