import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createRandom } from '../../../src/domain/random.ts';
import { type ExploredParts, exploreList } from '../../../src/recommend/placements/explored-list.ts';
import { packChosen, unpackChosen } from '../../../src/recommend/placements/list-plan.ts';

const POOL = [
  { row: 100, share: 0.75 },
  { row: 101, share: 0.25 },
];

function parts(more: Partial<ExploredParts> = {}): ExploredParts {
  const random = createRandom(3);
  return {
    rows: [1, 2, 3, 4, 5],
    isFree: () => true,
    pool: POOL,
    other: undefined,
    share: 0.1,
    random,
    ...more,
  };
}

it('leaves a list alone without a share, and where there is nothing to show', () => {
  expect(exploreList(parts({ share: 0 })).rows).toEqual([1, 2, 3, 4, 5]);
  for (const nothing of [parts({ pool: [], share: 0.5 }), parts({ rows: [], share: 0.5 })]) {
    const { rows, chosen } = exploreList(nothing);
    expect(rows).toEqual(nothing.rows);
    expect(chosen.every(({ chance }) => chance === 1)).toBe(true);
  }
});

it('changes at most one place, and no pin', () => {
  const random = createRandom(4);
  let changes = 0;
  for (let list = 0; list < 4000; list++) {
    const { rows } = exploreList(parts({ random, isFree: (at) => at !== 1 }));
    const changed = rows.filter((row) => row >= 100);
    expect(rows[1]).toBe(2);
    expect(changed.length).toBeLessThanOrEqual(1);
    changes += changed.length;
  }
  // A tenth of five places.
  expect(changes / 4000).toBeCloseTo(0.5, 1);
});

it('tells the chance of each item at its place', () => {
  const row = fc.integer({ min: 1, max: 8 });
  const lists = fc.record({
    rows: fc.uniqueArray(row, { minLength: 1, maxLength: 5 }),
    other: fc.option(fc.uniqueArray(fc.oneof(row, fc.constant(100)), { maxLength: 6 }), { nil: undefined }),
    pinned: fc.option(fc.nat({ max: 4 }), { nil: undefined }),
    hasPool: fc.boolean(),
    share: fc.constantFrom(0.05, 0.2, 0.5),
  });
  const count = 4000;
  fc.assert(
    fc.property(lists, fc.nat(), ({ rows, other, pinned, hasPool, share }, seed) => {
      const random = createRandom(seed);
      const pool = hasPool ? POOL : [];
      const seen = new Map<string, { times: number; chance: number }>();
      // Counted, since a million expectations take longer than all else.
      let [short, mistold] = [0, 0];
      for (let list = 0; list < count; list++) {
        const made = exploreList({ rows, other, pool, share, random, isFree: (at) => at !== pinned });
        short += Number(new Set(made.rows).size !== rows.length);
        for (const [at, item] of made.rows.entries()) {
          const key = `${item} at ${at}`;
          const { chance, isOther } = made.chosen[at]!;
          mistold += Number(isOther !== (other?.[at] === item));
          seen.set(key, { times: (seen.get(key)?.times ?? 0) + 1, chance });
        }
      }
      expect({ short, mistold }).toEqual({ short: 0, mistold: 0 });
      for (const { times, chance } of seen.values())
        expect(Math.abs(times / count - chance)).toBeLessThan(
          5 * Math.sqrt((chance * (1 - chance)) / count) + 1e-9,
        );
    }),
    { numRuns: 30 },
  );
});

it('says where the other ranking has what is never shown', () => {
  const other = [2, 7, 3];
  const { chosen } = exploreList(parts({ other, pool: [], isFree: (at) => at > 0 }));
  // A pin stands first; places four and five have nothing of the other.
  expect(chosen.map(({ isNever }) => isNever)).toEqual([true, false, false, true, true]);
});

it('is packed for a token with chances to the thousandth', () => {
  const { chosen } = exploreList(parts({ other: [2, 7, 3], share: 0.2 }));
  const plan = packChosen(chosen);
  expect(plan).toMatch(/^p[\w-]+$/);
  const again = unpackChosen(plan)!;
  expect(again.map(({ isOther }) => isOther)).toEqual(
    chosen.map(({ isOther, isNever }) => isOther && !isNever),
  );
  for (const [at, { chance }] of chosen.entries()) expect(again[at]!.chance / chance).toBeCloseTo(1, 3);
  expect(unpackChosen('rAAAA')).toBeUndefined();
});
