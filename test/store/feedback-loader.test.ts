import { expect, test } from 'vitest';
import { EMPTY_ITEM } from '../../src/domain/entity-fields.ts';
import { createRandom } from '../../src/domain/random.ts';
import { type FeedbackEffect, NOT_WHOLE } from '../../src/store/commit-effects.ts';
import { FeedbackColumns } from '../../src/store/data-store.ts';
import { checkData } from '../../src/store/lmdb/check/check-data.ts';
import { packTimeLow, packTypeAndTime } from '../../src/store/lmdb/format/record-layout.ts';
import { LmdbDataReader } from '../../src/store/lmdb/reads/lmdb-data-reader.ts';
import { type DataTables, openDataTables } from '../../src/store/lmdb/tables/data-tables.ts';
import { readState } from '../../src/store/lmdb/tables/meta-table.ts';
import { FeedbackLoader } from '../../src/store/lmdb/writer/feedback-loader.ts';
import { GroupWriter } from '../../src/store/lmdb/writer/group-writer.ts';
import { PLAIN_RULES, tempFolder } from './helpers.ts';

const USERS = 60;
const ITEMS = 900;
const TYPES = ['like', 'read', 'rating'];

/** By user, item and type; a few users and items have most of it, enough for chains of blocks. */
function randomFeedback(): FeedbackEffect[] {
  const random = createRandom(11);
  const keys = new Set<number>();
  for (let at = 0; at < 9000; at++) {
    const [user, item] = [random.float() ** 4 * USERS, random.float() ** 3 * ITEMS];
    keys.add((Math.floor(user) * ITEMS + Math.floor(item)) * TYPES.length + random.below(TYPES.length));
  }
  for (let user = 0; user < USERS; user++) keys.add(user * ITEMS * TYPES.length);
  return Array.from(keys)
    .sort((a, b) => a - b)
    .map((key) => {
      const pair = Math.floor(key / TYPES.length);
      return {
        userRow: Math.floor(pair / ITEMS),
        itemRow: pair % ITEMS,
        type: TYPES[key % TYPES.length]!,
        timeMs: random.below(10) === 0 ? -random.below(1e12) : random.below(2e12),
        comment: random.below(30) === 0 ? 'Ä comment' : '',
        value: random.below(20) === 0 ? 4.5 : 0,
      };
    });
}

function openFilled(): { tables: DataTables; writer: GroupWriter } {
  const tables = openDataTables(tempFolder());
  const writer = new GroupWriter(tables, PLAIN_RULES);
  const users = Array.from(
    { length: USERS },
    (_, row) => [row, { UserId: `u${row}`, Labels: [], Subscribe: [], Comment: '' }] as const,
  );
  const items = Array.from(
    { length: ITEMS },
    (_, row) => [row, { ...EMPTY_ITEM, ItemId: `i${row}`, Timestamp: '2024-01-01T00:00:00Z' }] as const,
  );
  const nothing = { deletedUserIds: [], deletedItemIds: [], feedback: [], journals: [] };
  writer.replicate([{ ...NOT_WHOLE, parts: [{ ...nothing, users, items }] }]);
  return { tables, writer };
}

function everything(tables: DataTables) {
  const reader = new LmdbDataReader(tables);
  const columns = (userRow: number) => {
    const found = new FeedbackColumns();
    reader.local.readUserFeedback(userRow, found);
    const { length, itemRows, types, timesMs } = found;
    return Array.from({ length }, (_, at) => [itemRows[at], types[at], timesMs[at]]);
  };
  const pairs = Array.from({ length: USERS * 20 }, (_, at) =>
    reader.readPair(`u${at % USERS}`, `i${at % 20}`, undefined),
  );
  const { feedbackCommits: _, ...state } = readState(tables);
  return {
    state,
    types: reader.local.feedbackTypes(),
    users: Array.from({ length: USERS }, (_, row) => columns(row)),
    items: Array.from({ length: ITEMS }, (_, row) => [...reader.local.readItemUsers(row)]),
    pairs,
  };
}

test.each([
  ['in one batch', { batchRecords: 20_000, linksMax: 20_000 }],
  ['in many that end within users and pairs', { batchRecords: 41, linksMax: 300 }],
])('feedback loaded %s is what it is when written one by one', async (_, sizes) => {
  const feedback = randomFeedback();
  const one = openFilled();
  const nothing = { deletedUserIds: [], deletedItemIds: [], users: [], items: [], journals: [] };
  one.writer.replicate([
    {
      ...NOT_WHOLE,
      parts: [
        // So that the types get the same numbers.
        { ...nothing, feedback: TYPES.map((type) => feedback.find((each) => each.type === type)!) },
        { ...nothing, feedback },
      ],
    },
  ]);
  const { tables } = openFilled();
  const numbers = TYPES.map((name, at) => [at * 2 + 5, name] as const);
  const numberOf = (type: string) => numbers.find(([, name]) => name === type)![0];
  const loader = new FeedbackLoader(tables, numbers, sizes);
  // What a user gave an item comes in any order.
  const pairOf = ({ userRow, itemRow }: FeedbackEffect) => userRow * ITEMS + itemRow;
  const shuffled = createRandom(3);
  const mixed = feedback
    .map((each) => [pairOf(each), shuffled.float(), each] as const)
    .sort((a, b) => a[0] - b[0] || a[1] - b[1])
    .map(([, , each]) => each);
  for (const { userRow, itemRow, type, timeMs } of mixed)
    loader.add(userRow, itemRow, packTypeAndTime(numberOf(type), timeMs), packTimeLow(timeMs));
  loader.finish();
  loader.putNotes(
    feedback
      .filter(({ comment, value }) => comment !== '' || value !== 0)
      .map((each) => ({ ...each, type: numberOf(each.type) })),
  );
  expect(everything(tables)).toEqual(everything(one.tables));
  expect(checkData(tables).faults).toEqual([]);
  await one.tables.engine.close();
  await tables.engine.close();
});
