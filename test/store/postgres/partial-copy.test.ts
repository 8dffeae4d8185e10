import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FurzeError } from '../../../src/domain/furze-error.ts';
import { readPositiveKinds } from '../../../src/domain/positive-feedback-types.ts';
import { decodeParts, encodeParts } from '../../../src/store/commit-effects.ts';
import { type ChangeSet, type DataStore, FeedbackColumns } from '../../../src/store/data-store.ts';
import type { PostgresDsn } from '../../../src/store/dsn.ts';
import type { LmdbDataReader } from '../../../src/store/lmdb/reads/lmdb-data-reader.ts';
import { openDataTables } from '../../../src/store/lmdb/tables/data-tables.ts';
import { checkStore } from '../../../src/store/open/open-store.ts';
import { openReader } from '../../../src/store/open/thread-stores.ts';
import { Connection } from '../../../src/store/postgres/connection.ts';
import { readAllFeedback } from '../../../src/store/postgres/count-feedback.ts';
import { PartialCopy } from '../../../src/store/postgres/partial-copy.ts';
import { prepareReplica } from '../../../src/store/postgres/replica-start.ts';
import { type StoredUsers, UserQueries } from '../../../src/store/postgres/user-queries.ts';
import { scanAllFeedback } from '../../../src/store/scan-feedback.ts';
import { operation } from '../contract/operations.ts';
import { close, feedback, passed, putFeedback, putItems, putUsers, tempFolder, walk } from '../helpers.ts';
import { HAS_POSTGRES, newDsn, openNode } from './under-test.ts';

const RULES = { positiveFeedbackTypes: ['rating>=4', 'like'], repeatedTypes: ['buy'] };
const KINDS = readPositiveKinds(RULES.positiveFeedbackTypes);

/** A node with a copy of everything and one with a copy of items alone. */
async function openBoth(dsn: PostgresDsn = newDsn()): Promise<{ whole: DataStore; partial: DataStore }> {
  const whole = (await openNode(dsn, tempFolder(), RULES)).data;
  const partial = (await openNode(dsn, tempFolder(), RULES, true)).data;
  return { whole, partial };
}

/** What a node shows of a user, by names. */
function shown({ local }: DataStore, userId: string): unknown {
  const row = local.userRow(userId);
  if (row < 0) return undefined;
  const columns = new FeedbackColumns();
  local.readUserFeedback(row, columns);
  const types = local.feedbackTypes();
  const records = Array.from(
    columns.timesMs.subarray(0, columns.length),
    (timeMs, at) => `${local.itemIdAt(columns.itemRows[at]!)} ${types[columns.types[at]!]} ${timeMs}`,
  );
  return [row, local.userAt(row), records.sort()];
}

/** Events that a node has been told of, less those that went. */
class Told {
  private readonly counts = new Map<string, number>();

  follow({ added, removed, feedbackTypes }: ChangeSet): undefined {
    for (const [columns, sign] of [
      [removed, -1],
      [added, 1],
    ] as const)
      for (let at = 0; at < columns.length; at++)
        this.add(columns, at, feedbackTypes[columns.types[at]!]!, sign);
  }

  add({ userRows, itemRows, timesMs }: FeedbackColumns, at: number, type: string, sign: number): void {
    const key = `${userRows[at]} ${itemRows[at]} ${type} ${timesMs[at]}`;
    const count = (this.counts.get(key) ?? 0) + sign;
    if (count === 0) this.counts.delete(key);
    else this.counts.set(key, count);
  }

  get sorted(): string[] {
    return Array.from(this.counts, ([key, count]) => `${key} x${count}`).sort();
  }
}

