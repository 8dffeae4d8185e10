import { describe, expect, it } from 'vitest';
import { FeedbackColumns } from '../../src/store/data-store.ts';
import { byTime, fewOfEach, questionsAt } from '../../src/threads/questions-of-held-out-feedback.ts';

const HOUR_MS = 3_600_000;

function columns(
  records: readonly (readonly [user: number, item: number, timeMs: number])[],
): FeedbackColumns {
  const all = new FeedbackColumns(2);
  for (const [user, item, timeMs] of records) all.push(user, item, 0, timeMs);
  return all;
}

describe('the questions that held-out likes have answered', () => {
  it('are answered by what was liked then and soon after, and know what came before alone', () => {
    const late = columns([
      [0, 1, HOUR_MS],
      [1, 2, 2 * HOUR_MS],
      [0, 3, 3 * HOUR_MS],
      [0, 4, 90 * HOUR_MS],
    ]);
    const [first, third] = [...questionsAt(late, [0, 2])];
    expect(first).toMatchObject({ userRow: 0, asOfMs: HOUR_MS, before: 0 });
    expect([...first!.liked]).toEqual([1, 3]);
    expect([...first!.except]).toEqual([1]);
    expect(third!.before).toBe(2);
    expect([...third!.liked]).toEqual([3]);
  });

  it('come one after the other where likes are of one moment, none knowing of a later one', () => {
    const basket = columns([5, 6, 7, 8].map((item) => [0, item, HOUR_MS] as const));
    const questions = [...questionsAt(basket, [0, 1, 2, 3])];
    expect(questions.map(({ before }) => before)).toEqual([0, 0, 0, 0]);
    const sizes = questions.map(({ except }) => except.size).sort();
    expect(sizes).toEqual([1, 2, 3, 4]);
    for (const [at, { except, liked }] of questions.entries()) {
      expect(except.has(5 + at)).toBe(true);
      expect([...liked]).toEqual([...except]);
    }
  });

  it('come after the records in the order of their times', () => {
    const records = [
      [0, 7, 30],
      [1, 8, 10],
      [2, 9, 30],
      [3, 6, 20],
    ] as const;
    const sorted = byTime(columns(records));
    expect([...sorted.itemRows.subarray(0, sorted.length)]).toEqual([8, 6, 7, 9]);
  });

  it('are of nobody more than a fiftieth, or twenty, whoever likes as much as all others', () => {
    const ofCrawler = (at: number) => at % 2 === 0;
    const likes = Array.from(
      { length: 2000 },
      (_, at) => [ofCrawler(at) ? 0 : 1 + (at % 301), at, at] as const,
    );
    const indices = likes.map((_, at) => at);
    const asked = fewOfEach(columns(likes), indices);
    expect(asked.filter(ofCrawler)).toHaveLength(40);
    expect(asked.filter((at) => !ofCrawler(at))).toHaveLength(1000);
    expect(asked).toEqual([...asked].sort((a, b) => a - b));
    expect(fewOfEach(columns(likes), indices.slice(0, 40))).toEqual(indices.slice(0, 40));
    const ofThree = columns(indices.map((at) => [at % 3, at, at] as const));
    expect(fewOfEach(ofThree, indices)).toEqual(indices);
  });
});
