import { describe, expect, it } from 'vitest';
import { FirstSights } from '../../src/recommend/popularity/first-sights.ts';
import { FeedbackColumns } from '../../src/store/data-store.ts';

function records(...rows: readonly (readonly [item: number, timeMs: number])[]): FeedbackColumns {
  const columns = new FeedbackColumns();
  for (const [item, timeMs] of rows) columns.push(0, item, 0, timeMs);
  return columns;
}

describe('first sights', () => {
  it('are the earliest feedback of each item, whatever order it comes in', () => {
    const sights = new FirstSights();
    sights.apply(records([3, 9000], [3, 5400], [5000, 7000], [3, 8000]));
    expect(sights.timeMsAt(3)).toBe(5000);
    expect(sights.timeMsAt(5000)).toBe(7000);
    expect(sights.timeMsAt(4)).toBeNaN();
    expect(sights.timeMsAt(1e6)).toBeNaN();
  });

  it('go on from what was saved', () => {
    const sights = new FirstSights();
    sights.restore(Uint32Array.of(0, 8, 9));
    sights.apply(records([1, 3000], [2, 30_000], [7, 1000]));
    expect([0, 1, 2, 7].map((row) => sights.timeMsAt(row))).toEqual([Number.NaN, 3000, 9000, 1000]);
  });

  it('of times before 1970 are as old as can be told', () => {
    const sights = new FirstSights();
    sights.apply(records([0, -5000]));
    expect(sights.timeMsAt(0)).toBe(1000);
  });
});
