import { createRandom } from '../domain/random.ts';
import { type LikeSums, SUM_NAMES } from './like-sums.ts';
import { RANKING_FEATURES, weigh } from './ranking.ts';
import type { Generation } from './serving-model.ts';
import type { TrendCounts } from './trends.ts';

const COLLABORATIVE = RANKING_FEATURES.indexOf('collaborative');
const CLICK_THROUGH = RANKING_FEATURES.indexOf('click_through');
const SUMS = SUM_NAMES.map((name) => [name, RANKING_FEATURES.indexOf(name)] as const);
const POPULAR = RANKING_FEATURES.indexOf('popular_12h');
const AGE = RANKING_FEATURES.indexOf('age');

const DAY_MS = 86_400_000;
/** Items older than this, or of no known age, are all alike. */
const AGE_DAYS_MAX = 3650;

/** One user's candidates, and what scores them. */
export interface RankingCase {
  readonly candidates: readonly number[];
  readonly userRow: number;
  readonly userLabels: () => readonly string[];
  /** The user's vector in the collaborative model, undefined without one. */
  readonly vector: Float32Array | undefined;
  /** What the user's likes speak for; absent where nothing does. */
  readonly sums?: LikeSums;
}

/** What the ranking knows beside the user. */
export interface RankingWorld {
  readonly generation: Generation | undefined;
  readonly trends: TrendCounts;
  /** An item's timestamp, milliseconds since the epoch, NaN for none. */
  readonly timestampMsAt: (itemRow: number) => number;
  /**
   * Where trends and timestamps never change: works a feature out once for each item, whoever is ranked for. The ranking
   * is one and the same, too.
   */
  readonly keep?: (feature: number, value: (itemRow: number) => number) => (itemRow: number) => number;
}

/**
 * The features of each candidate, `RANKING_FEATURES.length` numbers a row: the collaborative score, the log-odds of the
 * click-through model, what the user's likes speak for by the summed models; ln(1 + count) of positive feedback on each
 * scale, in records of the moment at which all came to `totals`; ln(1 + days) of the item's age as of the same
 * moment. A model that is missing gives 0.
 * @param isUsed features for which this is false stay 0, which saves their time
 */
export function rankingFeatures(
  { candidates, userRow, userLabels, vector, sums }: RankingCase,
  { generation, trends, timestampMsAt, keep }: RankingWorld,
  totals: readonly number[],
  isUsed: (feature: number) => boolean = () => true,
): Float64Array {
  const width = RANKING_FEATURES.length;
  const features = new Float64Array(candidates.length * width);
  const fill = (feature: number, value: (row: number, at: number) => number) => {
    for (let at = 0, to = feature; at < candidates.length; at++, to += width)
      features[to] = value(candidates[at]!, at);
  };
  const collaborative = vector && isUsed(COLLABORATIVE) && generation?.collaborative;
  if (collaborative) {
    const scores = collaborative.scoreItems(vector, candidates);
    fill(COLLABORATIVE, (_, at) => scores[at]!);
  }
  const click = isUsed(CLICK_THROUGH) && generation?.clickThrough;
  if (click) {
    const logits = click.logits(userRow, userLabels(), candidates);
    fill(CLICK_THROUGH, (_, at) => logits[at]!);
  }
  for (const [name, feature] of SUMS) {
    if (sums && isUsed(feature)) fill(feature, (row) => sums.featureOf(name, row));
  }
  trends.scales.forEach(({ values, total }, scale) => {
    if (total === 0 || !isUsed(POPULAR + scale)) return;
    const records = totals[scale]! / total;
    const popularity = (row: number) => Math.log1p((values[row] ?? 0) * records);
    fill(POPULAR + scale, keep?.(POPULAR + scale, popularity) ?? popularity);
  });
  const age = (row: number) => logAge(trends.asOfMs - timestampMsAt(row));
  if (isUsed(AGE)) fill(AGE, keep?.(AGE, age) ?? age);
  return features;
}

function logAge(ageMs: number): number {
  const days = ageMs / DAY_MS;
  return Math.log1p(days < AGE_DAYS_MAX ? Math.max(0, days) : AGE_DAYS_MAX);
}

/**
 * What orders candidates: what was learned from held-out feedback, the collaborative score, or chance. Where the first is
 * missing the second takes its place, and chance that of the second.
 */
export type RankOrder = 'learned' | 'collaborative' | 'random';

/**
 * A score for each candidate, the higher the better: by what was learned the probability of positive feedback; else the
 * collaborative score; else a number that hangs on the item and the seed alone.
 * @param seed of the random order; the same for the same user and generation
 */
export function rankCandidates(
  one: RankingCase,
  world: RankingWorld,
  order: RankOrder,
  seed: number,
): Float64Array {
  const { generation } = world;
  const ranking = order === 'learned' ? generation?.ranking : undefined;
  if (ranking !== undefined) {
    const { weights } = ranking;
    const features = rankingFeatures(one, world, ranking.totals, (feature) => weights[feature] !== 0);
    return weigh(features, ranking);
  }
  if (order !== 'random' && one.vector !== undefined && generation?.collaborative !== undefined) {
    return Float64Array.from(generation.collaborative.scoreItems(one.vector, one.candidates));
  }
  return Float64Array.from(one.candidates, (row) =>
    createRandom(seed ^ Math.imul(row + 1, 0x9e3779b1)).float(),
  );
}
