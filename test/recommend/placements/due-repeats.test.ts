import { expect, test } from 'vitest';
import { DueRepeats } from '../../../src/recommend/placements/due-repeats.ts';
import type { FeedbackColumns, LocalReads } from '../../../src/store/data-store.ts';
import { historyOf, isPositive, LIKE } from '../hand-made.ts';

const DAY_MS = 86_400_000;
const [USERS, ITEMS] = [20, 50];
/** Each user bought each item every `row + 1` days, four times. */
const everyDays = (row: number) => row + 1;

test('looks at what users bought of an item, and at nothing else that they did', async () => {
  let records = 0;
  const reads: Partial<LocalReads> = {
    readPairFeedback(userRow: number, itemRow: number, out: FeedbackColumns) {
      out.clear();
      out.push(userRow, itemRow, LIKE, 4 * everyDays(itemRow) * DAY_MS);
      records++;
    },
    readItemUsers: () => Uint32Array.from({ length: USERS }, (_, row) => row),
    feedbackTypes: () => ['like'],
    userIdAt: (row) => `${row}`,
    itemIdAt: (row) => `${row}`,
    occurrences: ({ UserId, ItemId }) =>
      UserId === '0'
        ? undefined
        : [1, 2, 3, 4].map((time) => ({
            count: 1,
            timeMs: time * everyDays(Number(ItemId)) * DAY_MS,
            value: 1,
          })),
  };
  const repeats = new DueRepeats(reads as LocalReads, isPositive);
  const bought = Array.from({ length: ITEMS }, (_, item) => ({ item, timeMs: 4 * everyDays(item) * DAY_MS }));
  // A day after the item of the longest rhythm was due.
  const due = await repeats.of(historyOf(bought), (5 * everyDays(ITEMS - 1) + 1) * DAY_MS);
  expect(due.rows[0]).toBe(ITEMS - 1);
  expect(records).toBe(ITEMS * (USERS + 1));
});

test('of two types with as many events each goes by the later one, whichever was stored first', async () => {
  const dueIn = (order: readonly ['old' | 'new', 'old' | 'new']) => {
    const days = { old: [1, 2, 3], new: [10, 30, 50] };
    const reads: Partial<LocalReads> = {
      readPairFeedback(userRow: number, itemRow: number, out: FeedbackColumns) {
        out.clear();
        for (const [type, name] of order.entries())
          out.push(userRow, itemRow, type, days[name].at(-1)! * DAY_MS);
      },
      feedbackTypes: () => order,
      userIdAt: (row) => `${row}`,
      itemIdAt: (row) => `${row}`,
      occurrences: ({ FeedbackType }) =>
        days[FeedbackType as 'old' | 'new'].map((day) => ({ count: 1, timeMs: day * DAY_MS, value: 1 })),
    };
    const repeats = new DueRepeats(reads as LocalReads, () => true);
    return repeats.of(historyOf([{ item: 0, timeMs: 50 * DAY_MS }]), 70 * DAY_MS);
  };
  const due = await dueIn(['old', 'new']);
  expect(due.scores).toEqual([Math.log1p(3)]);
  expect(await dueIn(['new', 'old'])).toEqual(due);
});
