import { expect, test } from 'vitest';
import { keepFeatures } from '../../src/recommend/kept-features.ts';
import { RowSums } from '../../src/recommend/row-sums.ts';

test('sums are those of a map, from one user to the next, also of rows never seen before', () => {
  const sums = new RowSums();
  for (const round of [1, 2, 3]) {
    sums.clear();
    const model = new Map<number, number>();
    for (let table = 0; table < 40; table++) {
      const rows = Uint32Array.from(
        { length: 50 },
        (_, at) => ((at * 7919 + table * 104_729) % 900) * round * 3,
      );
      const values = Float32Array.from(rows, (row, at) => ((row + at) % 11) - 4);
      sums.addAll(rows, values, round / 3);
      rows.forEach((row, at) => void model.set(row, (model.get(row) ?? 0) + (round / 3) * values[at]!));
    }
    for (let row = 0; row < 9000; row++) expect(sums.get(row)).toBe(model.get(row) ?? 0);
    expect(sums.largest()).toBe(Math.max(0, ...model.values()));
    const accept = (row: number) => row % 5 !== 0;
    const best = [...model].filter(([row, sum]) => sum > 0 && accept(row));
    best.sort(([row, sum], [other, otherSum]) => otherSum - sum || row - other);
    for (const k of [0, 10, 10_000])
      expect(sums.top(k, accept).rows).toEqual(best.slice(0, k).map(([row]) => row));
  }
});

test('a feature that is kept is worked out once for an item', () => {
  let asked = 0;
  const keep = keepFeatures(10);
  const value = (row: number) => {
    asked++;
    return row / 3;
  };
  for (let round = 0; round < 2; round++) expect([1, 9, 12].map(keep(2, value))).toEqual([1 / 3, 3, 4]);
  expect(asked).toBe(4);
  expect(keep(3, () => 7)(1)).toBe(7);
});
