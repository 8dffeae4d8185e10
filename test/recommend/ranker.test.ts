import { describe, expect, it } from 'vitest';
import { RANKING_FEATURES, rankCandidates, rankingFeatures } from '../../src/recommend/ranker.ts';
import { RowSums } from '../../src/recommend/row-sums.ts';
import { generation, scoredModel, trends } from './hand-made.ts';

const width = RANKING_FEATURES.length;
const case3 = { candidates: [2, 0, 7], userRow: 4, userLabels: () => ['tall'], vector: Float32Array.of(1) };
const counts = trends({ recent: [0, 0, 1], window: [2, 0, 3], ever: [4, 0, 5] });

/** Log-odds: the item's row, plus 100 for a user with the label `tall`, less the user's row. */
const clickThrough = {
  logits: (userRow: number, labels: readonly string[], rows: readonly number[]) =>
    Float32Array.from(rows, (row) => row + (labels.includes('tall') ? 100 : 0) - userRow),
};

function table(features: Float64Array): number[][] {
  return Array.from({ length: features.length / width }, (_, at) => [
    ...features.subarray(at * width, (at + 1) * width),
  ]);
}

describe('the features of candidates', () => {
  it('are the two scores, and the logarithms of the three counts', () => {
    const full = generation({ collaborative: scoredModel([0.5, 0, 0.25]), clickThrough });
    expect(RANKING_FEATURES).toEqual([
      'collaborative',
      'click_through',
      'popular_recently',
      'popular',
      'popular_ever',
      'item_weights',
    ]);
    expect(table(rankingFeatures(case3, full, counts))).toEqual([
      [0.25, 98, Math.log1p(1), Math.log1p(3), Math.log1p(5), 0],
      [0.5, 96, 0, Math.log1p(2), Math.log1p(4), 0],
      // Item 7 came after the model and the counts.
      [0, 103, 0, 0, 0, 0],
    ]);
  });

  it('hold the sum of what the likes of the user speak for', () => {
    const itemWeights = new RowSums();
    itemWeights.add(7, 0.5);
    itemWeights.add(0, -0.25);
    itemWeights.add(7, 0.125);
    const sums = table(rankingFeatures({ ...case3, itemWeights }, undefined, counts)).map((row) => row[5]);
    expect(sums).toEqual([0, -0.25, 0.625]);
    itemWeights.clear();
    expect(table(rankingFeatures({ ...case3, itemWeights }, undefined, counts))[2]![5]).toBe(0);
  });

  it('are 0 where a model is missing, or the user has no vector', () => {
    const without = [
      [0, 0, Math.log1p(1), Math.log1p(3), Math.log1p(5), 0],
      [0, 0, 0, Math.log1p(2), Math.log1p(4), 0],
      [0, 0, 0, 0, 0, 0],
    ];
    expect(table(rankingFeatures(case3, undefined, counts))).toEqual(without);
    const noVector = { ...case3, vector: undefined };
    const collaborative = generation({ collaborative: scoredModel([0.5, 0, 0.25]) });
    expect(table(rankingFeatures(noVector, collaborative, counts))).toEqual(without);
  });
});

describe('ranking', () => {
  it('is the logistic function of the weighted features', () => {
    const ranking = { bias: -1, weights: [2, 0.01, 1, 0, 0, 0] };
    const full = generation({ collaborative: scoredModel([0.5, 0, 0.25]), clickThrough, ranking });
    const [item2, item0, item7] = rankCandidates(case3, full, counts, true, 1);
    const probability = (logit: number) => 1 / (1 + Math.exp(-logit));
    expect(item2).toBeCloseTo(probability(-1 + 2 * 0.25 + 0.98 + Math.LN2), 12);
    expect(item0).toBeCloseTo(probability(-1 + 2 * 0.5 + 0.96), 12);
    expect(item7).toBeCloseTo(probability(-1 + 1.03), 12);
  });

  it('falls back to the collaborative score, then to a seeded random order', () => {
    const collaborative = generation({ collaborative: scoredModel([0.5, 0, 0.25]) });
    expect([...rankCandidates(case3, collaborative, counts, true, 1)]).toEqual([0.25, 0.5, 0]);
    const noVector = { ...case3, vector: undefined };
    const random = rankCandidates(noVector, collaborative, counts, true, 1);
    expect(new Set(random).size).toBe(3);
    expect(random.every((score) => score >= 0 && score < 1)).toBe(true);
    expect(rankCandidates(noVector, collaborative, counts, true, 1)).toEqual(random);
    expect(rankCandidates(noVector, collaborative, counts, true, 2)).not.toEqual(random);
  });
});
