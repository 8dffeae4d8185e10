import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createRandom } from '../../../src/domain/random.ts';
import { packRanks, unpackRanks } from '../../../src/recommend/placements/list-plan.ts';
import { teamDraft } from '../../../src/recommend/placements/team-draft.ts';

const ranking = fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { maxLength: 8 });

it('takes the best of both in turns, a coin deciding who is first', () => {
  const lists = new Set<string>();
  for (let seed = 0; seed < 50; seed++)
    lists.add(teamDraft([1, 2, 3], [4, 5, 6], 4, createRandom(seed)).join(' '));
  expect([...lists].sort()).toEqual(['1 4 2 5', '1 4 5 2', '4 1 2 5', '4 1 5 2']);
});

it('keeps what both agree on, and has each item once and in the order of each', () => {
  fc.assert(
    fc.property(ranking, ranking, fc.nat({ max: 16 }), fc.nat(), (first, second, most, seed) => {
      const rows = teamDraft(first, second, most, createRandom(seed));
      const all = new Set([...first, ...second]);
      expect(new Set(rows).size).toBe(rows.length);
      expect(rows.length).toBe(Math.min(most, all.size));
      // Neither loses more than its turn: of the first k entries each chose at least half, less one, from its top.
      for (const own of [first, second])
        for (let k = 1; k <= rows.length; k++) {
          const top = own.slice(0, Math.floor(k / 2));
          expect(top.every((row) => rows.slice(0, k).includes(row))).toBe(true);
        }
    }),
  );
  expect(teamDraft([1, 2, 3], [1, 2, 3], 3, createRandom(1))).toEqual([1, 2, 3]);
});

it('is told by the places in both rankings', () => {
  const plan = packRanks([3, 1, 9], [1, 3], [3, 4, 1]);
  expect(plan).toMatch(/^r[\w-]+$/);
  expect(unpackRanks(plan)).toEqual([
    { first: 2, second: 1 },
    { first: 1, second: 3 },
    { first: 0, second: 0 },
  ]);
  expect(unpackRanks('pAAAA')).toBeUndefined();
});
