import { MODEL_FEATURES } from '../../model/registry.ts';
import type { LogisticRegression } from '../../model/regression/logistic-regression.ts';
import { POPULARITY_SCALES } from '../popularity/popularity-scales.ts';

/** What the ranking looks at for each candidate, in this order. */
export const RANKING_FEATURES = [
  ...MODEL_FEATURES.map(({ name }) => name),
  ...POPULARITY_SCALES.map((scale) => `popular_${scale}` as const),
  'age',
] as const;
export type RankingFeature = (typeof RANKING_FEATURES)[number];

/** How candidates are ranked: learned from held-out feedback and judged by it. */
export interface Ranking extends LogisticRegression {
  /** What it was chosen as, such as `popular_7d` or `everything`. */
  readonly name: string;
  /**
   * What all positive feedback came to on each popularity scale when the weights were learned: counts enter as shares of
   * it, so that a quiet night ranks as the busy day before did.
   */
  readonly totals: readonly number[];
}

/** Whether a ranking looks at any of the features named. */
export function looksAt({ weights }: LogisticRegression, names: readonly RankingFeature[]): boolean {
  return names.some((name) => weights[RANKING_FEATURES.indexOf(name)] !== 0);
}

/** The weights that are not 0, by feature, to four digits. */
export function weightsOf({ weights }: LogisticRegression): Record<string, number> {
  const named = RANKING_FEATURES.map((name, at) => [name, Number(weights[at]!.toPrecision(4))] as const);
  return Object.fromEntries(named.filter(([, weight]) => weight !== 0));
}

/** The popularity scales that a ranking looks at. */
export function scalesOf(ranking: LogisticRegression): number[] {
  const first = RANKING_FEATURES.indexOf('popular_12h');
  return POPULARITY_SCALES.map((_, scale) => scale).filter((scale) => ranking.weights[first + scale] !== 0);
}
