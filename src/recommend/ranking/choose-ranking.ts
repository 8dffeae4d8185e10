/**
 * Chooses how lists are ranked by held-out feedback: by one recommender alone, popularity on its best scale among them, or
 * by a blend of all that is drawn to the best ones alone. Blends are judged by cross-validation over users.
 */
import { type Estimate, estimate } from '../../model/evaluation/confidence-interval.ts';
import type { ModelFeature } from '../../model/registry.ts';
import type { ChoiceSample } from '../../model/regression/conditional-logit.ts';
import type { LogisticRegression } from '../../model/regression/logistic-regression.ts';
import {
  hasLikes,
  KINDS,
  RANKING_FEATURES,
  type Ranking,
  type RankingFeature,
  SESSION_KIND,
} from '../models/feature-names.ts';
import { LABEL_SUM, VECTOR_SUM } from '../models/like-sums.ts';
import { chooseDiscoveries } from './choose-discovery.ts';
import { byUser, type JudgedUser, rankQuality } from './judge-examples.ts';
import {
  asProbability,
  isModel,
  learnAlone,
  learnBlend,
  learnNear,
  lessonOf,
  meanOf,
  type RankingExample,
  scoresOf,
  spreadBy,
  teaches,
} from './learn-blends.ts';

/** Parts of the users in cross-validation; few users are parted more often, so that most of them teach. */
const FOLDS = 2;
const FOLDS_OF_FEW = 5;
const FEW_USERS = 500;
/** Standard errors of the difference up to which a way is as good as the best one. */
const NOISE = 2;
/** Standard errors in the half width of an `Estimate`. */
const HALF_WIDTH_ERRORS = 1.96;

/** A way to rank, and what it came to on held-out feedback. */
export interface RankingRow {
  readonly name: string;
  /** Mean NDCG@10 over the judged users and the half width of its 95 % interval. */
  readonly quality: Estimate;
}

/** The choice, and by how much it leads. */
export interface RankingChoice {
  /** Users whose lists were judged. */
  readonly users: number;
  /** The moment as of which they were made, milliseconds since the epoch. */
  readonly asOfMs: number;
  readonly chosen: string;
  /** NDCG@10 of the chosen over the best single recommender's, user by user. */
  readonly overBestSingle: Estimate;
  /** NDCG@10 of the chosen over popularity on its best scale, user by user; absent in what an earlier version saved. */
  readonly overPopular?: Estimate;
  /** NDCG@10 of the first of `rows` over the chosen, user by user; absent where the chosen is the first. */
  readonly firstOverChosen?: Estimate;
  /** All ways that were judged, best first. */
  readonly rows: readonly RankingRow[];
}

/** A set of weights and its name. */
export type NamedRanking = Omit<Ranking, 'totals' | 'knowsMs'>;

interface Way {
  readonly name: string;
  /** NDCG@10 by user, in cross-validation where there is something to learn. */
  readonly values: Float64Array;
  /** Weights that were learned from all. */
  readonly ranking: LogisticRegression;
}

/** One feature's order. */
interface Single extends Way {
  readonly name: RankingFeature;
}

/**
 * @param examples the judged users'; those whose liked items are not among the candidates count, with nothing
 * @param has whether a model is there; the features of others are 0
 * @returns undefined when no candidate was liked, or all were: then nothing can be told
 */
export function chooseRanking(
  examples: readonly RankingExample[],
  asOfMs: number,
  has: HasFeature,
): { readonly ranking: NamedRanking; readonly choice: RankingChoice } | undefined {
  const known = examples.filter(({ kind }) => hasLikes(kind));
  if (!known.some(teaches)) return undefined;
  const users = byUser(known);
  const alone = featuresWith(has);
  const singles = alone.map((name) => single(users, name));
  const bestSingle = best(singles);
  const blends = blendsOf(users, singles);
  // Another must lead by more than the noise: the best of a dozen leads by luck.
  const leader = best([blends.drawn, blends.all, bestSingle]);
  const chosen = isClose(leader.values, blends.drawn.values) ? blends.drawn : leader;
  // Of those that are level the chosen stands first: nothing is ahead of it.
  const ways = [chosen, ...[...singles, blends.all, blends.drawn].filter((way) => way !== chosen)];
  ways.sort((a, b) => sum(b.values) - sum(a.values));
  const first = ways[0]!;
  const forAll = asProbability(chosen.ranking, known);
  const ofSessions =
    bestAlone(
      examples.filter(({ kind }) => kind === SESSION_KIND),
      alone,
    ) ?? forAll;
  const byKind = learnKinds(examples, (kind) => (kind === SESSION_KIND ? ofSessions : forAll), alone);
  return {
    ranking: {
      name: chosen.name,
      ...forAll,
      byKind,
      discoveries: chooseDiscoveries(users, byKind, bestSingle.ranking),
    },
    choice: {
      users: users.length,
      asOfMs,
      chosen: chosen.name,
      overBestSingle: difference(chosen.values, bestSingle.values),
      overPopular: difference(chosen.values, best(singles.filter(isPopularity)).values),
      ...(first.name !== chosen.name && { firstOverChosen: difference(first.values, chosen.values) }),
      rows: ways.map(({ name, values }) => ({ name, quality: estimate([...values]) })),
    },
  };
}

