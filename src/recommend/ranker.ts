import { createRandom } from '../domain/random.ts';
import { logisticProbability } from '../model/logistic.ts';
import type { RowSums } from './row-sums.ts';
import type { Generation } from './serving-model.ts';
import type { TrendCounts } from './trends.ts';

/** What the ranking looks at for each candidate, in this order. */
export const RANKING_FEATURES = [
  'collaborative',
  'click_through',
  'popular_recently',
  'popular',
  'popular_ever',
  'item_weights',
] as const;

/** One user's candidates, and what scores them. */
export interface RankingCase {
  readonly candidates: readonly number[];
  readonly userRow: number;
  readonly userLabels: () => readonly string[];
  /** The user's vector in the collaborative model, undefined without one. */
  readonly vector: Float32Array | undefined;
  /** What the user's likes speak for in the sparse linear model; absent without one. */
  readonly itemWeights?: RowSums;
}

/**
 * The features of each candidate, `RANKING_FEATURES.length` numbers a row: the collaborative score, the log-odds of
 * the click-through model, ln(1 + count) of the positive feedback lately, in the window, and ever, and the sum of the
 * item's weights on the user's likes. A model that is missing gives 0.
 */
export function rankingFeatures(
  { candidates, userRow, userLabels, vector, itemWeights }: RankingCase,
  generation: Generation | undefined,
  trends: TrendCounts,
): Float64Array {
  const width = RANKING_FEATURES.length;
  const features = new Float64Array(candidates.length * width);
  const collaborative = vector && generation?.collaborative?.scoreItems(vector, candidates);
  const clicks = generation?.clickThrough?.logits(userRow, userLabels(), candidates);
  const { recent, window, ever } = trends;
  for (let at = 0; at < candidates.length; at++) {
    const row = candidates[at]!;
    const from = at * width;
    features[from] = collaborative?.[at] ?? 0;
    features[from + 1] = clicks?.[at] ?? 0;
    features[from + 2] = Math.log1p(recent[row] ?? 0);
    features[from + 3] = Math.log1p(window[row] ?? 0);
    features[from + 4] = Math.log1p(ever[row] ?? 0);
    features[from + 5] = itemWeights?.get(row) ?? 0;
  }
  return features;
}

/**
 * A score for each candidate, the higher the better: the probability of positive feedback when click-through is
 * predicted; else the collaborative score if the user has one; else a place in a random order.
 * @param predict whether click-through prediction is on
 * @param seed of the random order; the same for the same user and generation
 */
export function rankCandidates(
  one: RankingCase,
  generation: Generation | undefined,
  trends: TrendCounts,
  predict: boolean,
  seed: number,
): Float64Array {
  const ranking = predict ? generation?.ranking : undefined;
  if (ranking !== undefined) {
    const features = rankingFeatures(one, generation, trends);
    const width = RANKING_FEATURES.length;
    const scores = new Float64Array(one.candidates.length);
    for (let at = 0; at < scores.length; at++)
      scores[at] = logisticProbability(ranking, features, at * width);
    return scores;
  }
  if (one.vector !== undefined && generation?.collaborative !== undefined) {
    return Float64Array.from(generation.collaborative.scoreItems(one.vector, one.candidates));
  }
  const random = createRandom(seed);
  return Float64Array.from(one.candidates, () => random.float());
}
