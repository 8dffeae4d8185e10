import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Feedback } from '../../../src/domain/entities.ts';
import { typeTest } from '../../../src/recommend/history/counts-as-positive.ts';
import { PUBLISHED_COUNTS_NAME } from '../../../src/recommend/popularity/published-counts.ts';
import { SavedCounts } from '../../../src/recommend/popularity/saved-counts.ts';
import type { LocalReads } from '../../../src/store/data-store.ts';
import type { PostgresDsn } from '../../../src/store/dsn.ts';
import type { Stores } from '../../../src/store/open/open-store.ts';
import { Connection } from '../../../src/store/postgres/connection.ts';
import { recountFeedback } from '../../../src/threads/recount-feedback.ts';
import { close, feedback, passed, putFeedback, putItems, tempFolder } from '../helpers.ts';
import { HAS_POSTGRES, newDsn, openNode } from './under-test.ts';

const RULES = { positiveFeedbackTypes: ['rating>=4', 'like'], repeatedTypes: ['buy'] };
const SETTINGS = {
  positiveTypes: ['rating>=4', 'like'],
  windowMs: 86_400_000,
  ttlMs: Number.POSITIVE_INFINITY,
};

interface Node {
  readonly stores: Stores;
  /** @param at the database, where it is another */
  recount(publishes?: boolean, at?: PostgresDsn): Promise<Uint8Array>;
}

async function open(dsn: PostgresDsn, isPartial: boolean): Promise<Node> {
  const folder = tempFolder();
  const stores = await openNode(dsn, folder, RULES, isPartial);
  const givenUp = new Int32Array(new SharedArrayBuffer(4));
  const job = {
    kind: 'recount',
    ...SETTINGS,
    dataPath: join(folder, 'data'),
    cachePath: join(folder, 'cache'),
  } as const;
  return {
    stores,
    async recount(publishes = false, at = dsn) {
      const shared = { kind: 'postgres', dsn: at, epoch: 0, givenUp } as const;
      return (await recountFeedback({ ...job, shared, publishes, nowMs: Date.now() }))!;
    },
  };
}

/** What was counted, by names. */
function told(bytes: Uint8Array, reads: LocalReads): unknown {
  const counts = new SavedCounts(
    SETTINGS,
    Date.now,
    typeTest(SETTINGS.positiveTypes, () => reads.feedbackTypes()),
  );
  const { commit } = counts.restore(Uint8Array.from(bytes));
  const likes = Array.from(counts.popularity.ever.subarray(0, reads.itemRowCount));
  const types = reads.feedbackTypes();
  const byType = Object.fromEntries(
    Object.keys(types).map((type) => [types[Number(type)], counts.types.of(Number(type))]),
  );
  return { commit: commit > 0, likes, byType };
}

async function run(dsn: PostgresDsn, sql: string): Promise<void> {
  const connection = await Connection.open(dsn, 'test');
  await connection.run(sql.replaceAll('SCHEMA', `"${dsn.schema}"`));
  await connection.close();
}

/** As a node that has a copy of everything counts it, from the beginning. */
async function expected(dsn: PostgresDsn): Promise<unknown> {
  const node = await open(dsn, false);
  try {
    await passed(node.stores.data);
    return told(await node.recount(), node.stores.data.local);
  } finally {
    await close(node.stores);
  }
}

const rating = (user: string, item: string, Value: number): Feedback => ({
  ...feedback('rating', user, item),
  Value,
});

describe.skipIf(!HAS_POSTGRES)('counts that one node publishes', () => {
  test('are brought up to date by what was committed since, without reading all feedback', async () => {
    const dsn = newDsn();
    const [worker, server] = [await open(dsn, false), await open(dsn, true)];
    const { data } = worker.stores;
    await data.write(putItems(['a', 'b', 'c', 'd'].map((ItemId) => ({ ItemId }))));
    await data.write(putFeedback([rating('u1', 'a', 5), rating('u2', 'a', 2), feedback('buy', 'u1', 'b')]));
    await worker.recount(true);
    await data.write(putFeedback([feedback('like', 'u1', 'c'), feedback('view', 'u3', 'd')]));
    await data.write(putFeedback([rating('u2', 'a', 4), rating('u1', 'a', 1), feedback('buy', 'u1', 'b')]));
    await data.write({ kind: 'deleteFeedback', userId: 'u1', itemId: 'c', feedbackType: 'like' });
    await data.write(putFeedback([feedback('like', 'u4', 'd')]));
    await data.write({ kind: 'deleteUser', userId: 'u3' });
    await passed(server.stores.data);
    const wanted = await expected(dsn);
    await run(dsn, 'ALTER TABLE SCHEMA.feedback RENAME TO not_to_be_read');
    expect(told(await server.recount(), server.stores.data.local)).toEqual(wanted);
    await Promise.all([close(worker.stores), close(server.stores)]);
  });

  test.each([
    ['commits since then are not kept any more', 'DELETE FROM SCHEMA.changes'],
    ['they are damaged', `UPDATE SCHEMA.model_parts SET bytes = set_byte(bytes, length(bytes) - 1, 99)`],
    ['they are of another history', 'UPDATE SCHEMA.changes SET mark_before = 7'],
  ])('are passed over where %s: all feedback is read', async (_, sql) => {
    const dsn = newDsn();
    const [worker, server] = [await open(dsn, false), await open(dsn, true)];
    await worker.stores.data.write(putFeedback([feedback('like', 'u1', 'a'), rating('u2', 'b', 5)]));
    await worker.recount(true);
    await worker.stores.data.write(putFeedback([feedback('like', 'u2', 'a')]));
    await passed(server.stores.data);
    const wanted = await expected(dsn);
    await run(dsn, sql);
    expect(told(await server.recount(), server.stores.data.local)).toEqual(wanted);
    await Promise.all([close(worker.stores), close(server.stores)]);
  });

  test('are passed over where a removal goes on behind the commit that began it', async () => {
    const dsn = newDsn();
    const [worker, server] = [await open(dsn, false), await open(dsn, true)];
    const { data } = worker.stores;
    const many = Array.from({ length: 5000 }, (_, at) => feedback('like', 'u1', `i${at}`));
    await data.write(putFeedback([...many, feedback('like', 'u2', 'i0')]));
    await worker.recount(true);
    await data.write({ kind: 'deleteUser', userId: 'u1' });
    await passed(server.stores.data);
    const { likes } = told(await server.recount(), server.stores.data.local) as { likes: number[] };
    expect(likes.reduce((sum, count) => sum + count)).toBe(1);
    await Promise.all([close(worker.stores), close(server.stores)]);
  });

  test('are not waited for where the database is away', async () => {
    const dsn = newDsn();
    const worker = await open(dsn, false);
    await worker.stores.data.write(putFeedback([feedback('like', 'u1', 'a')]));
    let asked = 0;
    const away = createServer((socket) => {
      asked++;
      socket.destroy();
    });
    await once(away.listen(0, '127.0.0.1'), 'listening');
    const { port } = away.address() as AddressInfo;
    const elsewhere = { ...dsn, url: `postgres://furze@127.0.0.1:${port}/furze` };
    const counted = told(await worker.recount(true, elsewhere), worker.stores.data.local);
    expect(counted).toMatchObject({ byType: { like: 1 } });
    expect(asked).toBe(1);
    away.close();
    await close(worker.stores);
  });

  test('are told under a name that no generation takes away', () => {
    expect(PUBLISHED_COUNTS_NAME).toMatch(/^given\//);
  });
});