/**
 * Learns a ranking for each kind of user.
 * @param examples from which they are learned; of a kind without any that teaches the ranking that was known stays
 * @param known what each kind's ranking is drawn to
 * @param names the features that there are
 */
function learnKinds(
  examples: readonly RankingExample[],
  known: (kind: number) => LogisticRegression,
  names: readonly RankingFeature[],
): LogisticRegression[] {
  return Array.from({ length: KINDS }, (_, kind) => {
    const some = examples.filter((example) => example.kind === kind);
    if (!some.some(teaches)) return known(kind);
    return asProbability(learnNear(lessonOf(some), known(kind), names), some);
  });
}

/** The recommender that is the best one alone for the examples; undefined where they teach nothing. */
function bestAlone(
  examples: readonly RankingExample[],
  names: readonly RankingFeature[],
): LogisticRegression | undefined {
  if (!examples.some(teaches)) return undefined;
  const users = byUser(examples);
  const { name } = best(names.map((each) => single(users, each)));
  return asProbability(learnAlone(lessonOf(examples), name)!, examples);
}

/** Tells whether a model is there, or vectors are. */
export type HasFeature = (feature: ModelFeature | typeof VECTOR_SUM | typeof LABEL_SUM) => boolean;

/** The features that are there: those of a model that is missing are not. */
function featuresWith(has: HasFeature): RankingFeature[] {
  return RANKING_FEATURES.filter(
    (name) => !(isModel(name) || name === VECTOR_SUM || name === LABEL_SUM) || has(name),
  );
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
function single(users: readonly JudgedUser[], name: RankingFeature): Single {
  const weights = RANKING_FEATURES.map((feature) => (feature !== name ? 0 : feature === 'age' ? -1 : 1));
  const ranking = { bias: 0, weights };
  return { name, values: judge(users, () => ranking), ranking };
}

/**
 * All features together, and the same drawn to the recommenders that are as good as the best one alone: the mean of both.
 * Which of these did best on some hundred users is chance, and so is much of what all features together have learned; their
 * mean varies less than any of them (Breiman 1996, "Bagging predictors"; Wolpert 1992).
 */
function blendsOf(users: readonly JudgedUser[], singles: readonly Single[]): { all: Way; drawn: Way } {
  const near = nearest(singles, () => true);
  const everybody = learnBoth(users.flat(), near, singles)!;
  const count = users.length < FEW_USERS ? FOLDS_OF_FEW : FOLDS;
  const folds = Array.from({ length: count }, (_, fold) => {
    const isTaught = (at: number) => at % count !== fold;
    const taught = users.filter((_, at) => isTaught(at)).flat();
    return learnBoth(taught, nearest(singles, isTaught), singles, everybody.all);
  });
  const way = (name: string, which: 'all' | 'drawn'): Way => ({
    name,
    values: judge(users, (at) => folds[at % count]?.[which]),
    ranking: everybody[which],
  });
  const anchor = near.length === 1 ? near[0]! : `the best ${near.length}`;
  return { all: way('a blend of all', 'all'), drawn: way(`a blend of all, steadied by ${anchor}`, 'drawn') };
}

/** @param start where the learning of all features begins */
function learnBoth(
  examples: readonly RankingExample[],
  near: readonly RankingFeature[],
  singles: readonly Single[],
  start?: LogisticRegression,
): { readonly all: LogisticRegression; readonly drawn: LogisticRegression } | undefined {
  const lesson: ChoiceSample = lessonOf(examples);
  const names = singles.map(({ name }) => name);
  const all = learnBlend(lesson, names, start);
  if (all === undefined) return undefined;
  const alone = meanOf(near.map((name) => learnAlone(lesson, name)!));
  return { all, drawn: meanOf([spreadBy(lesson, all), spreadBy(lesson, alone)]) };
}

/** The recommenders that are as good as the best one alone for the users that count. */
function nearest(singles: readonly Single[], counts: (user: number) => boolean): RankingFeature[] {
  const some = singles.map(({ name, values }) => ({ name, values: values.filter((_, at) => counts(at)) }));
  const winner = best(some);
  return some.filter(({ values }) => isClose(winner.values, values)).map(({ name }) => name);
}

function isPopularity({ name }: Single): boolean {
  return name.startsWith('popular_');
}

/** The mean over what each user was asked. */
function judge(
  users: readonly JudgedUser[],
  rankingOf: (at: number) => LogisticRegression | undefined,
): Float64Array {
  return Float64Array.from(users, (user, at) => {
    const ranking = rankingOf(at);
    if (ranking === undefined) return 0;
    return (
      user.reduce((sum, example) => sum + rankQuality(example, scoresOf(example.features, ranking)), 0) /
      user.length
    );
  });
}

function best<T extends { readonly values: Float64Array }>(ways: readonly T[]): T {
  return ways.reduce((most, way) => (sum(way.values) > sum(most.values) ? way : most));
}

function sum(values: Float64Array): number {
  return values.reduce((total, value) => total + value, 0);
}

/** True where one is ahead of another by no more than the noise, if at all. */
function isClose(values: Float64Array, others: Float64Array): boolean {
  const { mean, halfWidth } = difference(values, others);
  return mean <= (NOISE * halfWidth) / HALF_WIDTH_ERRORS;
}

function difference(values: Float64Array, others: Float64Array): Estimate {
  return estimate(Array.from(values, (value, at) => value - others[at]!));
}
