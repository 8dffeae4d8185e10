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
 * was held out. The weights were learned from the same answers without any, so it costs others rather less than it says.
 * @param byKind weights for each kind of user
 * @returns 0 to 1; see `withDiscovery`
 */
export function chooseDiscovery(users: readonly JudgedUser[], byKind: readonly LogisticRegression[]): number {
  const sums = new Float64Array(STEPS + 1);
  for (const user of users)
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
  return sums.findLastIndex((sum) => sum >= (1 - LOSS_MAX) * Math.max(...sums)) / STEPS;
}
