import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { PostgresDsn } from '../../../src/store/dsn.ts';
import { CommitLog } from '../../../src/store/postgres/commit-log.ts';
import { Connection } from '../../../src/store/postgres/connection.ts';
import { openSchema } from '../../../src/store/postgres/schema.ts';
import { PLAIN_RULES } from '../helpers.ts';
import { HAS_POSTGRES, newDsn } from './under-test.ts';

/** What follows on a query of a client, and ends its implicit transaction. */
const SYNC = Buffer.from([0x53, 0, 0, 0, 4]);

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A way to the database that stands still once a text has passed, and keeps back what `split` takes off the end of it. */
async function stallingWay(dsn: PostgresDsn, text: string, keptBack: number) {
  const real = new URL(dsn.url);
  let goOn = () => {};
  let stalled = () => {};
  let isOver = false;
  const hasStalled = new Promise<void>((resolve) => {
    stalled = resolve;
  });
  const sockets: Socket[] = [];
  const server = createServer((near) => {
    const far = connect(Number(real.port), real.hostname);
    sockets.push(
      near.on('error', () => {}),
      far.on('error', () => {}),
    );
    near.on('data', (bytes: Buffer) => {
      if (isOver || !bytes.includes(text)) return void far.write(bytes);
      isOver = true;
      const end = bytes.length - keptBack;
      far.write(bytes.subarray(0, end));
      near.pause();
      far.pause();
      goOn = () => {
        far.write(bytes.subarray(end));
        near.resume();
        far.resume();
      };
      stalled();
    });
    far.on('data', (bytes) => near.write(bytes));
    near.on('close', () => far.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const through = new URL(dsn.url);
  through.port = String((server.address() as AddressInfo).port);
  return { dsn: { ...dsn, url: through.href }, hasStalled, goOn: () => goOn() };
}

const likeOf = (UserId: string) =>
  ({
    kind: 'putFeedback',
    overwrite: false,
    feedback: [{ FeedbackType: 'like', UserId, ItemId: 'i', Timestamp: '2024-01-01T00:00:00Z', Comment: '' }],
  }) as const;

describe.skipIf(!HAS_POSTGRES)('a node that stands still', () => {
  test.each([
    ['while it reads what a group concerns', 'read_group', 0],
    ['before its turn', 'CALL ', SYNC.length + 60],
    ['in its turn', 'CALL ', SYNC.length],
    ['after its turn', 'CALL ', 0],
  ])('%s holds up nobody', async (_, text, keptBack) => {
    const dsn = newDsn();
    const connection = await Connection.open(dsn, 'test');
    await openSchema(connection, dsn.schema);
    const way = await stallingWay(dsn, text, keptBack);
    const still = new CommitLog(way.dsn, PLAIN_RULES, 'disk');
    const other = new CommitLog(dsn, PLAIN_RULES, 'disk');
    const held = still.write([likeOf('held')]);
    await way.hasStalled;
    // These are answered while the first one stands still.
    for (const userId of ['a', 'b', 'held'])
      expect((await other.write([likeOf(userId)])).answers).toMatchObject([{}]);
    way.goOn();
    await held;
    const users = await connection.rows<[string]>(
      `SELECT user_id FROM "${dsn.schema}".users JOIN "${dsn.schema}".feedback USING (user_row) ORDER BY 1`,
    );
    expect(users).toEqual([['a'], ['b'], ['held']]);
    await Promise.all([still.close(), other.close(), connection.close()]);
  });
});

describe.skipIf(!HAS_POSTGRES)('two nodes that write the same at once', () => {
  test('store each pair once, count it once, and number users and items without a gap', async () => {
    const dsn = newDsn();
    const connection = await Connection.open(dsn, 'test');
    await openSchema(connection, dsn.schema);
    const logs = Array.from({ length: 4 }, () => new CommitLog(dsn, PLAIN_RULES, 'commit'));
    let counted = 0;
    await Promise.all(
      logs.map(async (log) => {
        for (let round = 0; round < 15; round++) {
          const feedback = Array.from({ length: 40 }, (_, at) => ({
            ...likeOf(`u${round}-${at}`).feedback[0]!,
            ItemId: `i${(round * at) % 23}`,
          }));
          const { answers } = await log.write([{ kind: 'putFeedback', overwrite: false, feedback }]);
          counted += (answers[0] as { rowAffected: number }).rowAffected;
        }
      }),
    );
    const s = `"${dsn.schema}"`;
    const [sums] = await connection.rows(
      `SELECT (SELECT count(*) FROM ${s}.feedback), (SELECT count(*) FROM ${s}.users), (SELECT max(user_row) + 1 FROM ${s}.users),
         (SELECT next_user_row FROM ${s}.head), (SELECT count(*) FROM ${s}.items), (SELECT next_item_row FROM ${s}.head)`,
    );
    expect(sums).toEqual([600, 600, 600, 600, 23, 23]);
    expect(counted).toBe(600);
    await Promise.all([connection.close(), ...logs.map((log) => log.close())]);
  });
});
