import type { ScoredUser } from '../../model/part/learned-part.ts';
import { MODEL_FEATURES } from '../../model/registry.ts';
import { RANKING_FEATURES } from '../models/feature-names.ts';
import type { Generation } from '../models/generation-slot.ts';
import { LIVE_SUM, type LikeSums, MODELLESS_SUMS, writeSumFeature } from '../models/like-sums.ts';
import type { ItemPopularity } from '../popularity/popularity-counts.ts';
import type { KeptItemScores } from './kept-item-scores.ts';

const MODELLESS = RANKING_FEATURES.indexOf(LIVE_SUM);
const POPULAR = RANKING_FEATURES.indexOf('popular_1h');
const AGE = RANKING_FEATURES.indexOf('age');
const WIDTH = RANKING_FEATURES.length;

const DAY_MS = 86_400_000;
/** Items older than this, or of no known age, are all alike. */
const AGE_DAYS_MAX = 3650;

/** One user's candidates, and what scores them. */
export interface RankingCase extends ScoredUser {
  /** The user's kind; see `kindOf`. */
  readonly kind: number;
  readonly candidates: readonly number[];
  /** Sums over the user's likes; absent where there are none. */
  readonly sums?: LikeSums;
}

/** See `ItemPopularity`. */
export interface RankedPopularity extends Pick<ItemPopularity, 'asOfMs'> {
  readonly scales: readonly { readonly values: ArrayLike<number>; readonly total: number }[];
}

/** Inputs of the ranking beside the user. */
export interface RankingInputs {
  readonly generation: Generation | undefined;
  readonly popularity: RankedPopularity;
  /** Since when an item is there: its Timestamp or its first feedback, milliseconds since the epoch; NaN for neither. */
  readonly timestampMsAt: (itemRow: number) => number;
  /** The parts of scores that depend on the item alone, where popularity and timestamps may be as of a moment ago. */
  readonly kept?: KeptItemScores;
}

/** Takes a feature: its number among `RANKING_FEATURES`, and a value for each candidate, good until the next one. */
export type OnFeature = (feature: number, values: ArrayLike<number>) => void;

/**
 * The features of each candidate, `RANKING_FEATURES.length` numbers a row; see `eachFeature`.
 */
export function rankingFeatures(
  one: RankingCase,
  inputs: RankingInputs,
  totals: readonly number[],
  isUsed?: (feature: number) => boolean,
): Float64Array {
  const { length } = one.candidates;
  const features = new Float64Array(length * WIDTH);
  eachFeature(
    one,
    inputs,
    totals,
    (feature, values) => {
      for (let at = 0, to = feature; at < length; at++, to += WIDTH) features[to] = values[at]!;
    },
    isUsed,
  );
  return features;
}

/**
 * Tells the features of the candidates, one after the other in their order: the scores and sums of the parts; ln(1 +
 * count) of positive feedback on each scale, in records of the moment at which all came to `totals`; ln(1 + days) of the
 * item's age as of the same moment. Of one that is not told all values are 0, as where a model is missing.
 * @param isUsed features for which this is false are not told, which saves their time
 */
export function eachFeature(
  one: RankingCase,
  inputs: RankingInputs,
  totals: readonly number[],
  onFeature: OnFeature,
  isUsed: (feature: number) => boolean = () => true,
): void {
  const column = new Float64Array(one.candidates.length);
  eachUserFeature(one, inputs, onFeature, isUsed, column);
  const { candidates } = one;
  for (const { feature, of } of itemFeatures(inputs, totals, isUsed)) {
    for (let at = 0; at < column.length; at++) column[at] = of(candidates[at]!);
    onFeature(feature, column);
  }
}

/** Tells those that depend on the user: scores and sums of the parts. @param column room for a number a candidate */
export function eachUserFeature(
  one: RankingCase,
  inputs: RankingInputs,
  onFeature: OnFeature,
  isUsed: (feature: number) => boolean,
  column: Float64Array,
): void {
  const { candidates, sums } = one;
  for (const [at, { name, part, feature }] of MODEL_FEATURES.entries()) {
    if (!isUsed(at)) continue;
    if ('sum' in feature) {
      const ofName = sums?.of(name);
      if (ofName === undefined) continue;
      writeSumFeature(name, ofName, candidates, column);
      onFeature(at, column);
    } else {
      const opened = inputs.generation?.parts[part];
      const scores = opened && feature.scores(opened, one, candidates);
      if (scores !== undefined) onFeature(at, scores);
    }
  }
  for (const [at, name] of MODELLESS_SUMS.entries()) {
    const own = isUsed(MODELLESS + at) ? sums?.of(name) : undefined;
    if (own === undefined) continue;
    writeSumFeature(name, own, candidates, column);
    onFeature(MODELLESS + at, column);
  }
}

/** A feature that an item has whoever is ranked for. */
interface ItemFeature {
  readonly feature: number;
  readonly of: (itemRow: number) => number;
}

/** The popularity of an item on each scale, and its age. */
function itemFeatures(
  { popularity, timestampMsAt }: RankingInputs,
  totals: readonly number[],
  isUsed: (feature: number) => boolean,
): ItemFeature[] {
  const scales = popularity.scales.map(({ values, total }, scale) => {
    const records = totals[scale]! / total;
    return {
      feature: POPULAR + scale,
      isThere: total !== 0,
      of: (row: number) => Math.log1p((values[row] ?? 0) * records),
    };
  });
  const { asOfMs } = popularity;
  const age = { feature: AGE, isThere: true, of: (row: number) => logAge(asOfMs - timestampMsAt(row)) };
  return [...scales, age].filter(({ feature, isThere }) => isThere && isUsed(feature));
}

/** The part of a score that depends on the item alone: its features, weighted. */
export function itemScore(
  inputs: RankingInputs,
  totals: readonly number[],
  weights: readonly number[],
): (itemRow: number) => number {
  const features = itemFeatures(inputs, totals, (feature) => weights[feature] !== 0);
  return (row) => {
    let score = 0;
    for (const { feature, of } of features) score += weights[feature]! * of(row);
    return score;
  };
}

/**
 * The popularity of two items with so many more likes of the first, of now.
 * @param records all feedback on each scale, in records of now
 */
export function withMoreLikes(
  { asOfMs, scales }: RankedPopularity,
  [row, other]: readonly [number, number],
  records: readonly number[],
  likes: number,
): RankedPopularity {
  const moved = scales.map(({ values, total }, scale) => {
    const more = total === 0 ? likes : (likes * total) / records[scale]!;
    const both = { length: 0, [other]: values[other] ?? 0, [row]: (values[row] ?? 0) + more };
    return { values: both, total: total + more };
  });
  return { asOfMs, scales: moved };
}

function logAge(ageMs: number): number {
  const days = ageMs / DAY_MS;
  return Math.log1p(days < AGE_DAYS_MAX ? Math.max(0, days) : AGE_DAYS_MAX);
}
