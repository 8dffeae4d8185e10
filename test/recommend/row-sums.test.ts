import { expect, test } from 'vitest';
import { RowSums } from '../../src/recommend/models/row-sums.ts';
import { ItemFeatureCache } from '../../src/recommend/ranking/item-feature-cache.ts';

test('sums are those of a map, from one user to the next, also of rows never seen before', () => {
  const sums = new RowSums();
  for (const round of [1, 2, 3]) {
    sums.clear();
    const model = new Map<number, number>();
    for (let table = 0; table < 40; table++) {
      const rowsOf = (at: number) => ((at * 7919 + table * 104_729) % 900) * round * 3;
      const rows = Uint32Array.from({ length: 50 }, (_, at) => rowsOf(at));
      const values = Float32Array.from(rows, (row, at) => ((row + at) % 11) - 4);
      // The table's row 1; a table has rows up to the last that it names.
      const starts = new Uint32Array(900 * round * 3 + 1).fill(50);
      starts.fill(0, 0, 2);
      sums.addRows({ starts, rows, scores: values }, [1, 900 * round * 3, 1], [round / 3, 1]);
      rows.forEach((row, at) => void model.set(row, (model.get(row) ?? 0) + (round / 3) * values[at]!));
    }
    for (let row = 0; row < 9000; row++) expect(sums.get(row)).toBe(model.get(row) ?? 0);
    expect(sums.largest()).toBe(Math.max(0, ...model.values()));
    const accept = (row: number) => row % 5 !== 0;
    const best = [...model].filter(([row, sum]) => sum > 0 && accept(row));
    best.sort(([row, sum], [other, otherSum]) => otherSum - sum || row - other);
    for (const k of [0, 10, 10_000]) {
      const expected = best.slice(0, k).map(([row]) => row);
      expect(sums.top(k, accept).rows).toEqual(expected);
      expect([...sums.topRows(k, accept)].sort((a, b) => a - b)).toEqual(expected.sort((a, b) => a - b));
    }
  }
});

test('the best are found below the highest sums where these are refused', () => {
  const sums = new RowSums();
  const rows = Uint32Array.from({ length: 4000 }, (_, row) => row);
  const scores = Float32Array.from(rows, (row) => 1 + ((row * 7919) % 4001));
  const starts = new Uint32Array(4001).fill(4000, 1);
  sums.addRows({ starts, rows, scores }, [0], [1]);
  const ordered = [...scores.keys()].sort((a, b) => scores[b]! - scores[a]!);
  const low = new Set(ordered.slice(2000));
  expect(sums.top(20, (row) => low.has(row)).rows).toEqual(ordered.slice(2000, 2020));
  expect(sums.top(20, () => true).rows).toEqual(ordered.slice(0, 20));
});

test('features that are kept are worked out once for an item', () => {
  let asked = 0;
  const kept = new ItemFeatureCache(10, 2);
  const write = (row: number, out: Float64Array, at: number) => {
    asked++;
    out[at] = row / 3;
  };
  for (let round = 0; round < 2; round++) {
    const { values, places } = kept.placesOf([1, 9, 12], write);
    expect(Array.from(places.subarray(0, 3), (place) => values[place])).toEqual([1 / 3, 3, 4]);
  }
  expect(asked).toBe(4);
});