describe.skipIf(!HAS_POSTGRES)('a copy of items alone', () => {
  test('a user is as any node has last written, once asked for', async () => {
    const { whole, partial } = await openBoth();
    expect(partial.local.isPartial).toBe(true);
    await whole.write(putItems([{ ItemId: 'a' }, { ItemId: 'b' }]));
    await whole.write(putUsers([{ UserId: 'u', Labels: ['x'] }]));
    await whole.write(
      putFeedback([feedback('like', 'u', 'a'), feedback('rating', 'u', 'b', { Value: 5, Comment: 'ü' })]),
    );
    expect(partial.local.userRow('u')).toBe(-1);
    await passed(partial, ['u', 'nobody']);
    expect(shown(partial, 'u')).toEqual(shown(whole, 'u'));
    expect(partial.local.userRow('nobody')).toBe(-1);
    const row = partial.local.userRow('u');
    expect([partial.local.isKnown(row), partial.local.isKnown(-1)]).toEqual([true, false]);
    await whole.write(putFeedback([feedback('like', 'u', 'b')]));
    await passed(partial);
    expect(partial.local.isKnown(row)).toBe(false);
    for (const node of [whole, partial]) {
      await node.write(putFeedback([feedback('like', 'u', 'b')]));
      await node.write({ kind: 'deleteFeedback', feedbackType: 'like', userId: 'u', itemId: 'b' });
      await node.write({
        kind: 'patchUser',
        userId: 'u',
        json: Uint8Array.from(Buffer.from('{"Labels":["y"]}')),
      });
      await node.write(
        putFeedback([
          feedback('buy', 'u', 'c'),
          feedback('buy', 'u', 'c', { Timestamp: '2024-01-01T00:00:00Z' }),
        ]),
      );
      for (const each of [whole, partial]) await passed(each, ['u']);
      expect(shown(partial, 'u')).toEqual(shown(whole, 'u'));
    }
    await whole.write({ kind: 'deleteItem', itemId: 'b' });
    await passed(partial, ['u']);
    expect(shown(partial, 'u')).toEqual(shown(whole, 'u'));
    await whole.write({ kind: 'deleteUser', userId: 'u' });
    await passed(partial, ['u']);
    expect(partial.local.userRow('u')).toBe(-1);
    await partial.write(putUsers([{ UserId: 'u' }]));
    for (const each of [whole, partial]) await passed(each, ['u']);
    expect(shown(partial, 'u')).toEqual(shown(whole, 'u'));
    expect(await partial.getStats()).toMatchObject({ users: 1, items: 2, feedback: 0 });
  });

  test('whatever is written where, it shows users and tells of events as a whole copy does', async () => {
    const step = fc.record({ at: fc.nat(1), operation });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const dsn = newDsn();
        const nodes = [
          await openNode(dsn, tempFolder(), RULES),
          await openNode(dsn, tempFolder(), RULES, true),
        ];
        const [whole, partial] = nodes.map(({ data }) => data) as [DataStore, DataStore];
        const told = [new Told(), new Told()];
        for (const [at, { data }] of nodes.entries()) data.onChange((changes) => told[at]!.follow(changes));
        for (const { at, operation: next } of steps) {
          if (next === 'reopen') continue;
          await nodes[at]!.data.write(next()).catch((error: unknown) => {
            if (!(error instanceof FurzeError) || error.code === 'INTERNAL') throw error;
          });
          const users = await walk(100, (n, cursor) => partial.getUsers(n, cursor));
          const ids = users.map(({ UserId }) => UserId);
          await Promise.all([passed(whole), passed(partial, [...ids, 'u0', 'u1'])]);
          for (const id of ids) expect(shown(partial, id)).toEqual(shown(whole, id));
        }
        expect(told[1]!.sorted).toEqual(told[0]!.sorted);
        expect(await partial.getStats()).toMatchObject({
          ...(await whole.getStats()),
          bytes: expect.anything(),
        });
        for (const each of nodes) await close(each);
      }),
      { numRuns: 15 },
    );
  });

  test('many readers and writers at once never see less of a user than was answered before', async () => {
    const { whole, partial } = await openBoth();
    const users = Array.from({ length: 5 }, (_, at) => `u${at}`);
    const written = new Map(users.map((user) => [user, 0]));
    const write = async (node: DataStore, from: number) => {
      for (let at = 0; at < 40; at++) {
        const user = users[(from + at) % users.length]!;
        await node.write(putFeedback([feedback('like', user, `i${from}-${at}`)]));
        written.set(user, written.get(user)! + 1);
      }
    };
    let isOver = false;
    const read = async () => {
      const columns = new FeedbackColumns();
      for (let at = 0; !isOver; at++) {
        const user = users[at % users.length]!;
        const least = written.get(user)!;
        await passed(partial, [user]);
        const row = partial.local.userRow(user);
        columns.clear();
        if (row >= 0) partial.local.readUserFeedback(row, columns);
        expect(partial.barrier!.isUnsure || columns.length >= least).toBe(true);
      }
    };
    const readers = [read(), read(), read()];
    await Promise.all([write(whole, 0), write(partial, 1), write(partial, 2)]);
    isOver = true;
    await Promise.all(readers);
    await passed(partial, users);
    await passed(whole);
    for (const user of users) expect(shown(partial, user)).toEqual(shown(whole, user));
  });

  test('a walk of a user who is let go of meanwhile is no whole list, and one of a user who is deleted ends', async () => {
    const dsn = newDsn();
    const whole = (await openNode(dsn, tempFolder(), RULES)).data;
    const folder = tempFolder();
    const partial = (await openNode(dsn, folder, RULES, true)).data;
    const all = Array.from({ length: 250 }, (_, at) => feedback('like', 'u', `i${at}`));
    const read = async (meanwhile: () => Promise<unknown>) => {
      await whole.write(putFeedback(all));
      let [count, isBegun] = [0, false];
      for await (const rows of partial.walkUserFeedback('u')) {
        count += rows.length;
        if (!isBegun) await meanwhile();
        isBegun = true;
      }
      return count;
    };
    expect(await read(async () => {})).toBe(250);
    expect(await read(() => whole.write({ kind: 'deleteUser', userId: 'u' }))).toBeLessThan(251);
    await passed(partial, ['u']);
    expect(await partial.getPairFeedback('u', 'i0')).toEqual([]);
    const letGo = async () => {
      const tables = openDataTables(join(folder, 'data'));
      tables.engine.transact(() => tables.userIds.clearSync());
      await tables.engine.close();
      partial.local.refresh();
    };
    await expect(read(letGo)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });

  test('after a restart it goes on with what it holds, and lets go of users', async () => {
    const dsn = newDsn();
    const folder = tempFolder();
    const { whole } = await openBoth(dsn);
    const stores = await openNode(dsn, folder, RULES, true);
    await whole.write(putFeedback([feedback('like', 'u', 'a')]));
    await passed(stores.data, ['u']);
    const { identity } = stores;
    await close(stores);
    await whole.write(putFeedback([feedback('like', 'v', 'b')]));
    const again = await openNode(dsn, folder, RULES, true);
    expect(again.identity).toBe(identity);
    expect(again.data.local.userRow('u')).toBe(-1);
    expect(again.data.local.itemRow('b')).toBeGreaterThanOrEqual(0);
    await passed(again.data, ['u', 'v']);
    for (const user of ['u', 'v']) expect(shown(again.data, user)).toEqual(shown(whole, user));
    await close(again);
    expect(await checkStore('data', join(folder, 'data'))).toMatchObject({ faults: [] });
    await expect(openReader(join(folder, 'data'))).rejects.toThrow(/a server's copy/);
    // The same folder as a copy of everything, and back.
    const all = await openNode(dsn, folder, RULES);
    expect(all.data.local.isPartial).toBe(false);
    expect(shown(all.data, 'v')).toEqual(shown(whole, 'v'));
    await close(all);
    const back = openNode(dsn, folder, RULES, true);
    expect((await back).data.local.userRow('v')).toBe(-1);
  });

  test('all feedback is read out of the database as a whole copy has it', async () => {
    const { whole, partial } = await openBoth();
    const records = Array.from({ length: 60 }, (_, at) =>
      feedback(['like', 'rating', 'buy'][at % 3]!, `u${at % 7}`, `i${at % 11}`, {
        Value: at % 6,
        Timestamp: new Date(1.7e12 + at * 1000).toISOString(),
      }),
    );
    await whole.write(putFeedback(records));
    for (const { UserId, ItemId } of records.slice(0, 20))
      await whole.write(
        putFeedback([feedback('buy', UserId, ItemId, { Timestamp: '2024-02-03T00:00:00Z' })]),
      );
    await whole.write({ kind: 'deleteUser', userId: 'u3' });
    await passed(partial);
    const read = new Told();
    const dsn = (partial as unknown as { link: { dsn: PostgresDsn } }).link.dsn;
    const position = await readAllFeedback(dsn, partial as unknown as LmdbDataReader, (block) => {
      const types = partial.local.feedbackTypes();
      for (let at = 0; at < block.length; at++) read.add(block, at, types[block.types[at]!]!, 1);
    });
    const kept = new Told();
    const types = whole.local.feedbackTypes();
    scanAllFeedback(whole.local, (block) => {
      for (let at = 0; at < block.length; at++) kept.add(block, at, types[block.types[at]!]!, 1);
    });
    for (const { userRow, itemRow, type, occurrences } of whole.local.repeatedFeedback())
      for (const { timeMs } of occurrences.slice(0, -1)) {
        const columns = new FeedbackColumns(1);
        columns.push(userRow, itemRow, type, timeMs);
        kept.add(columns, 0, types[type]!, 1);
      }
    expect(read.sorted).toEqual(kept.sorted);
    expect(position).toEqual(partial.local.feedbackPosition);
    let since = 0;
    await whole.write(putFeedback([feedback('like', 'u1', 'new')]));
    await passed(partial);
    expect(partial.local.replayFeedback(position, (columns) => (since += columns.length))).toBe(true);
    expect(since).toBe(1);
  });

  test('a copy is whole after a kill, and made anew once the machine has gone down over it', async () => {
    const dsn = newDsn();
    const { whole } = await openBoth(dsn);
    await whole.write(putItems([{ ItemId: 'a' }]));
    const folder = tempFolder();
    const note = join(folder, 'data', 'unflushed');
    const file = join(folder, 'data', 'data.mdb');
    const node = await openNode(dsn, folder, RULES, true);
    await whole.write(putItems([{ ItemId: 'b' }]));
    await passed(node.data);
    const run = readFileSync(note, 'utf8');
    cpSync(file, join(folder, 'killed.mdb'));
    await close(node);
    expect(existsSync(note)).toBe(false);
    const items = async (noted: string, bytes: Uint8Array) => {
      writeFileSync(note, noted);
      writeFileSync(file, bytes);
      const copied: number[] = [];
      await prepareReplica(dsn, join(folder, 'data'), (records) => copied.push(records), KINDS);
      const tables = openDataTables(join(folder, 'data'));
      const found = [...tables.itemIds.getKeys()].map(String);
      await tables.engine.close();
      return { found, copies: copied.length };
    };
    const whatever = readFileSync(join(folder, 'killed.mdb'));
    whatever.fill(7, 4096 * 2);
    expect(await items('another run', whatever)).toEqual({ found: ['a', 'b'], copies: 1 });
    expect(await items(run, readFileSync(join(folder, 'killed.mdb')))).toEqual({
      found: ['a', 'b'],
      copies: 0,
    });
  });

  test('users who were asked for long ago are let go of, and not before a minute has passed', async () => {
    const dsn = newDsn();
    const { whole } = await openBoth(dsn);
    const ids = Array.from({ length: 12 }, (_, at) => `u${at}`);
    await whole.write(putFeedback(ids.map((id) => feedback('like', id, 'a', { Value: 1 }))));
    const folder = tempFolder();
    await close(await openNode(dsn, folder, RULES, true));
    const tables = openDataTables(`${folder}/data`);
    let nowMs = 0;
    const copy = new PartialCopy(tables, 4, () => nowMs);
    const connection = await Connection.open(dsn, 'test');
    const queries = new UserQueries(`"${dsn.schema}"`);
    const take = async (from: number, to: number): Promise<StoredUsers> => {
      const asked = { ids: ids.slice(from, to), rows: [] };
      const stored = await queries.load(connection, asked.ids, asked.rows);
      expect(copy.take(stored, asked).again.ids).toEqual([]);
      return stored;
    };
    const isKnown = (id: string) => copy.isKnown(whole.local.userRow(id));
    await take(0, 6);
    expect(ids.filter(isKnown)).toHaveLength(6);
    nowMs += 61_000;
    await take(6, 8);
    await take(8, 9);
    nowMs += 61_000;
    await take(9, 11);
    expect(ids.filter(isKnown)).toEqual(ids.slice(8, 11));
    expect(copy.hasSlices).toBe(false);
    expect([...copy.takeForgotten()].sort((a, b) => a - b)).toHaveLength(8);
    nowMs += 61_000;
    await take(11, 12);
    await take(0, 2);
    expect(copy.hasSlices).toBe(true);
    while (copy.hasSlices) copy.slice();
    // Those that came back are there, and the others gone.
    expect(ids.filter((id) => tables.userIds.getBinary(Buffer.from(id)) !== undefined)).toEqual([
      ...ids.slice(0, 2),
      ...ids.slice(8),
    ]);
    // A commit that comes while users are read.
    copy.beginReading();
    const stored = await queries.load(connection, ['u0', 'u1'], []);
    const commit = {
      position: stored.position + 1,
      mark: 1,
      markBefore: 0,
      parts: decodeParts(
        encodeParts([
          {
            deletedUserIds: [],
            deletedItemIds: [],
            users: [],
            items: [],
            journals: [],
            feedback: [
              { userRow: stored.users[0]!.row, itemRow: 0, type: 'like', timeMs: 5, comment: '', value: 0 },
            ],
          },
        ]),
      ),
    };
    copy.replicate([commit]);
    const { again, known } = copy.take(stored, { ids: ['u0', 'u1'], rows: [] });
    expect(again.ids).toEqual([stored.users[0]!.user.UserId]);
    expect(known).toEqual([stored.users[1]!.row]);
    copy.endReading();
    await connection.close();
    await tables.engine.close();
  });
});
