import { describe, expect, it } from 'vitest';
import { finish } from '../../../bench/fit-in-thread.ts';
import { createRandom } from '../../../src/domain/random.ts';
import { ItemSampler, itemWeights } from '../../../src/model/click/item-sampler.ts';
import {
  dealPairs,
  groupByUser,
  hasPair,
  joinExamples,
  shuffleExamples,
} from '../../../src/model/click/pairs-and-negatives.ts';

const pairs = { userRows: [2, 0, 2, 2, 0], itemRows: [5, 1, 0, 3, 4] };

describe('pairs', () => {
  it('are grouped by user, items ascending', () => {
    const { starts, items } = finish(groupByUser(4, 6, [pairs, { userRows: [3], itemRows: [2] }]));
    expect([...starts]).toEqual([0, 2, 2, 5, 6]);
    expect([...items]).toEqual([1, 4, 0, 3, 5, 2]);
    const known = finish(groupByUser(4, 6, [pairs]));
    const found = Array.from({ length: 6 }, (_, item) => hasPair(known, 2, item));
    expect(found).toEqual([true, false, false, true, false, true]);
    expect(hasPair(known, 1, 0)).toBe(false);
  });

  it('outside the counts are refused', () => {
    expect(() => finish(groupByUser(2, 6, [pairs]))).toThrow('(2, 5) lies outside 2 x 6');
    expect(() => finish(groupByUser(4, 5, [pairs]))).toThrow('outside');
  });

  it('are dealt to two piles, every pair with the same chance', () => {
    const columns = { userRows: Array.from({ length: 10 }, (_, at) => at), itemRows: new Array(10).fill(0) };
    const random = createRandom(3);
    const dealt = [new Array(10).fill(0), new Array(10).fill(0)] as [number[], number[]];
    for (let round = 0; round < 2000; round++) {
      const piles = finish(dealPairs(columns, [3, 2], random));
      expect(piles.map(({ userRows }) => userRows.length)).toEqual([3, 2]);
      expect(new Set(piles.flatMap(({ userRows }) => [...userRows])).size).toBe(5);
      for (const [side, { userRows }] of piles.entries()) for (const row of userRows) dealt[side]![row]!++;
    }
    for (const count of dealt[0]) expect(Math.abs(count - 600)).toBeLessThan(100);
    for (const count of dealt[1]) expect(Math.abs(count - 400)).toBeLessThan(100);
  });

  it('keep their target when they are shuffled', () => {
    const examples = joinExamples([pairs], [{ userRows: [7, 8], itemRows: [7, 8] }]);
    finish(shuffleExamples(examples, createRandom(1)));
    const all = Array.from(examples.userRows, (user, at) =>
      [user, examples.itemRows[at], examples.targets[at]].join(),
    );
    expect(all.sort()).toEqual(['0,1,1', '0,4,1', '2,0,1', '2,3,1', '2,5,1', '7,7,0', '8,8,0']);
    expect([...examples.userRows]).not.toEqual([2, 0, 2, 2, 0, 7, 8]);
  });
});

describe('sampled items', () => {
  it('come as often as their weights say, and never without weight', () => {
    const columns = { userRows: [0, 0, 0, 0, 0], itemRows: [1, 1, 1, 1, 3] };
    const weights = finish(itemWeights(5, [columns], 0.5));
    expect([...weights]).toEqual([0, 2, 0, 1, 0]);
    const sampler = new ItemSampler(weights, createRandom(1));
    const drawn = new Array(5).fill(0) as number[];
    for (let draw = 0; draw < 30_000; draw++) drawn[sampler.draw()]!++;
    expect([drawn[0], drawn[2], drawn[4]]).toEqual([0, 0, 0]);
    expect(drawn[1]! / 30_000).toBeCloseTo(2 / 3, 2);
  });

  it('are none that the user has; none at all when the user has everything', () => {
    const sampler = new ItemSampler(Float64Array.of(1, 1, 1), createRandom(1));
    const known = finish(groupByUser(2, 3, [{ userRows: [0, 0, 1, 1, 1], itemRows: [0, 2, 0, 1, 2] }]));
    for (let draw = 0; draw < 50; draw++) expect(sampler.drawUnknown(0, known)).toBe(1);
    expect(sampler.drawUnknown(1, known)).toBe(-1);
  });
});
