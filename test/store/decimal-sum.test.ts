import { describe, expect, it } from 'vitest';
import { createRandom } from '../../src/domain/random.ts';
import { DecimalSum } from '../../src/store/decimal-sum.ts';

function sumOf(values: readonly number[]): number {
  const sum = new DecimalSum();
  for (const value of values) sum.add(value);
  return sum.value;
}

describe('a sum of decimal numbers', () => {
  it.each([
    [[], 0],
    [[0.1, 0.2, -0.3], 0],
    [[1.1, 2.2], 3.3],
    [[0.7, 0.1, 0.3], 1.1],
    [[-0.25, 0.05, 0.2], 0],
    [[1e15, 1, -1e15], 1],
    [[1e22, 1, -1e22], 1],
    [[123456789.125, -123456789], 0.125],
    [[1e-200, 2e-200], 3e-200],
    [[1e308, 1e308], Number.MAX_VALUE],
    [[-1e308, -1e308, -1e308], -Number.MAX_VALUE],
  ])('%j is %d', (values, sum) => {
    expect(sumOf(values)).toBe(sum);
  });

  it('is that of whole hundredths, in any order and number', () => {
    const random = createRandom(3);
    for (let round = 0; round < 50; round++) {
      const cents = Array.from({ length: 1 + random.below(3000) }, () => random.below(200_001) - 100_000);
      const exact = cents.reduce((sum, each) => sum + each, 0) / 100;
      expect(sumOf(cents.map((each) => each / 100))).toBe(exact);
    }
  });
});
