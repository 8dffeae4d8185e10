import { describe, expect, it } from 'vitest';
import {
  auc,
  hitRate,
  logLoss,
  ndcg,
  precision,
  recall,
  reciprocalRank,
} from '../../../src/model/evaluation/metrics.ts';

const hits = [false, true, false, true, false];

describe('measures of a list', () => {
  it('follow their definitions on a list worked by hand', () => {
    const discount = (rank: number) => 1 / Math.log2(rank + 2);
    expect(ndcg(hits, 5, 3)).toBeCloseTo(
      (discount(1) + discount(3)) / (discount(0) + discount(1) + discount(2)),
    );
    expect(recall(hits, 5, 3)).toBeCloseTo(2 / 3);
    expect(precision(hits, 4)).toBe(0.5);
    expect(hitRate(hits, 1)).toBe(0);
    expect(hitRate(hits, 2)).toBe(1);
    expect(reciprocalRank(hits, 5)).toBe(0.5);
    expect(reciprocalRank([], 5)).toBe(0);
  });

  it('are 1 for a perfect list', () => {
    expect(ndcg([true, true], 10, 2)).toBe(1);
    expect(recall([true, true], 10, 2)).toBe(1);
  });
});

describe('AUC', () => {
  it('is the share of pairs in the right order, ties counting half', () => {
    expect(auc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])).toBe(0.75);
    expect(auc([1, 1, 1], [1, 0, 1])).toBe(0.5);
    expect(auc([3, 2, 1], [1, 1, 0])).toBe(1);
  });

  it('is not defined for one class', () => {
    expect(auc([1, 2], [1, 1])).toBeNaN();
  });
});

describe('log loss', () => {
  it('is the mean negative log likelihood, finite even for a confident mistake', () => {
    expect(logLoss([0.5, 0.5], [1, 0])).toBeCloseTo(Math.LN2);
    expect(logLoss([1], [0])).toBeLessThan(17);
  });
});
