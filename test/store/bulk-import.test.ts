import { existsSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Feedback } from '../../src/domain/entities.ts';
import { readPositiveKinds } from '../../src/domain/positive-feedback-types.ts';
import { createRandom } from '../../src/domain/random.ts';
import { formatTimestamp } from '../../src/domain/rfc3339.ts';
import { FeedbackColumns } from '../../src/store/data-store.ts';
import { BulkImport } from '../../src/store/lmdb/bulk/bulk-import.ts';
import { checkData } from '../../src/store/lmdb/check/check-data.ts';
import { FEEDBACK_TYPES_MAX } from '../../src/store/lmdb/format/record-layout.ts';
import { LmdbDataReader } from '../../src/store/lmdb/reads/lmdb-data-reader.ts';
import { LmdbLocalReads } from '../../src/store/lmdb/reads/lmdb-local-reads.ts';
import { type DataTables, openDataTables } from '../../src/store/lmdb/tables/data-tables.ts';
import { entriesFrom } from '../../src/store/lmdb/tables/engine.ts';
import { keepKinds, readState } from '../../src/store/lmdb/tables/meta-table.ts';
import type { WriteRules } from '../../src/store/lmdb/tables/writer-messages.ts';
import { DirectStore } from './direct-store.ts';
import { PLAIN_RULES, tempFolder } from './helpers.ts';

const USERS = 70;
const ITEMS = 400;
const TYPES = ['like', 'read', 'rating', 'seen'];
/** Records of a batch, and of a file. */
const BATCH = 700;
const FILE = 4000;
const SIZES = { recordsMax: 611, mergeBytes: 20_000 };
const BATCHES_OF_NO_FEEDBACK = [
  { kind: 'putUsers', batch: { records: entities('UserId', 'u', 20, { Subscribe: [] }) } },
  {
    kind: 'putItems',
    batch: { records: entities('ItemId', 'i', 90, { IsHidden: false, Categories: ['c'], Timestamp: '' }) },
  },
] as const;

function entities<More>(key: string, prefix: string, count: number, more: More) {
  return Array.from(
    { length: count },
    (_, at) => ({ [key]: `${prefix}${at * 3}`, Labels: [`l${at}`], Comment: '', ...more }) as never,
  );
}

/** Many of a few pairs, of each type again and again, some with values and comments. */
function randomFeedback(seed: number, count: number): Feedback[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, () => ({
    FeedbackType: TYPES[random.below(TYPES.length)]!,
    UserId: `u${Math.floor(random.float() ** 3 * USERS)}`,
    ItemId: `i${Math.floor(random.float() ** 2 * ITEMS)}`,
    Timestamp: formatTimestamp(random.below(9) === 0 ? -random.below(1e12) : random.below(4e12)),
    Comment: random.below(40) === 0 ? `Ä comment ${'x'.repeat(random.below(600))}` : '',
    ...(random.below(4) === 0 && { Value: random.below(6) - 0.5 }),
  }));
}

async function everything(path: string) {
  const tables = openDataTables(path);
  const local = new LmdbLocalReads(tables);
  const feedback = new FeedbackColumns();
  local.scanFeedback(0, Number.POSITIVE_INFINITY, feedback);
  const { length, userRows, itemRows, types, timesMs } = feedback;
  const raw = (table: keyof DataTables) =>
    Array.from(entriesFrom(tables[table] as never, new Uint8Array(1), Number.POSITIVE_INFINITY), (entry) =>
      [entry.key, entry.value].map((bytes) => Buffer.from(bytes).toString('latin1')),
    );
  const { feedbackCommits, ...state } = readState(tables);
  const found = {
    state,
    types: local.feedbackTypes(),
    feedback: Array.from({ length }, (_, at) => [userRows[at], itemRows[at], types[at], timesMs[at]]),
    links: Array.from({ length: local.itemRowCount }, (_, row) => [...local.readItemUsers(row)]),
    ...Object.fromEntries(
      (['userIds', 'users', 'itemIds', 'items', 'typeUsers', 'comments', 'values', 'repeats'] as const).map(
        (name) => [name, raw(name)],
      ),
    ),
  };
  expect(checkData(tables).faults).toEqual([]);
  await tables.engine.close();
  return found;
}

/** A folder with users and items and no feedback. */
async function folderWith(rules: WriteRules): Promise<{ path: string; store: DirectStore }> {
  const path = tempFolder();
  const kinds = openDataTables(path);
  keepKinds(kinds, readPositiveKinds(rules.positiveFeedbackTypes));
  await kinds.engine.close();
  const store = new DirectStore(path, rules);
  for (const command of BATCHES_OF_NO_FEEDBACK) await store.write(command);
  return { path, store };
}

const never = new AbortController().signal;

