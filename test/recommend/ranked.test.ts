import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TopK } from '../../src/recommend/ranked.ts';
import { RowSet } from '../../src/recommend/row-set.ts';

it('keeps the best in a total order, as sorting everything would', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 60 }), fc.nat(70), (scores, k) => {
      const top = new TopK(k);
      scores.forEach((score, row) => {
        top.push(row, score);
      });
      const expected = scores
        .map((score, row) => ({ row, score }))
        .sort((a, b) => b.score - a.score || a.row - b.row)
        .slice(0, k);
      expect(top.sorted()).toEqual({
        rows: expected.map((e) => e.row),
        scores: expected.map((e) => e.score),
      });
    }),
  );
});

it('empties a set of rows at once and grows with its rows', () => {
  const set = new RowSet();
  set.add(3);
  set.add(100_000);
  expect([set.has(3), set.has(100_000), set.has(4), set.has(200_000)]).toEqual([true, true, false, false]);
  set.clear();
  expect([set.has(3), set.has(100_000)]).toEqual([false, false]);
});
