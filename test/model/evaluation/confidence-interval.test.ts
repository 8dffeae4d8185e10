import { describe, expect, it } from 'vitest';
import { estimate } from '../../../src/model/evaluation/confidence-interval.ts';

describe('the confidence interval', () => {
  it('is 1.96 standard errors to either side', () => {
    const { mean, halfWidth } = estimate([1, 2, 3, 4]);
    expect(mean).toBeCloseTo(2.5);
    expect(halfWidth).toBeCloseTo((1.96 * Math.sqrt(5 / 3)) / 2);
  });

  it('is empty without a sample', () => {
    expect(estimate([])).toEqual({ mean: 0, halfWidth: 0 });
    expect(estimate([3])).toEqual({ mean: 3, halfWidth: 0 });
  });
});
