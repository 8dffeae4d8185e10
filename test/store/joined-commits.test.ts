import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EMPTY_ITEM, EMPTY_USER } from '../../src/domain/entity-fields.ts';
import { type Commit, decodeParts, type Effects, encodeParts } from '../../src/store/commit-effects.ts';
import { fromPlain } from '../../src/store/lmdb/changes/change-log.ts';
import { checkData } from '../../src/store/lmdb/check/check-data.ts';
import { LmdbDataReader } from '../../src/store/lmdb/reads/lmdb-data-reader.ts';
import { openDataTables } from '../../src/store/lmdb/tables/data-tables.ts';
import { GroupWriter } from '../../src/store/lmdb/writer/group-writer.ts';
import { PLAIN_RULES, tempFolder } from './helpers.ts';

const ROWS = 3;
const NOTHING: Effects = {
  ...{ deletedUserIds: [], deletedItemIds: [], users: [], items: [] },
  ...{ feedback: [], journals: [] },
};

const row = fc.nat(ROWS - 1);
const feedback = fc.record({
  userRow: row,
  itemRow: row,
  type: fc.constantFrom<string>('like', 'read'),
  // NaN removes it.
  timeMs: fc.constantFrom<number>(Number.NaN, 1000, 2000),
  comment: fc.constantFrom<string>('', 'a'),
  value: fc.constantFrom<number>(0, 2),
});
const change = fc.oneof(
  { weight: 6, arbitrary: fc.array(feedback, { minLength: 1, maxLength: 4 }) },
  { weight: 1, arbitrary: fc.record({ deletedUser: row }) },
  { weight: 1, arbitrary: fc.record({ deletedItem: row }) },
);

type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

/** The commits of changes in their order. Who is deleted comes again under a new row, as from a store that gives rows itself. */
function commitsOf(changes: readonly Change[]): Commit[] {
  const rows = { u: [0, 1, 2], i: [0, 1, 2] };
  let next = ROWS;
  const user = (at: number) => [rows.u[at]!, { ...EMPTY_USER, UserId: `u${at}` }] as const;
  const item = (at: number) => [rows.i[at]!, { ...EMPTY_ITEM, ItemId: `i${at}` }] as const;
  const first = { ...NOTHING, users: [0, 1, 2].map(user), items: [0, 1, 2].map(item) };
  const parts = changes.map((each): Effects => {
    if (Array.isArray(each))
      return {
        ...NOTHING,
        feedback: each.map((one) => ({
          ...one,
          userRow: rows.u[one.userRow]!,
          itemRow: rows.i[one.itemRow]!,
        })),
      };
    if ('deletedUser' in each) {
      rows.u[each.deletedUser] = next++;
      return {
        ...NOTHING,
        deletedUserIds: [`u${each.deletedUser}`],
        users: [user(each.deletedUser)],
      };
    }
    rows.i[each.deletedItem] = next++;
    return { ...NOTHING, deletedItemIds: [`i${each.deletedItem}`], items: [item(each.deletedItem)] };
  });
  return [first, ...parts].map((part, at) => ({
    position: at + 1,
    mark: 1,
    markBefore: 1,
    parts: decodeParts(encodeParts([part])),
  }));
}

/** State and told changes of a store that carries out groups of commits, each in one transaction. */
async function carriedOut(groups: readonly (readonly Commit[])[]) {
  const tables = openDataTables(tempFolder());
  const writer = new GroupWriter(tables, PLAIN_RULES);
  const told = groups.flatMap((commits) => writer.replicate(commits).changes);
  while (writer.hasSlices) told.push(...writer.slice().changes);
  const counts = new Map<string, number>();
  for (const { added, removed, feedbackTypes } of told.map(fromPlain))
    for (const [columns, sign] of [
      [added, 1],
      [removed, -1],
    ] as const)
      for (let at = 0; at < columns.length; at++) {
        const type = feedbackTypes[columns.types[at]!];
        const key = `${columns.userRows[at]} ${columns.itemRows[at]} ${type} ${columns.timesMs[at]}`;
        counts.set(key, (counts.get(key) ?? 0) + sign);
      }
  const reader = new LmdbDataReader(tables);
  const pairs = [0, 1, 2].flatMap((user) =>
    [0, 1, 2].map((item) => reader.readPair(`u${user}`, `i${item}`, undefined)),
  );
  const sum = [...counts].filter(([, count]) => count !== 0).sort();
  const { faults } = checkData(tables);
  await tables.engine.close();
  return { pairs: pairs.map((pair) => pair.map((each) => JSON.stringify(each)).sort()), sum, faults, told };
}

test('commits that are carried out in one transaction do what they do one by one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (changes) => {
      const commits = commitsOf(changes);
      const { told: _, ...oneByOne } = await carriedOut(commits.map((commit) => [commit]));
      const { told: __, ...atOnce } = await carriedOut([commits]);
      expect(atOnce).toEqual(oneByOne);
      expect(atOnce.faults).toEqual([]);
    }),
    { numRuns: 25, seed: 4 },
  );
});

test('commits without deletions are told as one', async () => {
  const like = { userRow: 0, itemRow: 0, type: 'like', comment: '', value: 0 };
  const each = [1000, 2000].map((timeMs) => [{ ...like, timeMs }]);
  const { told } = await carriedOut([commitsOf([...each, { deletedUser: 1 }, ...each])]);
  expect(told).toHaveLength(2);
  expect(fromPlain(told[0]!).added.length).toBe(1);
});
