/** Learns to rank from users' candidates and what they liked of them, by some of the features. */
import { MODEL_FEATURES, type ModelFeature } from '../../model/registry.ts';
import { type ChoiceSample, fitChoices } from '../../model/regression/conditional-logit.ts';
import { fitLogistic, type LogisticRegression } from '../../model/regression/logistic-regression.ts';
import { RANKING_FEATURES, type RankingFeature } from '../models/feature-names.ts';
import { MODELLESS_SUMS, TASTE_SUM } from '../models/like-sums.ts';

/** Lists that a blend is learned from, and candidates of each that were not liked; more would teach the same for longer. */
const TAUGHT_MAX = 1000;
const MISSES_A_LIST = 60;
/**
 * Ridge on the standardized weights: together they count as much as so many users. Little data is drawn to next to nothing,
 * and much data is free to say what it wants.
 */
const RIDGE_USERS = 3;
/**
 * Lists that a ranking for all kinds of users counts for where that of one kind is learned: what a few dozen say of twenty
 * weights is mostly chance.
 */
const PRIOR_LISTS = 100;
/**
 * Ages are logarithms of days. Those of items that were imported together differ by next to nothing, which tells nothing of
 * an item that comes a week later: where they do not differ e-fold, they are weighed as if they did.
 */
export const AGE_SPREAD_MIN = 1;
/** A logarithm of how many times likelier something is counts as it is, unless the lesson says otherwise. */
const UNTAUGHT: LogisticRegression = {
  bias: 0,
  weights: RANKING_FEATURES.map((name) => Number(name === TASTE_SUM)),
};
/** Users that say how likely a score is, with all their candidates. */
const CALIBRATED_MAX = 150;

/** One user's candidates as of the moment before what is held out. */
export interface RankingExample {
  /** The user, who may be asked about as of several moments. */
  readonly userRow: number;
  /** The user's kind then; see `kindOf`. */
  readonly kind: number;
  /** `RANKING_FEATURES.length` numbers a candidate. */
  readonly features: Float32Array;
  /** 1 for each candidate that the user then liked. */
  readonly labels: Uint8Array;
  /** Items that the user then liked, candidates or not; at least 1. */
  readonly likedCount: number;
}

/**
 * The weights by which what was chosen stands above the rest.
 * @param lesson of `lessonOf`
 * @param start what was learned from much the same lesson; it tells only how soon this one is learned
 * @returns undefined where nobody's candidates have hits and misses
 */
export function learnBlend(
  lesson: ChoiceSample,
  set: readonly RankingFeature[],
  start?: LogisticRegression,
): LogisticRegression | undefined {
  const lists = lesson.starts.length - 1;
  if (lists < 1) return undefined;
  return fitBlend(lesson, set, RIDGE_USERS / lists, start && { start });
}

/** The weight of one recommender alone, and of how much more those of a user's taste like what no model knows. */
export function learnAlone(lesson: ChoiceSample, name: RankingFeature): LogisticRegression | undefined {
  return learnBlend(lesson, [...new Set<RankingFeature>([name, TASTE_SUM])]);
}

/** Fits the weights of the features of a set; see `fitChoices`. */
function fitBlend(
  lesson: ChoiceSample,
  set: readonly RankingFeature[],
  ridge: number,
  known: Partial<Record<'start' | 'prior', LogisticRegression>> = {},
): LogisticRegression {
  const steps = scaleSteps(set);
  // Scales may speak against one another, but likes on all of them never against an item.
  const likesInAll = set.findLastIndex(isScale);
  const nonNegative = set.flatMap((name, at) => (neverAgainst(name) || at === likesInAll ? [at] : []));
  const options = Object.entries({ prior: UNTAUGHT, ...known }).map(([name, { weights }]) => [
    name,
    steps.sum(set.map((feature) => weights[RANKING_FEATURES.indexOf(feature)]!)),
  ]);
  const fitted = fitChoices(steps.apart(withFeatures(lesson, set)), nonNegative, ridge, {
    ...Object.fromEntries(options),
    leastDeviations: set.map((name) => (name === 'age' ? AGE_SPREAD_MIN : 0)),
  });
  const weights = steps.back(fitted);
  return { bias: 0, weights: RANKING_FEATURES.map((name) => weights[set.indexOf(name)] ?? 0) };
}

/**
 * Popularity as steps: how much of what one scale counts the next longer one adds, and the longest as it is. The weight of a
 * step is the sum of those of the scales up to it; that of the longest says what likes on all scales are worth.
 */
function scaleSteps(set: readonly RankingFeature[]) {
  const pairs = set.flatMap((name, at) =>
    isScale(name) && at + 1 < set.length && isScale(set[at + 1]!) ? [at] : [],
  );
  return {
    apart(sample: ChoiceSample): ChoiceSample {
      const features = sample.features.slice();
      for (let row = 0; row < features.length; row += sample.width)
        for (const at of pairs) features[row + at]! -= features[row + at + 1]!;
      return { ...sample, features };
    },
    sum(weights: readonly number[]): number[] {
      const sums = [...weights];
      for (const at of pairs) sums[at + 1]! += sums[at]!;
      return sums;
    },
    back(sums: readonly number[]): number[] {
      const weights = [...sums];
      for (const at of pairs) weights[at + 1] = sums[at + 1]! - sums[at]!;
      return weights;
    },
  };
}

