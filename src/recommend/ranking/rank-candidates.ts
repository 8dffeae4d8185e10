import type { Config } from '../../config/config.ts';
import { createRandom } from '../../domain/random.ts';
import type { LogisticRegression } from '../../model/regression/logistic-regression.ts';
import { eachUserFeature, itemScore, type RankingCase, type RankingInputs } from './compute-features.ts';

/**
 * Order of candidates: what was learned from held-out feedback, the collaborative score, or chance. Where the first is
 * missing the second takes its place, and chance that of the second.
 */
export type RankOrder = 'learned' | 'collaborative' | 'random';

/** Reads the order that the configuration wants. */
export function rankOrder({ ranker, offline }: Config['recommend']): RankOrder {
  if (ranker !== 'auto') return ranker;
  return offline.enable_click_through_prediction ? 'learned' : 'random';
}

/**
 * A score for each candidate, the higher the better: by what was learned the probability of positive feedback; else the
 * collaborative score; else a number that hangs on the item and the seed alone.
 * @param seed of the random order; the same for the same user and generation
 */
export function rankCandidates(
  one: RankingCase,
  inputs: RankingInputs,
  order: RankOrder,
  seed: number,
): Float64Array {
  const { generation } = inputs;
  const ranking = order === 'learned' ? generation?.ranking : undefined;
  if (ranking !== undefined) {
    return probabilities(one, inputs, ranking.byKind[one.kind]!, ranking.totals);
  }
  const collaborative = generation?.parts.als;
  if (order !== 'random' && one.vector !== undefined && collaborative !== undefined) {
    return Float64Array.from(collaborative.scoreItems(one.vector, one.candidates));
  }
  return Float64Array.from(one.candidates, (row) =>
    createRandom(seed ^ Math.imul(row + 1, 0x9e3779b1)).float(),
  );
}

/** The probability that each candidate is liked. */
function probabilities(
  one: RankingCase,
  inputs: RankingInputs,
  regression: LogisticRegression,
  totals: readonly number[],
): Float64Array {
  const scores = userScores(one, inputs, regression);
  const { candidates, kind } = one;
  const scoreOf = itemScore(inputs, totals, regression.weights);
  if (inputs.kept !== undefined) inputs.kept.addTo(scores, candidates, kind, scoreOf);
  else for (let at = 0; at < scores.length; at++) scores[at]! += scoreOf(candidates[at]!);
  for (let at = 0; at < scores.length; at++) scores[at] = 1 / (1 + Math.exp(-scores[at]!));
  return scores;
}

/** Log-odds of the candidates but for what items alone add; see `itemScore`. */
export function userScores(
  one: RankingCase,
  inputs: RankingInputs,
  { bias, weights }: LogisticRegression,
): Float64Array {
  const scores = new Float64Array(one.candidates.length).fill(bias);
  const add = (feature: number, values: ArrayLike<number>) => addWeighted(values, weights[feature]!, scores);
  eachUserFeature(one, inputs, add, (feature) => weights[feature] !== 0, new Float64Array(scores.length));
  return scores;
}

function addWeighted(values: ArrayLike<number>, weight: number, sums: Float64Array): void {
  for (let at = 0; at < sums.length; at++) sums[at]! += weight * values[at]!;
}
