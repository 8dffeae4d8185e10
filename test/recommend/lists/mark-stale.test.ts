import fc from 'fast-check';
import { expect, test } from 'vitest';
import { markStale } from '../../../src/recommend/lists/mark-stale.ts';
import { FeedbackColumns } from '../../../src/store/data-store.ts';

type Pair = readonly [userRow: number, itemRow: number];

/** Users up to the last row that there may be, and items beside each other. */
const pair = fc.tuple(
  fc.constantFrom(0, 1, 2 ** 21, 2 ** 22 + 1, 2 ** 32 - 1),
  fc.constantFrom(0, 1, 2, 3, 2 ** 31),
);

function columnsOf(pairs: readonly Pair[]): FeedbackColumns {
  const columns = new FeedbackColumns();
  for (const [userRow, itemRow] of pairs) columns.push(userRow, itemRow, 0, 0);
  return columns;
}

test('a list is wrong where an item is gone that the commit gave no new feedback on', () => {
  fc.assert(
    fc.property(fc.array(pair), fc.array(pair), (added, removed) => {
      const dirty = new Set<number>();
      const wrong = new Set<number>();
      const lists = {
        markDirty: (userRow: number, retracted = false) => void (retracted ? wrong : dirty).add(userRow),
        delete: () => {},
      };
      const active = { noteAll: () => {} };
      const changes = { added: columnsOf(added), removed: columnsOf(removed), deletedUserRows: [] };
      for (const _ of markStale(changes, lists, active, () => true));
      const isThere = ([user, item]: Pair) => added.some((other) => other[0] === user && other[1] === item);
      expect(wrong).toEqual(new Set(removed.filter((gone) => !isThere(gone)).map(([user]) => user)));
      expect(new Set([...dirty, ...wrong])).toEqual(new Set([...added, ...removed].map(([user]) => user)));
    }),
    { numRuns: 1000, seed: 1 },
  );
});

test('a large commit is looked at in steps', () => {
  const many = columnsOf(Array.from({ length: 5000 }, (_, at) => [at % 7, at] as const));
  const lists = { markDirty: () => {}, delete: () => {} };
  const changes = { added: new FeedbackColumns(), removed: many, deletedUserRows: [] };
  const steps = [...markStale(changes, lists, { noteAll: () => {} }, () => true)];
  expect(steps).toHaveLength(2 * Math.floor(5000 / 1024));
});
