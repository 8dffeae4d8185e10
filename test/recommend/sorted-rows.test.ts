import fc from 'fast-check';
import { expect, test } from 'vitest';
import { atOnce } from '../../src/platform/concurrency/event-loop-turns.ts';
import { Catalogue } from '../../src/recommend/catalogue/catalogue.ts';
import { PopularIndex } from '../../src/recommend/global-lists/popular-index.ts';
import { topKInTurns } from '../../src/recommend/global-lists/ranked-index.ts';
import { SortedRows } from '../../src/recommend/global-lists/sorted-rows.ts';
import { CommonSums } from '../../src/recommend/neighbors/common-sums.ts';
import { PopularityCounts } from '../../src/recommend/popularity/popularity-counts.ts';
import { FeedbackColumns } from '../../src/store/data-store.ts';

const NOW = 1_700_000_000_000;

function orderOf(sorted: SortedRows): number[] {
  return [...sorted];
}

test('rows stand in the order of their numbers, whatever is set and taken out', () => {
  const sets = fc.array(fc.tuple(fc.nat(1500), fc.oneof(fc.nat(40), fc.constant(Number.NaN))), {
    maxLength: 6000,
    size: 'max',
  });
  fc.assert(
    fc.property(sets, (all) => {
      const sorted = new SortedRows();
      const model = new Map<number, number>();
      for (const [row, key] of all) {
        sorted.set(row, key);
        if (Number.isNaN(key)) model.delete(row);
        else model.set(row, key);
      }
      const expected = [...model.keys()].sort((a, b) => model.get(b)! - model.get(a)! || a - b);
      expect(orderOf(sorted)).toEqual(expected);
      expect(sorted.size).toBe(expected.length);
    }),
    { numRuns: 20, seed: 1 },
  );
});

test('the ranking of popular items that is brought up to date is the one that is made anew', async () => {
  const ITEMS = 6000;
  const catalogue = new Catalogue(() => NOW);
  for (let row = 0; row < ITEMS; row++) {
    const categories = row % 3 === 0 ? ['third'] : [];
    const item = { row, itemId: `i${row}`, hidden: row % 50 === 0, timestampMs: Number.NaN, labels: [] };
    catalogue.put({ ...item, categories });
  }
  const popularity = new PopularityCounts(
    { windowMs: 3_600_000, ttlMs: Number.POSITIVE_INFINITY },
    () => NOW,
  );
  const kept = new PopularIndex(popularity, catalogue);
  const counts = new Uint32Array(ITEMS);
  let state = 7;
  const random = (below: number) => (state = (Math.imul(state, 48271) >>> 0) % 2147483647) % below;
  for (let round = 0; round < 60; round++) {
    const [added, removed] = [new FeedbackColumns(), new FeedbackColumns()];
    for (let record = 0; record < (round % 20 === 0 ? 9000 : 300); record++) {
      const row = random(ITEMS) % (1 + random(ITEMS));
      if (counts[row]! > 0 && random(3) === 0) {
        counts[row]!--;
        removed.push(0, row, 0, NOW);
      } else {
        counts[row]!++;
        added.push(0, row, 0, NOW);
      }
    }
    popularity.apply(added, () => true, 1);
    popularity.apply(removed, () => true, -1);
    const expected = (k: number, accept: (row: number) => boolean) =>
      [...counts.keys()]
        .filter((row) => counts[row]! > 0 && row % 50 !== 0 && accept(row))
        .sort((a, b) => counts[b]! - counts[a]! || a - b)
        .slice(0, k);
    for (const k of [10, round === 30 ? 3000 : 700])
      expect((await kept.top(k, [], () => true)).rows).toEqual(expected(k, () => true));
    expect((await kept.top(50, ['third'], () => true)).rows).toEqual(expected(50, (row) => row % 3 === 0));
  }
});

test('what rows have in common is summed by row, also when more rows come than were expected', () => {
  const sums = new CommonSums(2);
  const model = new Map<number, number>();
  for (let at = 0; at < 5000; at++) {
    const row = Math.imul(at % 700, 0x10001) >>> 0;
    sums.add(row, at);
    model.set(row, (model.get(row) ?? 0) + at);
  }
  expect(sums.size).toBe(700);
  for (let at = 0; at < 700; at++) {
    expect(sums.weightAt(at)).toBe(model.get(sums.rowAt(at)));
    expect(sums.countAt(at)).toBe(at < 5000 % 700 ? 8 : 7);
  }
});

test('a large table is empty when it is used again, and a small search takes none', () => {
  const first = CommonSums.taken(100_000);
  for (let row = 0; row < 80_000; row++) first.add(row * 3, 1);
  atOnce(first.giveBack());
  expect(CommonSums.taken(100)).not.toBe(first);
  const again = CommonSums.taken(70_000);
  expect(again).toBe(first);
  expect(again.size).toBe(0);
  // At work, it is nobody else's.
  expect(CommonSums.taken(70_000)).not.toBe(first);
  for (let row = 79_999; row >= 0; row--) again.add(row, 2);
  const sums = Array.from({ length: again.size }, (_, at) => [
    again.rowAt(at),
    again.weightAt(at),
    again.countAt(at),
  ]);
  expect(sums).toEqual(Array.from({ length: 80_000 }, (_, at) => [79_999 - at, 2, 1]));
});

test('a walk goes on where it was, whatever is set meanwhile', () => {
  const sorted = new SortedRows();
  for (let row = 0; row < 3000; row++) sorted.set(row, row);
  const seen: number[] = [];
  for (const row of sorted) {
    seen.push(row);
    if (row === 2000) {
      for (let other = 0; other < 3000; other += 2) sorted.set(other, Number.NaN);
      sorted.set(2500, 10_000);
      sorted.set(0, 1000.5);
    }
  }
  const before = Array.from({ length: 1000 }, (_, at) => 2999 - at);
  const after = Array.from({ length: 1000 }, (_, at) => 1999 - 2 * at).flatMap((row) =>
    row === 1001 ? [1001, 0] : [row],
  );
  expect(seen).toEqual([...before, ...after]);
});

test('the best of many rows are found in short steps', () => {
  let looked = 0;
  let mostBetweenPauses = 0;
  let lookedBefore = 0;
  const search = topKInTurns(
    Array.from({ length: 10_000 }, (_, row) => row),
    3,
    (row) => {
      looked++;
      return row % 5000;
    },
    (row) => row !== 4999,
  );
  const best = atOnce(search, () => {
    mostBetweenPauses = Math.max(mostBetweenPauses, looked - lookedBefore);
    lookedBefore = looked;
  });
  expect(best).toEqual({ rows: [9999, 4998, 9998], scores: [4999, 4998, 4998] });
  expect(looked).toBe(10_000);
  expect(mostBetweenPauses).toBeLessThan(1000);
});
