import { describe, expect, it } from 'vitest';
import { finish, fitAls } from '../../../bench/fit-in-thread.ts';
import { loadKernels } from '../../../src/kernel/load-kernels.ts';
import { decomposeScore } from '../../../src/model/als/collaborative-model.ts';
import { MfScorer, placeModel } from '../../../src/model/als/mf-scorer.ts';
import { atOnce } from '../../../src/platform/concurrency/event-loop-turns.ts';
import { checkerboard } from '../checkerboard.ts';

const board = checkerboard(30, 12);
const placed = placeModel(finish(fitAls(board, { factors: 6, epochs: 6 }, loadKernels)), loadKernels);
const scorer = new MfScorer(placed, loadKernels(placed.memory));

describe('the decomposition of a score', () => {
  it('adds up to the score of the folded-in user', () => {
    const liked = [0, 4, 8];
    const [score] = scorer.scoreItems(scorer.foldIn(liked)!, [2]);
    let pauses = 0;
    const { score: sum, parts } = atOnce(decomposeScore(placed, liked, 2), () => pauses++)!;
    // Adding up takes its time, too.
    expect(pauses).toBe(2 * parts.length);
    expect(sum).toBeCloseTo(score!, 4);
    expect(parts.map((part) => part.itemRow)).toEqual(liked);
    expect(parts.reduce((total, part) => total + part.score, 0)).toBeCloseTo(sum, 10);
  });

  it('says that an item of the same kind pulls towards it and one of the other kind does not', () => {
    const { parts } = atOnce(decomposeScore(placed, [4, 5], 2))!;
    expect(parts[0]!.score).toBeGreaterThan(Math.abs(parts[1]!.score) * 5);
  });

  it('passes over items that the model does not know', () => {
    expect(atOnce(decomposeScore(placed, [0, 99], 2))!.parts.map((part) => part.itemRow)).toEqual([0]);
    expect(atOnce(decomposeScore(placed, [99], 2))).toBeUndefined();
    expect(atOnce(decomposeScore(placed, [0], 99))).toBeUndefined();
  });
});
