import { getOrPut } from '../../domain/get-or-put.ts';
import { estimate } from '../../model/evaluation/confidence-interval.ts';
import type { LogisticRegression } from '../../model/regression/logistic-regression.ts';
import { knownOf, lessPopular } from '../models/feature-names.ts';
import { type JudgedUser, rankQuality } from './judge-examples.ts';
import { scoresOf } from './learn-blends.ts';

/** Share of the best lists' quality that more personal ones may cost. */
const LOSS_MAX = 0.05;
/** Share of the lead over the best recommender alone that they may cost: what is no better than a counter has nothing to spare. */
const LEAD_SHARE = 0.5;
/** Shares of popularity's weight that are tried. */
const STEPS = 20;
/** Users of whom more is known than this: 5 likes or more. */
const FEW_KNOWN = 2;
/** Fewer users tell nothing of a loss. */
const USERS_MIN = 30;

/** NDCG@10 of what one user was asked: for each step, and of the best recommender alone. */
interface Qualities {
  readonly steps: Float64Array;
  alone: number;
}

/**
 * The discovery that `auto` takes for each kind of user: the most, in twentieths, whose lists are worse than without any by
 * at most 5 %, and by half of what those lead the best recommender alone. By NDCG@10 of what was held out, so much that the 95 %
 * intervals of both differences, user by user, say so. None for those of whom little is known, who pay the most for it.
 * @param byKind weights for each kind of user
 * @param alone weights of the best recommender alone
 * @returns numbers from 0 to 1; see `withDiscovery`
 */
export function chooseDiscoveries(
  users: readonly JudgedUser[],
  byKind: readonly LogisticRegression[],
  alone: LogisticRegression,
): number[] {
  const shares = new Map<number | undefined, number>();
  return byKind.map((_, kind) =>
    getOrPut(shares, knownOf(kind), () => {
      const known = knownOf(kind) ?? 0;
      if (known <= FEW_KNOWN) return 0;
      const some = users.map((user) => user.filter((example) => knownOf(example.kind) === known));
      return mostOf(some.filter(({ length }) => length > 0).map((user) => qualitiesOf(user, byKind, alone)));
    }),
  );
}

function mostOf(users: readonly Qualities[]): number {
  if (users.length < USERS_MIN) return 0;
  const usual = estimate(users.map(({ steps }) => steps[0]!)).mean;
  const lead = estimate(users.map(({ steps, alone }) => steps[0]! - alone));
  const spare = Math.min(LOSS_MAX * usual, LEAD_SHARE * (lead.mean - lead.halfWidth));
  for (let step = STEPS; step > 0 && usual > 0; step--) {
    const loss = estimate(users.map(({ steps }) => steps[0]! - steps[step]!));
    if (loss.mean + loss.halfWidth <= spare) return step / STEPS;
  }
  return 0;
}

/** The mean over what one user was asked. */
function qualitiesOf(
  user: JudgedUser,
  byKind: readonly LogisticRegression[],
  alone: LogisticRegression,
): Qualities {
  const qualities = { steps: new Float64Array(STEPS + 1), alone: 0 };
  for (const example of user) {
    if (!example.labels.includes(1)) continue;
    const ranking = byKind[example.kind]!;
    const all = scoresOf(example.features, ranking);
    const own = scoresOf(example.features, lessPopular(ranking, 1));
    for (let step = 0; step <= STEPS; step++) {
      const scores = own.map((score, at) => score + (1 - step / STEPS) * (all[at]! - score));
      qualities.steps[step]! += rankQuality(example, scores) / user.length;
    }
    qualities.alone += rankQuality(example, scoresOf(example.features, alone)) / user.length;
  }
  return qualities;
}