/** The same order with the scores as far apart as the lesson tells, so that it can be averaged with others. */
export function spreadBy(lesson: ChoiceSample, ranking: LogisticRegression): LogisticRegression {
  const features = scoresOf(lesson.features, ranking);
  const [multiple] = fitChoices(
    { ...lesson, width: 1, features },
    [0],
    RIDGE_USERS / (lesson.starts.length - 1),
  );
  return multiple! > 0 ? { bias: 0, weights: ranking.weights.map((weight) => weight * multiple!) } : ranking;
}

/**
 * A ranking for one kind of question, drawn to one that was learned from all: as near to it as so many lists count that
 * say nothing else.
 * @param lesson of `lessonOf`; without any list the other is the answer
 * @param names the features that there are
 */
export function learnNear(
  lesson: ChoiceSample,
  ranking: LogisticRegression,
  names: readonly RankingFeature[],
): LogisticRegression {
  const lists = lesson.starts.length - 1;
  if (lists < 1) return ranking;
  return fitBlend(lesson, names, PRIOR_LISTS / lists, { prior: spreadBy(lesson, ranking) });
}

/** The mean of the weights. @param rankings one at least */
export function meanOf(rankings: readonly LogisticRegression[]): LogisticRegression {
  const weights = RANKING_FEATURES.map(
    (_, at) => rankings.reduce((sum, ranking) => sum + ranking.weights[at]!, 0) / rankings.length,
  );
  return { bias: 0, weights };
}

/** Collects the sample that blends of any features are learned from. */
export function lessonOf(examples: readonly RankingExample[]): ChoiceSample {
  const width = RANKING_FEATURES.length;
  const taught = examples.filter(teaches);
  const features: number[] = [];
  const labels: number[] = [];
  const multiples: number[] = [];
  const starts = [0];
  const everyUser = Math.max(1, taught.length / TAUGHT_MAX);
  for (let user = 0; user < taught.length; user += everyUser) {
    const { features: all, labels: hits } = taught[Math.floor(user)]!;
    const stride = Math.max(1, hits.length / MISSES_A_LIST);
    for (let at = 0, next = 0; at < hits.length; at++) {
      const isDue = at >= next;
      if (isDue) next += stride;
      if (hits[at] === 0 && !isDue) continue;
      for (let from = at * width, of = 0; of < width; of++) features.push(all[from + of]!);
      labels.push(hits[at]!);
      multiples.push(hits[at] === 1 ? 1 : stride);
    }
    starts.push(labels.length);
  }
  return {
    width,
    features: Float64Array.from(features),
    labels: Uint8Array.from(labels),
    multiples: Float64Array.from(multiples),
    starts,
  };
}

/** The lesson with some of its features alone. */
function withFeatures(lesson: ChoiceSample, set: readonly RankingFeature[]): ChoiceSample {
  const width = set.length;
  const features = new Float64Array(lesson.labels.length * width);
  const columns = set.map((name) => RANKING_FEATURES.indexOf(name));
  for (let at = 0, from = 0; at < features.length; at += width, from += lesson.width)
    for (let of = 0; of < width; of++) features[at + of] = lesson.features[from + columns[of]!]!;
  return { ...lesson, width, features };
}

/** Only who took some candidates and not others teaches anything. */
export function teaches({ labels }: RankingExample): boolean {
  return labels.includes(1) && labels.includes(0);
}

/** The same order, as the probability that a candidate is liked. */
export function asProbability(
  ranking: LogisticRegression,
  examples: readonly RankingExample[],
): LogisticRegression {
  const stride = Math.ceil(examples.length / CALIBRATED_MAX);
  const some = examples.filter((_, at) => at % stride === 0);
  const features = Float64Array.from(some.flatMap((example) => [...scoresOf(example.features, ranking)]));
  const labels = Uint8Array.from(some.flatMap((example) => [...example.labels]));
  if (!labels.includes(1)) return ranking;
  const { bias, weights } = fitLogistic({ width: 1, features, labels });
  const slope = weights[0]!;
  // What stands above by its place alone need not be likelier over all users.
  return slope > 0 ? { bias, weights: ranking.weights.map((weight) => weight * slope) } : ranking;
}

/** True for what a user's likes say: it never speaks against an item. */
export function neverAgainst(name: RankingFeature): boolean {
  return isModel(name) || MODELLESS_SUMS.some((sum) => sum === name);
}

export function isModel(name: RankingFeature): name is ModelFeature {
  return MODEL_FEATURES.some((feature) => feature.name === name);
}

export function isScale(name: RankingFeature): boolean {
  return name.startsWith('popular_');
}

/** The scores, one for each candidate. */
export function scoresOf(
  features: Float32Array | Float64Array,
  { weights }: LogisticRegression,
): Float64Array {
  const width = RANKING_FEATURES.length;
  const scores = new Float64Array(features.length / width);
  weights.forEach((weight, feature) => {
    if (weight === 0) return;
    for (let at = 0, from = feature; at < scores.length; at++, from += width)
      scores[at]! += weight * features[from]!;
  });
  return scores;
}
