import { MODEL_FEATURES } from '../../model/registry.ts';
import type { LogisticRegression } from '../../model/regression/logistic-regression.ts';
import { POPULARITY_SCALES } from '../popularity/popularity-scales.ts';
import { LABEL_SUM, LIVE_SUM, MODELLESS_SUMS, SUM_NAMES, type SumName, TASTE_SUM } from './like-sums.ts';

/** Features that the ranking looks at for each candidate, in this order. */
export const RANKING_FEATURES = [
  ...MODEL_FEATURES.map(({ name }) => name),
  ...MODELLESS_SUMS,
  ...POPULARITY_SCALES.map((scale) => `popular_${scale}` as const),
  'age',
] as const;
export type RankingFeature = (typeof RANKING_FEATURES)[number];

/** The most likes of each kind of user: of one of whom little is known other features tell. */
const KIND_LIKES_MAX = [0, 1, 4, 19, Number.POSITIVE_INFINITY] as const;
/** Feedback of a user that lies closer together than this belongs to one visit, milliseconds. */
export const VISIT_MS = 30 * 60_000;
/** The kind of somebody of whom nothing is known but a visit that is under way: a session. */
export const SESSION_KIND = 2 * KIND_LIKES_MAX.length;
/** Kinds of users: by what is known of them, each in the middle of a visit or coming back, and sessions. */
export const KINDS = SESSION_KIND + 1;

/**
 * The kind of a user with so many likes, 0 to `SESSION_KIND` - 1.
 * @param idleMs time since the user's last feedback, milliseconds
 */
export function kindOf(likes: number, idleMs: number): number {
  const known = KIND_LIKES_MAX.findIndex((most) => likes <= most);
  return idleMs < VISIT_MS ? known + KIND_LIKES_MAX.length : known;
}

/**
 * What is known of users of a kind, visits or not: 0 for nobody's likes, up to 4 for 20 likes or more.
 * @returns undefined for a session
 */
export function knownOf(kind: number): number | undefined {
  return kind === SESSION_KIND ? undefined : kind % KIND_LIKES_MAX.length;
}

/** True for a kind of users of whom a like is known, who are more than a session. */
export function hasLikes(kind: number): boolean {
  return Boolean(knownOf(kind));
}

/** Weights that rank candidates, learned from held-out feedback and judged by it. */
export interface Ranking extends LogisticRegression {
  /** Name of the way that was chosen, such as `popular_7d` or `a blend of all`. */
  readonly name: string;
  /**
   * Sum of all positive feedback on each popularity scale when the weights were learned: counts enter as shares of
   * it, so that a quiet night ranks as the busy day before did.
   */
  readonly totals: readonly number[];
  /** Likes of later are not known to the models that it ranks by, milliseconds since the epoch. */
  readonly knowsMs: number;
  /** Weights for each kind of user; see `kindOf`. */
  readonly byKind: readonly LogisticRegression[];
  /** The share of likes that return to an item within a visit; absent in models of before, and 0. */
  readonly returns?: number;
  /** The discovery that `auto` takes for each kind of user; absent in models of before, and 0. */
  readonly discoveries?: readonly number[];
  /** True where it is `UNTAUGHT`, but for totals, which follow the likes. */
  readonly isUntaught?: boolean;
  /** As it was learned, where discovery has turned it. */
  readonly learned?: Ranking;
}

/** Weights beside popularity where nothing has taught any. */
const UNTAUGHT_WEIGHTS: Partial<Record<RankingFeature, number>> = {
  [LIVE_SUM]: 0.5,
  [TASTE_SUM]: 1,
  [LABEL_SUM]: 0.5,
};

/**
 * Ranks while there is too little to learn from how to, as each like moves it: by the mean of the logarithms of popularity on all
 * scales, and somewhat by what goes together with the user's likes. No model is looked at.
 */
export const UNTAUGHT: Ranking = untaught();

function untaught(): Ranking {
  const weights = RANKING_FEATURES.map((name) => {
    if (name.startsWith('popular_')) return 1 / POPULARITY_SCALES.length;
    return UNTAUGHT_WEIGHTS[name] ?? 0;
  });
  const regression = { bias: 0, weights };
  const totals = POPULARITY_SCALES.map(() => 1);
  const byKind = Array.from({ length: KINDS }, () => regression);
  return { name: 'what is liked of late', ...regression, byKind, totals, knowsMs: 0, isUntaught: true };
}

/** How much lists turn from what is popular: a share from 0 to 1, or what the fit has chosen. */
export type Discovery = number | 'auto';

/**
 * A ranking by which popularity counts less, so that lists are each person's own. Of somebody without likes nothing else is
 * known, so theirs stay.
 * @param ranking turned before or not, which makes no difference
 * @param discovery share of its weight that popularity loses
 */
export function withDiscovery(ranking: Ranking | undefined, discovery: Discovery): Ranking | undefined {
  const learned = ranking?.learned ?? ranking;
  const isAuto = discovery === 'auto';
  if (learned === undefined || discovery === 0 || (isAuto && !learned.discoveries?.some(Boolean)))
    return learned;
  const byKind = learned.byKind.map((weights, kind) => {
    if (isAuto) return lessPopular(weights, learned.discoveries?.[kind] ?? 0);
    return kind === SESSION_KIND || hasLikes(kind) ? lessPopular(weights, discovery) : weights;
  });
  return { ...learned, ...(!isAuto && lessPopular(learned, discovery)), byKind, learned };
}

/** The weights without that share of those of popularity. */
export function lessPopular({ bias, weights }: LogisticRegression, share: number): LogisticRegression {
  const isPopularity = (at: number) => RANKING_FEATURES[at]!.startsWith('popular_');
  return { bias, weights: weights.map((weight, at) => (isPopularity(at) ? (1 - share) * weight : weight)) };
}

/** True where a ranking looks at any of the features named. */
export function looksAt({ weights }: LogisticRegression, names: readonly RankingFeature[]): boolean {
  return names.some((name) => weights[RANKING_FEATURES.indexOf(name)] !== 0);
}

/** True where a ranking looks at any of the features named for any kind of user. */
export function everLooksAt(ranking: Ranking, names: readonly RankingFeature[]): boolean {
  return looksAt(ranking, names) || ranking.byKind.some((kind) => looksAt(kind, names));
}

/** The sums over likes that a ranking looks at. */
export function sumsOf(ranking: LogisticRegression): SumName[] {
  return SUM_NAMES.filter((name) => looksAt(ranking, [name]));
}

/** The weights that are not 0, by feature, to four digits. */
export function weightsOf({ weights }: LogisticRegression): Record<string, number> {
  const named = RANKING_FEATURES.map((name, at) => [name, Number(weights[at]!.toPrecision(4))] as const);
  return Object.fromEntries(named.filter(([, weight]) => weight !== 0));
}

/** The popularity scales that a ranking looks at. */
export function scalesOf(ranking: LogisticRegression): number[] {
  const first = RANKING_FEATURES.indexOf('popular_1h');
  return POPULARITY_SCALES.map((_, scale) => scale).filter((scale) => ranking.weights[first + scale] !== 0);
}
