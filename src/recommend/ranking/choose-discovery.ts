import { estimate } from '../../model/evaluation/confidence-interval.ts';
import type { LogisticRegression } from '../../model/regression/logistic-regression.ts';
import { lessPopular } from '../models/feature-names.ts';
import { type JudgedUser, rankQuality } from './judge-examples.ts';
import { scoresOf } from './learn-blends.ts';

/** Share of the best lists' quality that more personal ones may cost. */
const LOSS_MAX = 0.05;
/** Shares of popularity's weight that are tried. */
const STEPS = 20;

/**
 * The discovery that `auto` takes: the most, in twentieths, whose lists are at most 5 % worse than the best, by NDCG@10 of what
 * was held out: so much that the whole 95 % interval of the loss, user by user, says so.
 * @param byKind weights for each kind of user
 * @returns 0 to 1; see `withDiscovery`
 */
export function chooseDiscovery(users: readonly JudgedUser[], byKind: readonly LogisticRegression[]): number {
  const qualities = users.map((user) => qualitiesOf(user, byKind));
  const means = Array.from(
    { length: STEPS + 1 },
    (_, step) => estimate(qualities.map((of) => of[step]!)).mean,
  );
  const most = Math.max(...means);
  const best = means.indexOf(most);
  const isLevel = (step: number) => {
    const { mean, halfWidth } = estimate(qualities.map((of) => of[best]! - of[step]!));
    return mean + halfWidth <= LOSS_MAX * most;
  };
  return means.findLastIndex((_, step) => step <= best || isLevel(step)) / STEPS;
}

/** The mean over what one user was asked, for each step. */
function qualitiesOf(user: JudgedUser, byKind: readonly LogisticRegression[]): Float64Array {
  const sums = new Float64Array(STEPS + 1);
  for (const example of user) {
    if (!example.labels.includes(1)) continue;
    const ranking = byKind[example.kind]!;
    const all = scoresOf(example.features, ranking);
    const own = scoresOf(example.features, lessPopular(ranking, 1));
    for (let step = 0; step <= STEPS; step++) {
      const scores = own.map((score, at) => score + (1 - step / STEPS) * (all[at]! - score));
      sums[step]! += rankQuality(example, scores) / user.length;
    }
  }
  return sums;
}
