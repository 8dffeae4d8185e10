import { describe, expect, it } from 'vitest';
import { finish, fitAls } from '../../../bench/fit-in-thread.ts';
import { createRandom } from '../../../src/domain/random.ts';
import { loadKernels } from '../../../src/kernel/load-kernels.ts';
import { paddedFactors } from '../../../src/kernel/scratch-sizes.ts';
import { decomposeScore } from '../../../src/model/als/collaborative-model.ts';
import { MfScorer, placeModel } from '../../../src/model/als/mf-scorer.ts';
import { atOnce } from '../../../src/platform/concurrency/event-loop-turns.ts';
import { checkerboard } from '../checkerboard.ts';

const board = checkerboard(30, 12);
const model = finish(fitAls(board, { factors: 6, epochs: 6 }, loadKernels));
const placed = placeModel(model, loadKernels);
const scorer = new MfScorer(placed, loadKernels(placed.memory));

/** Factors of many items, seeded. */
function factorsOf(items: number): Float32Array {
  const random = createRandom(5);
  const f = paddedFactors(model.factors);
  return Float32Array.from({ length: items * f }, (_, at) =>
    at % f < model.factors ? random.float() - 0.3 : 0,
  );
}

describe('the decomposition of a score', () => {
  it('adds up to the score of the folded-in user', () => {
    const liked = [0, 4, 8];
    const [score] = scorer.scoreItems(scorer.foldIn(liked)!, [2]);
    const { score: sum, parts } = atOnce(decomposeScore(scorer, liked, 2))!;
    expect(sum).toBeCloseTo(score!, 4);
    expect(parts.map((part) => part.itemRow)).toEqual(liked);
    expect(parts.reduce((total, part) => total + part.score, 0)).toBeCloseTo(sum, 10);
  });

  it('says that an item of the same kind pulls towards it and one of the other kind does not', () => {
    const { parts } = atOnce(decomposeScore(scorer, [4, 5], 2))!;
    expect(parts[0]!.score).toBeGreaterThan(Math.abs(parts[1]!.score) * 5);
  });

  it('adds up for somebody with many likes, whatever others ask meanwhile', () => {
    const many = Array.from({ length: 600 }, (_, at) => (at * 7) % 900);
    const wide = placeModel({ ...model, itemCount: 900, itemFactors: factorsOf(900) }, loadKernels);
    const asked = new MfScorer(wide, loadKernels(wide.memory));
    const [score] = asked.scoreItems(asked.foldIn(many)!, [2]);
    let pauses = 0;
    const { score: sum, parts } = atOnce(decomposeScore(asked, many, 2), () => {
      pauses++;
      asked.foldIn([pauses]);
      asked.recommend(asked.foldIn([5, pauses])!, 10, [1, 2, 3]);
    })!;
    expect([pauses, parts.length]).toEqual([2, 600]);
    expect(sum).toBeCloseTo(score!, 4);
  });

  it('passes over items that the model does not know', () => {
    expect(atOnce(decomposeScore(scorer, [0, 99], 2))!.parts.map((part) => part.itemRow)).toEqual([0]);
    expect(atOnce(decomposeScore(scorer, [99], 2))).toBeUndefined();
    expect(atOnce(decomposeScore(scorer, [0], 99))).toBeUndefined();
  });
});
