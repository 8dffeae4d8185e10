import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ChangeLog } from '../../src/store/lmdb/changes/change-log.ts';
import {
  beginRecent,
  RecentFeedback,
  readPosition,
  replay,
} from '../../src/store/lmdb/changes/recent-feedback.ts';
import { openDataTables } from '../../src/store/lmdb/tables/data-tables.ts';
import { countEntries } from '../../src/store/lmdb/tables/engine.ts';
import { readState, writeState } from '../../src/store/lmdb/tables/meta-table.ts';
import { tempFolder } from './helpers.ts';

const RECORDS_MAX = 100;

/** A folder's latest feedback, and what is kept of each commit. */
function recent() {
  const tables = openDataTables(join(tempFolder(), 'data'));
  let next = 0;
  const commit = (added: number, removed = 0, isIncomplete = false) =>
    tables.engine.transact(() => {
      const state = readState(tables);
      const log = new ChangeLog();
      for (let i = 0; i < removed; i++) log.removed.push(70 + next, next++, 4100, -1000 * next);
      for (let i = 0; i < added; i++) log.added.push(70 + next, next++, 1, 1000 * next);
      log.isIncomplete = isIncomplete;
      new RecentFeedback(tables, state, RECORDS_MAX).keep([log]);
      writeState(tables, state);
    });
  const replayed = (position = readPosition(tables)!) => {
    const records: [userRow: number, itemRow: number, type: number, timeMs: number, sign: number][] = [];
    const isKnown = replay(tables, position, ({ length, userRows, itemRows, types, timesMs }, sign) => {
      for (let at = 0; at < length; at++)
        records.push([userRows[at]!, itemRows[at]!, types[at]!, timesMs[at]!, sign]);
    });
    return isKnown ? records : undefined;
  };
  return { tables, commit, replayed, position: () => readPosition(tables)! };
}

it('tells what the latest commits added and removed, in their order', async () => {
  const { tables, commit, replayed, position } = recent();
  expect(position()).toBeUndefined();
  commit(2);
  const before = position();
  commit(2, 1);
  commit(0);
  expect(position().commit).toBe(before.commit + 1);
  commit(1);
  expect(replayed(before)).toEqual([
    [72, 2, 4100, -3000, -1],
    [73, 3, 1, 4000, 1],
    [74, 4, 1, 5000, 1],
    [75, 5, 1, 6000, 1],
  ]);
  expect(replayed()).toEqual([]);
  expect(replayed({ ...before, nonce: 1 })).toBeUndefined();
  expect(replayed({ ...before, commit: 99 })).toBeUndefined();
  await tables.engine.close();
});

it('keeps so many records and no more, however they come', async () => {
  const { tables, commit, replayed, position } = recent();
  commit(1);
  const first = position();
  commit(RECORDS_MAX - 1);
  expect(replayed(first)).toHaveLength(RECORDS_MAX - 1);
  for (let i = 0; i < 50; i++) commit(1);
  expect(replayed(first)).toBeUndefined();
  const middle = position();
  for (let i = 0; i < RECORDS_MAX; i++) commit(1);
  expect(replayed(middle)).toHaveLength(RECORDS_MAX);
  expect(countEntries(tables.recentFeedback)).toBeLessThan(1.2 * RECORDS_MAX);
  commit(5 * RECORDS_MAX);
  expect(replayed(middle)).toBeUndefined();
  expect(replayed()).toEqual([]);
  await tables.engine.close();
});

it('goes on from nothing where something is missing', async () => {
  const { tables, commit, replayed, position } = recent();
  commit(1);
  const first = position();
  commit(0, 1, true);
  expect(replayed(first)).toBeUndefined();
  const second = position();
  commit(3);
  expect(replayed(second)).toHaveLength(3);
  // A version that knows nothing of this forgets the number.
  tables.engine.transact(() => writeState(tables, { ...readState(tables), feedbackCommits: 0 }));
  expect(position()).toBeUndefined();
  beginRecent(tables);
  expect(replayed(second)).toBeUndefined();
  expect(replayed()).toEqual([]);
  const third = position();
  beginRecent(tables);
  expect(position()).toEqual(third);
  await tables.engine.close();
});

it('begins anew where the last entry is of another layout, so that it can be told again as of when feedback is read', async () => {
  const { tables, commit, replayed, position } = recent();
  commit(2);
  const old = position();
  tables.engine.transact(() => {
    const key = new Uint8Array(8);
    new DataView(key.buffer).setBigUint64(0, BigInt(old.commit));
    tables.recentFeedback.put(key, new Uint8Array(32 + 2 * 14).fill(1));
  });
  expect(readPosition(tables)).toBeUndefined();
  beginRecent(tables);
  expect(position().commit).toBe(old.commit + 1);
  expect(replayed(old)).toBeUndefined();
  const next = position();
  commit(1);
  expect(replayed(next)).toHaveLength(1);
  await tables.engine.close();
});
