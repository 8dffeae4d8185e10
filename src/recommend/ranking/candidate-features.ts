import type { Generation } from '../models/generation.ts';
import { type LikeSums, SUM_NAMES } from '../models/like-sums.ts';
import type { TrendCounts } from '../popularity/trends.ts';
import type { KeptFeatures, WriteFeatures } from './kept-features.ts';
import { RANKING_FEATURES } from './ranking-features.ts';

const COLLABORATIVE = RANKING_FEATURES.indexOf('collaborative');
const CLICK_THROUGH = RANKING_FEATURES.indexOf('click_through');
const SUMS = SUM_NAMES.map((name) => [name, RANKING_FEATURES.indexOf(name)] as const);
const POPULAR = RANKING_FEATURES.indexOf('popular_12h');
const AGE = RANKING_FEATURES.indexOf('age');
const WIDTH = RANKING_FEATURES.length;
/** The last features: those that an item has whoever is ranked for. */
export const ITEM_FEATURES = WIDTH - POPULAR;

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
  /** Where trends and timestamps never change, nor the ranking: the features of an item alone, `ITEM_FEATURES` of them. */
  readonly kept?: KeptFeatures;
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
  world: RankingWorld,
  totals: readonly number[],
  isUsed: (feature: number) => boolean = () => true,
): Float64Array {
  const { generation, kept } = world;
  const features = new Float64Array(candidates.length * WIDTH);
  const collaborative = vector && isUsed(COLLABORATIVE) && generation?.collaborative;
  if (collaborative) fill(features, COLLABORATIVE, collaborative.scoreItems(vector, candidates));
  const click = isUsed(CLICK_THROUGH) && generation?.clickThrough;
  if (click) fill(features, CLICK_THROUGH, click.logits(userRow, userLabels(), candidates));
  for (const [name, feature] of SUMS) {
    if (!sums || !isUsed(feature)) continue;
    for (let at = 0, to = feature; at < candidates.length; at++, to += WIDTH)
      features[to] = sums.featureOf(name, candidates[at]!);
  }
  const write = itemFeatures(world, totals, isUsed);
  for (let at = 0, to = POPULAR; at < candidates.length; at++, to += WIDTH) {
    if (kept === undefined) write(candidates[at]!, features, to);
    else kept.copy(candidates[at]!, features, to, write);
  }
  return features;
}

function fill(features: Float64Array, feature: number, values: ArrayLike<number>): void {
  for (let at = 0, to = feature; at < values.length; at++, to += WIDTH) features[to] = values[at]!;
}

/** The features of an item whoever is ranked for: its popularity on each scale and its age. */
function itemFeatures(
  { trends, timestampMsAt }: RankingWorld,
  totals: readonly number[],
  isUsed: (feature: number) => boolean,
): WriteFeatures {
  const scales = trends.scales.flatMap(({ values, total }, scale) =>
    total === 0 || !isUsed(POPULAR + scale) ? [] : [{ scale, values, records: totals[scale]! / total }],
  );
  const isAgeUsed = isUsed(AGE);
  return (row, out, at) => {
    for (const { scale, values, records } of scales)
      out[at + scale] = Math.log1p((values[row] ?? 0) * records);
    if (isAgeUsed) out[at + AGE - POPULAR] = logAge(trends.asOfMs - timestampMsAt(row));
  };
}

function logAge(ageMs: number): number {
  const days = ageMs / DAY_MS;
  return Math.log1p(days < AGE_DAYS_MAX ? Math.max(0, days) : AGE_DAYS_MAX);
}
