/**
 * Chooses how lists are ranked by held-out feedback: one recommender alone, popularity on its best scale, a blend of
 * few, or all features together. Each blend is judged by cross-validation over users.
 */
import type { ChoiceSample } from '../../model/choice-model.ts';
import { type Estimate, estimate, ndcg } from '../../model/evaluation/metrics.ts';
import type { LogisticRegression } from '../../model/logistic.ts';
import {
  asProbability,
  isScale,
  learnBlend,
  lessonOf,
  type RankingExample,
  scoresOf,
  teaches,
} from './ranking-blends.ts';
import {
  MODEL_FEATURES,
  type ModelFeature,
  RANKING_FEATURES,
  type RankingFeature,
} from './ranking-features.ts';

/** Length of the lists that are compared. */
const LENGTH = 10;
/** Parts of the users in cross-validation; few users are parted more often, so that most of them teach. */
const FOLDS = 2;
const FOLDS_OF_FEW = 5;
const FEW_USERS = 500;
/** Users with a hit among their candidates that a blend takes for each of its weights. */
const USERS_A_WEIGHT = 10;
/** How many of the best models are blended with popularity on all scales, beside all of them. */
const TOGETHER = [1, 2, 3] as const;
/** What is worse than the best by no more standard errors of the difference is as good as that one. */
const NOISE = 2;
/** Standard errors in the half width of an `Estimate`. */
const HALF_WIDTH_ERRORS = 1.96;

/** A way to rank, and what it came to on held-out feedback. */
export interface RankingRow {
  readonly name: string;
  /** Mean NDCG@10 over the judged users and the half width of its 95 % interval. */
  readonly quality: Estimate;
}

/** What was chosen, and by how much. */
export interface RankingChoice {
  /** Users whose lists were judged. */
  readonly users: number;
  /** The moment as of which they were made, milliseconds since the epoch. */
  readonly asOfMs: number;
  readonly chosen: string;
  /** NDCG@10 of the chosen over the best single recommender's, user by user. */
  readonly overBestSingle: Estimate;
  /** All ways that were judged, best first. */
  readonly rows: readonly RankingRow[];
}

/** A set of weights and its name. */
export interface NamedRanking extends LogisticRegression {
  readonly name: string;
}

export interface Way {
  readonly name: string;
  /** NDCG@10 by user, in cross-validation where there is something to learn. */
  readonly values: Float64Array;
  /** What it ranks by, learned from all. */
  readonly fit: () => LogisticRegression;
}

/** A blend can be averaged with others. */
export interface Blend extends Way {
  /** What was learned without each part of the users; undefined where nothing could be. */
  readonly folds: readonly (LogisticRegression | undefined)[];
}

/** One user's candidates, as of one moment or several. */
type JudgedUser = readonly RankingExample[];

/**
 * @param examples the judged users'; those whose liked items are not among the candidates count, with nothing
 * @param has whether a model is there; the features of others are 0
 * @returns undefined when no candidate was liked, or all were: then nothing can be told
 */
export function chooseRanking(
  examples: readonly RankingExample[],
  asOfMs: number,
  has: (feature: ModelFeature) => boolean,
): { readonly ranking: NamedRanking; readonly choice: RankingChoice } | undefined {
  if (!examples.some(teaches)) return undefined;
  const users = byUser(examples);
  const { singles, learned, blends } = waysOf(users, has);
  const bestSingle = best(singles);
  const together = learned.length === 0 ? [] : [averageOf(users, [...learned, ...blends])];
  const [averaged = bestSingle] = together;
  // The best of twenty on a few hundred users leads by luck: alone it must lead by more than the noise.
  const chosen = isClose(bestSingle, averaged) ? averaged : bestSingle;
  // Alone and learned, age may rank the other way round: of one name the one that is served is told.
  const byName = new Map([...singles, ...blends, ...together, chosen].map((way) => [way.name, way]));
  const rows = [...byName.values()]
    .map(({ name, values }) => ({ name, quality: estimate([...values]) }))
    .sort((a, b) => b.quality.mean - a.quality.mean);
  return {
    ranking: { name: chosen.name, ...asProbability(chosen.fit(), examples) },
    choice: {
      users: users.length,
      asOfMs,
      chosen: chosen.name,
      overBestSingle: difference(chosen, bestSingle),
      rows,
    },
  };
}

/** Answers of one user are much alike: what they tell counts as one. */
function byUser(examples: readonly RankingExample[]): readonly JudgedUser[] {
  const users = new Map<number, RankingExample[]>();
  for (const example of examples) {
    const known = users.get(example.userRow);
    if (known === undefined) users.set(example.userRow, [example]);
    else known.push(example);
  }
  return [...users.values()];
}

/**
 * All ways to rank that are judged: each recommender alone, the same with a learned weight so that it can be averaged with
 * others, and blends, those with fewer weights first.
 */
function waysOf(
  users: readonly JudgedUser[],
  has: (feature: ModelFeature) => boolean,
): {
  readonly singles: readonly Way[];
  readonly learned: readonly Blend[];
  readonly blends: readonly Blend[];
} {
  const taught = users.filter((user) => user.some(teaches)).length;
  const models = MODEL_FEATURES.filter(has);
  const scales = RANKING_FEATURES.filter(isScale);
  const alone: RankingFeature[] = [...models, ...scales, 'age'];
  const singles = alone.map((name) => single(users, name));
  const popular = best(singles.filter(({ name }) => isScale(name as RankingFeature))).name as RankingFeature;
  const byQuality = singles
    .filter(({ name }) => models.includes(name as ModelFeature))
    .sort((a, b) => sum(b.values) - sum(a.values))
    .map(({ name }) => name as ModelFeature);
  const sets: RankingFeature[][] = [
    ...models.map((model) => [popular, model]),
    ...(models.length > 1 ? [[popular, ...models]] : []),
    [...scales, 'age'],
    ...TOGETHER.filter((count) => count < models.length).map((count) => [
      ...byQuality.slice(0, count),
      ...scales,
      'age' as const,
    ]),
    [...models, ...scales, 'age'],
  ];
  const lessons = lessonsOf(users);
  const learn = (some: readonly RankingFeature[][]) =>
    some.filter((set) => set.length * USERS_A_WEIGHT <= taught).map((set) => blend(users, lessons, set));
  return { singles, learned: learn(alone.map((name) => [name])), blends: learn(sets) };
}

