import { describe, expect, it } from 'vitest';
import { rowIndices } from '../../src/dataset/interactions.ts';
import { bestPopularity, randomRanker, seenBy } from '../../src/evaluate/baselines.ts';
import { createTrial } from '../../src/evaluate/hold-out-protocol.ts';
import { HOUR_MS, pastOf } from './past-of-records.ts';

const OPTIONS = { share: 0.5, usersMax: 100, seed: 1 } as const;

describe('a trial', () => {
  it('in time knows what came before and asks for what is new to users it knows', () => {
    const past = pastOf([
      [0, 0, 1],
      [1, 1, 2],
      [0, 1, 3],
      [0, 2, 3, false],
      [0, 0, 4],
      [2, 1, 5],
      [1, 0, 6],
      [1, 2, 6, false],
    ]);
    const trial = createTrial(past, OPTIONS);
    expect(trial.known).toEqual([0, 1, 2, 3]);
    expect(trial.nowMs).toBe(3 * HOUR_MS);
    // Neither the repeat of user 0 nor user 2, whom nobody has met.
    expect([...rowIndices(trial.test.byUser, 1)]).toEqual([0]);
    expect(trial.test.count).toBe(1);
    expect([...rowIndices(seenBy(trial), 0)]).toEqual([0, 1, 2]);
  });

  it('asks about so many users at the most, the same for the same seed', () => {
    const past = pastOf(
      Array.from({ length: 40 }, (_, user) => [
        [user, user % 3, user] as const,
        [user, 3 + (user % 2), 100 + user] as const,
      ])
        .flat()
        .concat([
          [0, 3, 0],
          [1, 4, 0],
        ]),
    );
    const usersOf = (seed: number) => {
      const { test } = createTrial(past, { ...OPTIONS, usersMax: 5, seed });
      return past.userIds.flatMap((_, row) => (rowIndices(test.byUser, row).length > 0 ? [row] : []));
    };
    expect(usersOf(1)).toHaveLength(5);
    expect(usersOf(1)).toEqual(usersOf(1));
    expect(usersOf(2)).not.toEqual(usersOf(1));
  });
});

describe('the references', () => {
  /** Everybody likes item 0 at first; lately it is item 1 to 3, by turns. */
  const past = pastOf(
    Array.from({ length: 200 }, (_, at) =>
      at < 100
        ? ([at % 50, 0, at] as const)
        : ([at % 50, 1 + Math.floor((at - 100) / 34), 1000 + at] as const),
    ),
  );

  it('choose the window of popularity on the known part alone', () => {
    const trial = createTrial(past, { ...OPTIONS, share: 0.2 });
    const { windowHours, ranker } = bestPopularity(trial, 1);
    expect(windowHours).toBeLessThan(200);
    expect(ranker.topItems(0, 1, new Uint32Array())[0]).not.toBe(0);
  });

  it('give chance an order of its own for each user, without what nobody liked yet', () => {
    const ranker = randomRanker(createTrial(past, { ...OPTIONS, share: 0.45 }), 1);
    const orders = Array.from({ length: 20 }, (_, user) =>
      ranker.topItems(user, 9, new Uint32Array()).join(),
    );
    expect(new Set(orders).size).toBeGreaterThan(1);
    expect(orders[0]!.split(',')).not.toContain('3');
    expect(ranker.topItems(3, 9, new Uint32Array()).join()).toBe(orders[3]);
  });
});
