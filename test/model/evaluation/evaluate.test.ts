import { describe, expect, it } from 'vitest';
import { fitBpr } from '../../../bench/baselines/bpr.ts';
import { finish, fitAls } from '../../../bench/fit-in-thread.ts';
import { evaluateFullCatalogue, evaluateSampled } from '../../../bench/quality/evaluations.ts';
import { createMfRanker } from '../../../bench/rankers/factors-ranker.ts';
import { createPopularityRanker } from '../../../bench/rankers/popularity-ranker.ts';
import { buildInteractions } from '../../../src/dataset/interactions.ts';
import { loadKernels } from '../../../src/kernel/load-kernels.ts';
import { MfScorer, placeModel } from '../../../src/model/als/mf-scorer.ts';
import type { MatrixFactorization } from '../../../src/model/als/model.ts';
import { evaluateUsers, mergeParts } from '../../../src/model/evaluation/evaluate.ts';
import { type Ranker, topRows } from '../../../src/model/evaluation/ranker.ts';
import { checkerboard, missingItem } from '../checkerboard.ts';

const none = new Uint32Array(0);
const board = checkerboard(40, 20);
const users = Array.from({ length: 40 }, (_, user) => user);
const missing = buildInteractions({
  userCount: 40,
  itemCount: 20,
  userRows: users,
  itemRows: users.map((user) => missingItem(user, 20)),
});

function mfRanker(model: MatrixFactorization): Ranker {
  const placed = placeModel(model, loadKernels);
  return createMfRanker(new MfScorer(placed, loadKernels(placed.memory)));
}

const rankers: [string, Ranker][] = [
  ['als', mfRanker(finish(fitAls(board, { factors: 8 }, loadKernels)))],
  ['bpr', mfRanker(fitBpr(board, { factors: 8, epochs: 200 }))],
];

describe.each(rankers)('the model %s', (_name, ranker) => {
  it('finds the missing square of every user of the checkerboard', () => {
    const { userCount, metrics } = evaluateFullCatalogue(ranker, board.byUser, missing.byUser, [1]);
    expect(userCount).toBe(40);
    expect(metrics.get('NDCG@1')).toEqual({ mean: expect.closeTo(1), halfWidth: expect.closeTo(0) });
    expect(metrics.get('Coverage@1')?.mean).toBe(1);
  });

  it('scores the missing square above the other color', () => {
    const cases = users.map((userRow) => ({
      userRow,
      itemRow: missingItem(userRow, 20),
      negativeRows: Uint32Array.from({ length: 10 }, (_, at) => at * 2 + ((userRow + 1) % 2)),
    }));
    expect(evaluateSampled(ranker, cases, [1]).metrics.get('HR@1')?.mean).toBeCloseTo(1);
  });

  it('measures the same in parts as in one', () => {
    const part = (first: number, end: number) =>
      evaluateUsers(ranker, board.byUser, missing.byUser, [1, 3], { first, end });
    const whole = evaluateFullCatalogue(ranker, board.byUser, missing.byUser, [1, 3]);
    expect(mergeParts([part(0, 7), part(7, 30), part(30, 40)], [1, 3])).toEqual(whole);
  });

  it('repeats itself', () => {
    expect(ranker.topItems(3, 5, none)).toEqual(ranker.topItems(3, 5, none));
  });

  it('gives an unknown user nothing', () => {
    expect(ranker.topItems(99, 5, none)).toHaveLength(0);
  });
});

describe('popularity', () => {
  it('puts the item of most users first', () => {
    const few = buildInteractions({
      userCount: 3,
      itemCount: 3,
      userRows: [0, 1, 2, 0],
      itemRows: [2, 2, 1, 1],
    });
    const ranker = createPopularityRanker(few.byItem);
    expect([...ranker.topItems(0, 3, none)]).toEqual([1, 2, 0]);
    expect([...ranker.topItems(0, 3, Uint32Array.of(1))]).toEqual([2, 0]);
  });
});

describe('the sampled protocol', () => {
  it('gives a constant scorer no credit, and passes over the held-out item among its negatives', () => {
    const constant: Ranker = { topItems: () => none, scoreItems: (_user, _rows, out) => out.fill(1) };
    const one = { userRow: 0, itemRow: 1, negativeRows: Uint32Array.of(2, 1) };
    expect(evaluateSampled(constant, [one], [1]).metrics.get('HR@1')?.mean).toBe(0);
    expect(evaluateSampled(constant, [one], [2]).metrics.get('HR@2')?.mean).toBe(1);
  });
});

describe('the highest scores', () => {
  it('come best first, ties to the lower row, without excluded rows and rows without a score', () => {
    const scores = Float32Array.of(1, 3, Number.NaN, 3, Number.NEGATIVE_INFINITY, 2);
    expect([...topRows(scores, 10, none)]).toEqual([1, 3, 5, 0]);
    expect([...topRows(scores, 2, Uint32Array.of(1))]).toEqual([3, 5]);
    expect([...topRows(scores, 0, none)]).toEqual([]);
  });
});
