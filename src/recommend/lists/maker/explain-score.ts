import { RANKING_FEATURES, type RankingFeature } from '../../models/feature-names.ts';
import { LikeSums, SUM_NAMES } from '../../models/like-sums.ts';
import { eachFeature } from '../../ranking/compute-features.ts';
import { rankCandidates } from '../../ranking/rank-candidates.ts';
import type { ListInputs } from '../../sources/list-inputs.ts';
import type { Proposal } from './candidate-finder.ts';
import { coldScore } from './score-cold-items.ts';

/** Likes that are told apart at most, the latest. */
const LIKES_MAX = 50;

/** The part by which known items with a new one's labels score more than its own features do. */
export const OF_ITS_LABELS = 'of_its_labels';

/** Parts by feature. */
type Parts = ReadonlyMap<RankingFeature | typeof OF_ITS_LABELS, number>;

/** The score of an item as a sum: `base` and all `parts` add up to its log-odds. */
export interface ScoreParts {
  /** The scores of the item and of the others that were asked about, of the same moment, each from 0 to 1. */
  readonly scores: readonly number[];
  /** The log-odds of the user's mean candidate. */
  readonly base: number;
  /** Parts of the features; below 0 for one that speaks against the item. */
  readonly parts: Parts;
  /** Parts of the user's likes by the models, against an item that none of them speaks for. */
  readonly likes: ReadonlyMap<number, number>;
}

/** The base, and for each of some items its weighted features and their distances from the mean, the parts of its score. */
interface FeatureParts {
  readonly base: number;
  readonly weighted: readonly ReadonlyMap<RankingFeature, number>[];
  readonly parts: readonly Parts[];
}

/**
 * Takes the scores of the first candidates apart: each feature adds its weight times the distance from the mean of all.
 * @param count items that are taken apart
 * @returns undefined where nothing was learned to rank by
 */
export function partsOfFirst(
  proposal: Proposal,
  inputs: ListInputs,
  count: number,
): FeatureParts | undefined {
  const { ranking } = inputs.generation ?? {};
  if (ranking === undefined) return undefined;
  const { bias, weights } = ranking.byKind[proposal.kind]!;
  const weighted = Array.from({ length: count }, () => new Map<RankingFeature, number>());
  const parts = Array.from({ length: count }, () => new Map<RankingFeature | typeof OF_ITS_LABELS, number>());
  let base = bias;
  const take = (feature: number, values: ArrayLike<number>) => {
    let sum = 0;
    for (let at = 0; at < values.length; at++) sum += values[at]!;
    const mean = (weights[feature]! * sum) / values.length;
    for (let at = 0; at < count; at++) {
      const own = weights[feature]! * values[at]!;
      weighted[at]!.set(RANKING_FEATURES[feature]!, own);
      parts[at]!.set(RANKING_FEATURES[feature]!, own - mean);
    }
    base += mean;
  };
  eachFeature(proposal, inputs, ranking.totals, take, (feature) => weights[feature] !== 0);
  for (const [at, score] of coldScores(proposal, inputs, count)) {
    const more = Math.log(score / (1 - score)) - sumOf(base, parts[at]!);
    if (more > 0) parts[at]!.set(OF_ITS_LABELS, more);
  }
  return { base, weighted, parts };
}

/** By place those of the first candidates that are new, with the scores that lists take where they are higher. */
function coldScores(proposal: Proposal, inputs: ListInputs, count: number): Map<number, number> {
  const { coldItems } = inputs;
  const told = proposal.candidates.slice(0, count).map((row) => coldItems.rows.indexOf(row));
  if (!told.some((cold) => cold >= 0)) return new Map();
  const known = { ...proposal, candidates: [...coldItems.knownRows] };
  const scores = rankCandidates(known, inputs, 'learned', 0);
  return new Map(
    told.flatMap((cold, at) => (cold < 0 ? [] : [[at, coldScore(coldItems, cold, scores)] as const])),
  );
}

function sumOf(base: number, parts: Parts): number {
  return [...parts.values()].reduce((sum, part) => sum + part, base);
}

/**
 * Takes the score of an item apart, with pauses.
 * @param proposal the user's candidates, the first of which is the item
 * @param count the first of them whose scores are told
 * @returns undefined where nothing was learned to rank by
 */
export function* explainScore(
  proposal: Proposal,
  inputs: ListInputs,
  count: number,
): Generator<undefined, ScoreParts | undefined> {
  const found = partsOfFirst(proposal, inputs, count);
  if (found === undefined) return undefined;
  const { base, weighted, parts } = found;
  const scores = parts.map((own) => 1 / (1 + Math.exp(-sumOf(base, own))));
  return { scores, base, parts: parts[0]!, likes: yield* likesBehind(proposal, inputs, weighted[0]!) };
}

/** Parts the features among the likes: a sum by what each adds to it, matrix factorization by each like's own part. */
function* likesBehind(
  { candidates, liked }: Proposal,
  inputs: ListInputs,
  weighted: ReadonlyMap<RankingFeature, number>,
): Generator<undefined, Map<number, number>> {
  const { generation } = inputs;
  const itemRow = candidates[0]!;
  const told = liked.slice(0, LIKES_MAX);
  const likes = new Map<number, number>();
  const share = (score: number, sums: readonly (readonly [like: number, sum: number])[]) => {
    const whole = sums.reduce((total, [, sum]) => total + sum, 0);
    for (const [like, sum] of sums)
      if (sum !== 0 && whole !== 0) likes.set(like, (likes.get(like) ?? 0) + (score * sum) / whole);
  };
  const alone = new LikeSums();
  for (const name of SUM_NAMES) {
    const score = weighted.get(name) ?? 0;
    if (score === 0) continue;
    const sums: (readonly [number, number])[] = [];
    for (const [place, like] of told.entries()) {
      sums.push([like, alone.partOf(generation?.parts, { like, place }, name, itemRow, inputs)]);
      yield;
    }
    share(score, sums);
  }
  const score = weighted.get('collaborative') ?? 0;
  const als = score === 0 ? undefined : yield* generation?.parts.als?.decompose(liked, itemRow) ?? [];
  share(score, als?.parts.map((part) => [part.itemRow, part.score] as const) ?? []);
  return likes;
}
