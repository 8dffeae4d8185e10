import { describe, expect, it } from 'vitest';
import { History } from '../../src/recommend/history/history.ts';
import type { FeedbackColumns, LocalReads } from '../../src/store/data-store.ts';

const MINUTE_MS = 60_000;
const NOW_MS = 1e12;

/** A history of likes (type 0) and others (type 1): item row, type, minutes ago. */
function historyOf(...records: readonly (readonly [number, number, number])[]): History {
  const reads: Partial<LocalReads> = {
    readUserFeedback(userRow: number, columns: FeedbackColumns) {
      for (const [item, type, ago] of records) columns.push(userRow, item, type, NOW_MS - ago * MINUTE_MS);
    },
  };
  const history = new History(reads as LocalReads);
  history.load(0, NOW_MS);
  return history;
}

const visit = (history: History, limit = 10) =>
  history.visitRows((type) => type === 0, 30 * MINUTE_MS, limit);

describe('the visit that is under way', () => {
  it('reaches back over likes that lie close together, the latest first', () => {
    expect(visit(historyOf([1, 0, 70], [2, 0, 10], [3, 0, 39], [4, 0, 71], [5, 0, 0]))).toEqual([5, 2, 3]);
  });

  it('is none where the last like is too long ago', () => {
    expect(visit(historyOf([1, 0, 31], [2, 1, 1]))).toEqual([]);
    expect(visit(historyOf())).toEqual([]);
  });

  it('counts likes alone, each item at its last, and no more than are asked for', () => {
    expect(visit(historyOf([1, 0, 500], [1, 0, 20], [2, 1, 5], [3, 0, 15]))).toEqual([3, 1]);
    expect(visit(historyOf([1, 0, 3], [2, 0, 2], [3, 0, 1]), 2)).toEqual([3, 2]);
  });
});
