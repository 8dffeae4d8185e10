import { expect, it } from 'vitest';
import { createRandom } from '../../src/domain/random.ts';
import { SparseSums } from '../../src/memory/sparse-sums.ts';
import { TopK } from '../../src/memory/top-k.ts';

it('finds the largest sums as a map of them does, round after round, and asks for few rows', () => {
  const random = createRandom(7);
  const sums = new SparseSums();
  let asked = 0;
  for (let round = 0; round < 200; round++) {
    sums.clear();
    const oracle = new Map<number, number>();
    const rows = 1 + random.below(5000);
    for (let added = 0; added < 400; added++) {
      const row = random.below(rows);
      // Sums of 0, of equal values and below 0 are among them.
      const value = (random.below(5) - 2) / 4;
      sums.add(row, value);
      oracle.set(row, (oracle.get(row) ?? 0) + value);
    }
    const accept = (row: number) => row % 3 !== 0;
    const top = new TopK(10);
    for (const [row, sum] of oracle) if (accept(row)) top.push(row, sum);
    const best = sums.best(10, (row) => {
      asked++;
      return accept(row);
    });
    expect(best).toEqual(top.sorted());
  }
  expect(asked).toBeLessThan(200 * 300);
});

it('is empty once it is cleared', () => {
  const sums = new SparseSums();
  sums.add(5000, 1);
  sums.clear();
  expect(sums.best(5, () => true)).toEqual({ rows: [], scores: [] });
  sums.add(5000, 2);
  expect(sums.best(5, () => true)).toEqual({ rows: [5000], scores: [2] });
});