test.each([
  ['that all store', {}, false],
  ['that overwrite', {}, true],
  [
    'of which some take the place of others',
    { positiveFeedbackTypes: ['like'], readFeedbackTypes: ['read', 'seen'] },
    false,
  ],
  [
    'of which some are positive by their values',
    { positiveFeedbackTypes: ['like', 'rating>=3'], readFeedbackTypes: ['read', 'rating'] },
    true,
  ],
  [
    'of whom some happen again',
    { positiveFeedbackTypes: ['like', 'rating>=3'], repeatedTypes: ['like', 'rating'] },
    false,
  ],
  ['of whom some are unknown', { autoInsertUser: false, autoInsertItem: false }, false],
] as const)(
  'feedback of users and items %s is what it is when written batch by batch',
  async (_, more, overwrite) => {
    const rules = { ...PLAIN_RULES, ...more };
    const { path: one, store } = await folderWith(rules);
    const { path: other, store: empty } = await folderWith(rules);
    await empty.close();
    const bulk = await BulkImport.begin(other, rules, { sizes: SIZES });
    const written = [0];
    for (let file = 1; file <= 3; file++) {
      const feedback = randomFeedback(file, FILE);
      expect(bulk.beginSource()).toBe(file);
      written[file] = 0;
      for (let at = 0; at < FILE; at += BATCH) {
        const command = {
          kind: 'putFeedback',
          overwrite,
          batch: { records: feedback.slice(at, at + BATCH) },
        } as const;
        written[file]! += (await store.write(command)).rowAffected;
        await bulk.write(command);
      }
    }
    // A file that is taken back brought users, items, a type and what would replace others.
    bulk.beginSource();
    const gone = randomFeedback(9, FILE).map((each) => ({
      ...each,
      UserId: `${each.UserId}0`,
      ItemId: `${each.ItemId}x`,
    }));
    const records = [...gone, { ...gone[0]!, FeedbackType: 'gone' }, ...randomFeedback(10, 900)];
    await bulk.write({ kind: 'putFeedback', overwrite: true, batch: { records } });
    bulk.dropSource();
    await store.close();
    const progress: number[] = [];
    const stored = await bulk.finish({
      signal: never,
      onProgress: (done, total) => progress.push(done / total),
    });
    expect(progress).toEqual([0, 1]);
    expect(await everything(other)).toEqual(await everything(one));
    if (!overwrite && rules.positiveFeedbackTypes.length === 0)
      expect(stored!.slice(1)).toEqual(written.slice(1));
    expect(readdirSync(other).filter((name) => name.startsWith('partial-'))).toEqual([]);
  },
);

test('nothing is stored, and nothing left, where the end is called for or a command is refused', async () => {
  const { path, store } = await folderWith(PLAIN_RULES);
  await store.close();
  const before = await everything(path);
  const bulk = await BulkImport.begin(path, PLAIN_RULES);
  bulk.beginSource();
  await bulk.write({ kind: 'putFeedback', overwrite: false, batch: { records: randomFeedback(1, 100) } });
  const bad = [...randomFeedback(2, 2), { ...randomFeedback(3, 1)[0]!, ItemId: 'a/b' }];
  const refused = bulk.write({ kind: 'putFeedback', overwrite: false, batch: { records: bad } });
  await expect(refused).rejects.toThrow(/must not contain a slash/);
  const ended = new AbortController();
  ended.abort();
  expect(await bulk.finish({ signal: ended.signal, onProgress() {} })).toBeUndefined();
  expect(await everything(path)).toEqual(before);
  expect(readdirSync(path).filter((name) => name.startsWith('partial-'))).toEqual([]);
  expect(existsSync(path)).toBe(true);
});

test('a type whose feedback waits to be sorted keeps its number when numbers run out', async () => {
  const { path, store } = await folderWith(PLAIN_RULES);
  await store.close();
  const bulk = await BulkImport.begin(path, PLAIN_RULES, { sizes: SIZES });
  bulk.beginSource();
  const write = (from: number, count: number) =>
    bulk.write({
      kind: 'putFeedback',
      overwrite: false,
      batch: {
        records: Array.from({ length: count }, (_, at) => ({
          FeedbackType: `t${from + at}`,
          UserId: 'u1',
          ItemId: 'i1',
          Timestamp: '2024-01-01T00:00:00Z',
          Comment: '',
        })),
      },
    });
  await write(0, FEEDBACK_TYPES_MAX);
  await expect(write(FEEDBACK_TYPES_MAX, 1)).rejects.toThrow(/at most/);
  await bulk.finish({ signal: never, onProgress: () => {} });
  expect((await everything(path)).types).toHaveLength(FEEDBACK_TYPES_MAX);
});

test('values of records of one user, item and type are added up where that is asked for', async () => {
  const { path, store } = await folderWith(PLAIN_RULES);
  await store.close();
  const bulk = await BulkImport.begin(path, PLAIN_RULES, { sumsValues: true });
  bulk.beginSource();
  const row = (ItemId: string, Value: number, Comment = '', FeedbackType = 'purchase') => ({
    ...{ FeedbackType, UserId: 'ann', ItemId, Value, Comment },
    Timestamp: `2024-01-0${Math.ceil(Math.abs(Value))}T00:00:00Z`,
  });
  const records = [
    ...[row('kept', 3, 'gift'), row('kept', -1), row('kept', 2, '', 'rating')],
    ...[row('returned', 2), row('returned', -2)],
    ...[row('back first', -1), row('back first', 2)],
    ...[row('by weight', 0.1), row('by weight', 0.2), row('by weight', -0.3)],
    row('once', 1),
  ];
  await bulk.write({ kind: 'putFeedback', overwrite: false, batch: { records } });
  expect(await bulk.finish({ signal: never, onProgress() {} })).toEqual([undefined, 6]);
  const tables = openDataTables(path);
  const found = await new LmdbDataReader(tables).getFeedbackPage(10, '');
  await tables.engine.close();
  expect(
    found.rows
      .map(({ FeedbackType, ItemId, Value = 0, Comment }) => [FeedbackType, ItemId, Value, Comment])
      .sort(),
  ).toEqual([
    ['purchase', 'back first', 1, ''],
    ['purchase', 'by weight', 0, ''],
    ['purchase', 'kept', 2, 'gift'],
    ['purchase', 'once', 1, ''],
    ['purchase', 'returned', 0, ''],
    ['rating', 'kept', 2, ''],
  ]);
});
