import { expect, it } from 'vitest';
import { RowSet } from '../../src/recommend/rows/row-set.ts';

it('empties a set of rows at once and grows with its rows', () => {
  const set = new RowSet();
  set.add(3);
  set.add(100_000);
  expect([set.has(3), set.has(100_000), set.has(4), set.has(200_000)]).toEqual([true, true, false, false]);
  set.clear();
  expect([set.has(3), set.has(100_000)]).toEqual([false, false]);
});