/** The rows of a choice as lines of text with equal columns, best first. */
export function choiceTable({ rows }: RankingChoice): string[] {
  const width = Math.max(...rows.map(({ name }) => name.length));
  return rows.map(
    ({ name, quality: { mean, halfWidth } }) =>
      `${name.padEnd(width)}  NDCG@10 ${mean.toFixed(4)} ± ${halfWidth.toFixed(4)}`,
  );
}

/** One feature's order; young items come first. */
function single(users: readonly JudgedUser[], name: RankingFeature): Way {
  const weights = RANKING_FEATURES.map((feature) => (feature !== name ? 0 : feature === 'age' ? -1 : 1));
  const ranking = { bias: 0, weights };
  return { name, values: judge(users, () => ranking), fit: () => ranking };
}

/** What every blend is learned from. */
interface Lessons {
  readonly all: ChoiceSample;
  /** Without each part of the users. */
  readonly folds: readonly ChoiceSample[];
}

function lessonsOf(users: readonly JudgedUser[]): Lessons {
  const count = users.length < FEW_USERS ? FOLDS_OF_FEW : FOLDS;
  const folds = Array.from({ length: count }, (_, fold) =>
    lessonOf(users.filter((_, at) => at % count !== fold).flat()),
  );
  return { all: lessonOf(users.flat()), folds };
}

/** A conditional logit over some features. */
function blend(users: readonly JudgedUser[], lessons: Lessons, set: readonly RankingFeature[]): Blend {
  // Each begins where the last one ended, which is near: two steps in place of six.
  let near: LogisticRegression | undefined;
  const folds = lessons.folds.map((lesson) => {
    const learned = learnBlend(lesson, set, near);
    near = learned ?? near;
    return learned;
  });
  const scales = set.filter(isScale);
  const others = set.filter((name) => !isScale(name));
  return {
    name: [...others, ...(scales.length > 1 ? ['popular_all'] : scales)].join(' + '),
    folds,
    values: judge(users, (at) => folds[at % folds.length]),
    fit: () => learnBlend(lessons.all, set, near)!,
  };
}

/**
 * The mean of the blends that are as good as the best one, recommenders alone among them. Which of these did best on some
 * hundred users is chance; their mean varies less than any of them (Breiman 1996, "Bagging predictors"; Wolpert 1992).
 */
function averageOf(users: readonly JudgedUser[], blends: readonly Blend[]): Way {
  const winner = best(blends);
  const good = blends.filter((blend) => isClose(winner, blend));
  const count = winner.folds.length;
  const folds = winner.folds.map((_, fold) => meanOf(good.map((blend) => blend.folds[fold])));
  return {
    name: good.length === 1 ? winner.name : `mean of the best ${good.length}`,
    values: judge(users, (at) => folds[at % count]),
    fit: () => meanOf(good.map((blend) => blend.fit()))!,
  };
}

function meanOf(rankings: readonly (LogisticRegression | undefined)[]): LogisticRegression | undefined {
  const learned = rankings.filter((ranking) => ranking !== undefined);
  if (learned.length === 0) return undefined;
  const weights = RANKING_FEATURES.map(
    (_, at) => learned.reduce((sum, ranking) => sum + ranking.weights[at]!, 0) / learned.length,
  );
  return { bias: 0, weights };
}

/** The mean over what each user was asked. */
function judge(
  users: readonly JudgedUser[],
  rankingOf: (at: number) => LogisticRegression | undefined,
): Float64Array {
  return Float64Array.from(users, (user, at) => {
    const ranking = rankingOf(at);
    if (ranking === undefined) return 0;
    return user.reduce((sum, example) => sum + rankQuality(example, ranking), 0) / user.length;
  });
}

/** NDCG of the candidates in the order of their scores; of equal ones the first proposed comes first. */
function rankQuality({ features, labels, likedCount }: RankingExample, ranking: LogisticRegression): number {
  if (!labels.includes(1)) return 0;
  const scores = scoresOf(features, ranking);
  const hits = new Array<boolean>(LENGTH).fill(false);
  for (let hit = labels.indexOf(1); hit >= 0; hit = labels.indexOf(1, hit + 1)) {
    let rank = 0;
    for (let at = 0; at < scores.length && rank < LENGTH; at++)
      if (scores[at]! > scores[hit]! || (scores[at] === scores[hit] && at < hit)) rank++;
    if (rank < LENGTH) hits[rank] = true;
  }
  return ndcg(hits, LENGTH, likedCount);
}

function best<T extends Way>(ways: readonly T[]): T {
  return ways.reduce((most, way) => (sum(way.values) > sum(most.values) ? way : most));
}

function sum(values: Float64Array): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Whether one is ahead of another by no more than the noise, if at all. */
function isClose(way: Way, other: Way): boolean {
  const { mean, halfWidth } = difference(way, other);
  return mean <= (NOISE * halfWidth) / HALF_WIDTH_ERRORS;
}

function difference(way: Way, other: Way): Estimate {
  return estimate(Array.from(way.values, (value, at) => value - other.values[at]!));
}
