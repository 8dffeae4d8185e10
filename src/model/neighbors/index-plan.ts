/**
 * A search for rows too many to compare all pairs. What that costs lies in the elements that many rows have: an index has
 * bitmaps of these and finds the same lists by bounds (`place-index.ts`, `assembly/pruned-neighbors.ts`). Whether it pays is told by
 * a sample of rows, and the recall is measured on it as well.
 */
import { createRandom } from '../../domain/random.ts';
import type { Kernels } from '../../kernel/kernels.ts';
import { viewOf } from '../../memory/memory-layout.ts';
import type { PlacedSimilarity } from './memory-layout.ts';
import { placeIndex } from './place-index.ts';
import { type RankedRows, SimilaritySearch } from './similarity-search.ts';

export interface IndexOptions {
  readonly enableIndex: boolean;
  /** Least share of the true neighbors that must be found, 0 to 1. */
  readonly indexRecall: number;
  readonly k: number;
  readonly seed: number;
  /** Comparing all pairs is fast enough below this number of additions. */
  readonly exactAdditionsMax?: number;
  /** An index whose cost is a larger share of the exact search's is not worth its memory. */
  readonly costShareMax?: number;
}

/** Plan of a search for neighbors, and its measurements. */
export interface IndexPlan {
  /** All pairs are compared one by one. */
  readonly exact: boolean;
  /** Mean share of the true neighbors found on a sample of rows; 1 when exact. */
  readonly recall: number;
  /** Cost of the search, as a share of the exact one: an estimate by counts on the sample. 1 when exact. */
  readonly costShare: number;
  readonly bitmapCount: number;
}

const EXACT: IndexPlan = { exact: true, recall: 1, costShare: 1, bitmapCount: 0 };

/** About this many additions take a thread half a second. */
const EXACT_ADDITIONS_MAX = 1e8;
const SAMPLE_ROWS = 200;
const COST_SHARE_MAX = 0.7;

/**
 * Decides whether to search with an index, and prepares the memory for it. The decision rests on counts, not on a
 * clock: the same data and seed give the same plan.
 * @param placed with `reserveIndex`; without room the search stays exact
 * @param kernels over its memory, of which the first slot is used
 */
export function planIndex(placed: PlacedSimilarity, kernels: Kernels, options: IndexOptions): IndexPlan {
  const { enableIndex, indexRecall, k, seed } = options;
  const { exactAdditionsMax = EXACT_ADDITIONS_MAX, costShareMax = COST_SHARE_MAX } = options;
  if (!enableIndex || !placed.hasIndexRoom || placed.additions < exactAdditionsMax) return EXACT;
  const bitmapCount = placeIndex(placed);
  const inFull = new SimilaritySearch(placed, kernels, 0, 0);
  const indexed = new SimilaritySearch(placed, kernels, 0, 1);
  const sample = sampleRows(placed, seed);
  const recalls = sample.map((row) => recallOf(inFull.neighborsOf(row, k), indexed.neighborsOf(row, k)));
  const recall = recalls.reduce((sum, each) => sum + each, 0) / Math.max(1, sample.length);
  const costShare = indexed.work / Math.max(1, inFull.work);
  return recall < indexRecall || costShare > costShareMax
    ? EXACT
    : { exact: false, recall, costShare, bitmapCount };
}

/** Rows with elements, distinct, drawn by the seed; at most `SAMPLE_ROWS`. */
function sampleRows(placed: PlacedSimilarity, seed: number): number[] {
  const starts = viewOf(placed.memory, placed.layout, 'starts', 'u32');
  const random = createRandom(seed);
  const chosen = new Set<number>();
  for (let tries = 0; tries < SAMPLE_ROWS * 20 && chosen.size < SAMPLE_ROWS; tries++) {
    const row = random.below(placed.rowCount);
    if (starts[row + 1]! > starts[row]!) chosen.add(row);
  }
  return [...chosen].sort((a, b) => a - b);
}

/** The share of a true list that was found: a row that scores as the last true one does is as good as it. */
export function recallOf(truth: RankedRows, found: Pick<RankedRows, 'scores'>): number {
  if (truth.rows.length === 0) return 1;
  const least = truth.scores.at(-1)! * (1 - 1e-6);
  let hits = 0;
  for (const score of found.scores) if (score >= least) hits++;
  return Math.min(1, hits / truth.rows.length);
}
