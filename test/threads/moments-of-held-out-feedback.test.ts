import { describe, expect, it } from 'vitest';
import { bitWords, setBit } from '../../src/memory/bits.ts';
import { FeedbackColumns } from '../../src/store/data-store.ts';
import { byTime, judgedMoments } from '../../src/threads/moments-of-held-out-feedback.ts';

function columns(
  records: readonly (readonly [user: number, item: number, timeMs: number])[],
): FeedbackColumns {
  const all = new FeedbackColumns(2);
  for (const [user, item, timeMs] of records) all.push(user, item, 0, timeMs);
  return all;
}

function bitsOf(rows: readonly number[]): Uint32Array {
  const bits = new Uint32Array(bitWords(100));
  for (const row of rows) setBit(bits, row);
  return bits;
}

describe('the moments as of which what is held out is asked about', () => {
  it('part it into quarters, with those who have liked something before', () => {
    const late = columns(Array.from({ length: 40 }, (_, at) => [at % 4, at, 1000 + 10 * at] as const));
    const moments = judgedMoments(late, bitsOf([0, 1]));
    expect(moments.map(({ asOfMs }) => asOfMs)).toEqual([1099, 1199, 1299]);
    expect([...moments[2]!.likedBy.get(0)!]).toEqual([32, 36]);
    // Users 2 and 3 were not known at first, but have liked something by the first of the moments.
    for (const { likedBy } of moments) expect([...likedBy.keys()].sort()).toEqual([0, 1, 2, 3]);
  });

  it('ask nobody of whom nothing is known yet', () => {
    const late = columns([
      [0, 1, 10],
      [1, 2, 20],
      [2, 3, 30],
      [3, 4, 40],
      [2, 5, 50],
    ]);
    const moments = judgedMoments(late, bitsOf([1]));
    expect(moments.map(({ asOfMs }) => asOfMs)).toEqual([19, 29, 39]);
    expect(moments.map(({ likedBy }) => [...likedBy.keys()])).toEqual([[1], [], [2]]);
  });

  it('know who liked something before also where times are before 1970', () => {
    const late = columns([50, 40, 30, 20, 10].map((ago, at) => [at % 2, at, -1000 * ago] as const));
    expect(judgedMoments(late, bitsOf([0, 1])).map(({ likedBy }) => likedBy.size)).toEqual([2, 2, 2]);
  });

  it('are none where all of it has one time, or there is none', () => {
    expect(
      judgedMoments(
        columns([
          [0, 1, 5],
          [0, 2, 5],
          [1, 1, 5],
        ]),
        bitsOf([0, 1]),
      ),
    ).toEqual([]);
    expect(judgedMoments(new FeedbackColumns(), bitsOf([0]))).toEqual([]);
  });

  it('look at some of the users where there is very much', () => {
    const late = columns(Array.from({ length: 90_000 }, (_, at) => [at % 9000, at, at] as const));
    const known = new Uint32Array(bitWords(9000)).fill(0xffffffff);
    for (const { likedBy } of judgedMoments(late, known)) {
      expect(likedBy.size).toBeGreaterThan(1000);
      expect(likedBy.size).toBeLessThan(3000);
    }
  });

  it('come after the records in the order of their times', () => {
    const sorted = byTime(
      columns([
        [0, 7, 30],
        [1, 8, 10],
        [2, 9, 30],
        [3, 6, 20],
      ]),
    );
    expect([...sorted.itemRows.subarray(0, sorted.length)]).toEqual([8, 6, 7, 9]);
  });
});
