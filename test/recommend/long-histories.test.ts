import { expect, test } from 'vitest';
import { Histories } from '../../src/recommend/history/histories.ts';
import type { FeedbackColumns, LocalReads } from '../../src/store/data-store.ts';

const LONG = 100_000;
const LONG_USER = 1;

/** A user with a long history, such as one that stands for all visitors of a shop, and others with a record each. */
const reads = {
  feedbackAhead: () => undefined,
  readUserFeedback(userRow: number, out: FeedbackColumns) {
    out.clear();
    for (let at = 0; at < (userRow === LONG_USER ? LONG : 1); at++) out.push(userRow, at, 0, 0);
  },
} as unknown as LocalReads;

const isLong = (histories: Histories, userRow: number) => histories.ready(userRow) !== undefined;

test('the memory of long histories comes back, and who has one is known for it', () => {
  const histories = new Histories(reads, Number.POSITIVE_INFINITY, () => 1);
  const take = (userRow: number) => Array.from({ length: 50 }, () => histories.take(userRow));
  expect(isLong(histories, LONG_USER)).toBe(false);
  for (const history of take(LONG_USER)) {
    expect(history.length).toBe(LONG);
    histories.give(history);
  }
  expect(isLong(histories, LONG_USER)).toBe(true);
  for (const history of take(2)) expect(history.room).toBeLessThan(LONG);
  const short = take(2);
  for (const history of short) histories.give(history);
  expect(short).toContain(histories.take(2));
  expect(isLong(histories, 2)).toBe(false);
});

test('no more than some hundred users are known for it', () => {
  const histories = new Histories(
    {
      ...reads,
      readUserFeedback: (_: number, out: FeedbackColumns) => reads.readUserFeedback(LONG_USER, out),
    } as LocalReads,
    Number.POSITIVE_INFINITY,
    () => 1,
  );
  for (let userRow = 0; userRow < 300; userRow++) histories.give(histories.take(userRow));
  const known = Array.from({ length: 300 }, (_, userRow) => userRow).filter((row) => isLong(histories, row));
  expect(known).toHaveLength(256);
  expect(known.at(-1)).toBe(299);
});
