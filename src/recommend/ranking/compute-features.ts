import type { ScoredUser } from '../../model/part/learned-part.ts';
import { MODEL_FEATURES } from '../../model/registry.ts';
import { RANKING_FEATURES } from '../models/feature-names.ts';
import type { Generation } from '../models/generation-slot.ts';
import { LIVE_SUM, type LikeSums, writeSumFeature } from '../models/like-sums.ts';
import type { ItemPopularity } from '../popularity/popularity-counts.ts';
import { ItemFeatureCache, type WriteFeatures } from './item-feature-cache.ts';

const LIVE = RANKING_FEATURES.indexOf(LIVE_SUM);
const POPULAR = RANKING_FEATURES.indexOf('popular_1h');
const AGE = RANKING_FEATURES.indexOf('age');
const WIDTH = RANKING_FEATURES.length;
/** The last features: those that an item has whoever is ranked for. */
export const ITEM_FEATURES = WIDTH - POPULAR;

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

/** Inputs of the ranking beside the user. */
export interface RankingInputs {
  readonly generation: Generation | undefined;
  readonly popularity: ItemPopularity;
  /** Since when an item is there: its Timestamp or its first feedback, milliseconds since the epoch; NaN for neither. */
  readonly timestampMsAt: (itemRow: number) => number;
  /** Where popularity and timestamps never change, nor the ranking: the features of an item alone, `ITEM_FEATURES` of them. */
  readonly kept?: ItemFeatureCache;
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
  const { candidates, sums } = one;
  const column = new Float64Array(candidates.length);
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
  const live = isUsed(LIVE) ? sums?.of(LIVE_SUM) : undefined;
  if (live !== undefined) {
    writeSumFeature(LIVE_SUM, live, candidates, column);
    onFeature(LIVE, column);
  }
  eachItemFeature(candidates, inputs, totals, onFeature, isUsed, column);
}

/** Those that an item has whoever is ranked for: its popularity on each scale and its age. */
function eachItemFeature(
  candidates: readonly number[],
  inputs: RankingInputs,
  totals: readonly number[],
  onFeature: OnFeature,
  isUsed: (feature: number) => boolean,
  column: Float64Array,
): void {
  const { write, features } = itemFeatures(inputs, totals, isUsed);
  const kept = inputs.kept ?? new ItemFeatureCache(0, ITEM_FEATURES);
  const { values, places } = kept.placesOf(candidates, write);
  for (const feature of features) {
    for (let at = 0; at < column.length; at++) column[at] = values[places[at]! + feature]!;
    onFeature(POPULAR + feature, column);
  }
}

/** The features of an item whoever is ranked for, and which of them are told. What is kept for all kinds of users is worked out whole. */
function itemFeatures(
  { popularity, timestampMsAt, kept }: RankingInputs,
  totals: readonly number[],
  isUsed: (feature: number) => boolean,
): { readonly write: WriteFeatures; readonly features: readonly number[] } {
  const isWritten = kept === undefined ? isUsed : () => true;
  const scales = popularity.scales.flatMap(({ values, total }, scale) =>
    total === 0 || !isWritten(POPULAR + scale) ? [] : [{ scale, values, records: totals[scale]! / total }],
  );
  const isAgeWritten = isWritten(AGE);
  const written = [...scales.map(({ scale }) => scale), AGE - POPULAR];
  return {
    features: written.filter((feature) => isUsed(POPULAR + feature)),
    write(row, out, at) {
      for (const { scale, values, records } of scales)
        out[at + scale] = Math.log1p((values[row] ?? 0) * records);
      if (isAgeWritten) out[at + AGE - POPULAR] = logAge(popularity.asOfMs - timestampMsAt(row));
    },
  };
}

function logAge(ageMs: number): number {
  const days = ageMs / DAY_MS;
  return Math.log1p(days < AGE_DAYS_MAX ? Math.max(0, days) : AGE_DAYS_MAX);
}
