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
