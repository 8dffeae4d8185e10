/**
 * A search for rows too many to compare all pairs one by one. What that costs lies in the elements that nearly everybody
 * has: so rows are put into classes by the most frequent elements (`row-classes.ts`), the other elements are walked
 * row by row, and of a class only those rows are looked at that share a rare element or can still enter the list. It
 * finds what the exact search finds, but for ties that rounding breaks; the recall is measured all the same.
 */
import { createRandom } from '../../domain/random.ts';
import { viewOf } from '../../memory/array-layout.ts';
import { IndexedSearch } from './indexed-search.ts';
import type { PlacedSimilarity } from './memory-layout.ts';
import { placeClasses, planClasses } from './row-classes.ts';
import type { RankedRows, SimilaritySearch } from './similarity-search.ts';

export interface IndexOptions {
  readonly enableIndex: boolean;
  /** Least share of the true neighbors that must be found, 0 to 1. */
  readonly indexRecall: number;
  /** Neighbors that will be asked for. */
  readonly k: number;
  readonly seed: number;
  /** Comparing all pairs is fast enough below this number of additions. */
  readonly exactAdditionsMax?: number;
  /** An index whose cost is a larger share of the exact search's is not worth its memory. */
  readonly costShareMax?: number;
}

/** How neighbors are looked for, and what was measured of it. */
export interface IndexPlan {
  /** All pairs are compared one by one. */
  readonly exact: boolean;
  /** Mean share of the true neighbors found on a sample of rows; 1 when exact. */
  readonly recall: number;
  /** What the search costs, as a share of the exact one: an estimate by counts. 1 when exact. */
  readonly costShare: number;
  /** The frequent elements that make the classes. */
  readonly elements: readonly number[];
  readonly classCount: number;
}

const EXACT: IndexPlan = { exact: true, recall: 1, costShare: 1, elements: [], classCount: 0 };

/** About this many additions take a thread five seconds. */
export const EXACT_ADDITIONS_MAX = 2e9;
const SAMPLE_ROWS = 100;
const COST_SHARE_MAX = 0.5;
/**
 * Decides whether and how to search by classes, and prepares the memory for it. The decision rests on counts, not on a
 * clock: the same data and seed give the same plan.
 * @param search over a similarity placed with `reserveIndex`; without room the search stays exact
 */
export function planIndex(search: SimilaritySearch, options: IndexOptions): IndexPlan {
  const { placed } = search;
  const { enableIndex, indexRecall, k, seed } = options;
  const { exactAdditionsMax = EXACT_ADDITIONS_MAX, costShareMax = COST_SHARE_MAX } = options;
  if (!enableIndex || !placed.hasIndexRoom || placed.additions < exactAdditionsMax) return EXACT;
  const classes = planClasses(placed);
  if (classes === undefined || classes.cost > costShareMax * placed.additions) return EXACT;
  placeClasses(placed, classes);
  const { elements, classCount } = classes;
  const plan = { exact: false, recall: 1, costShare: classes.cost / placed.additions, elements, classCount };
  const recall = measureRecall(search, new IndexedSearch(placed, plan), k, seed);
  return recall < indexRecall ? EXACT : { ...plan, recall };
}

function measureRecall(exact: SimilaritySearch, indexed: IndexedSearch, k: number, seed: number): number {
  const sample = sampleRows(exact.placed, seed);
  const recalls = sample.map((row) =>
    recallOf(exact.neighborsOf(row, k), indexed.neighborsOf(row, k).scores),
  );
  return recalls.reduce((sum, recall) => sum + recall, 0) / Math.max(1, sample.length);
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

/**
 * The share of a true list that was found, by the exact scores of what was found: a row that scores as the last true one
 * does is as good as it.
 */
export function recallOf(truth: RankedRows, foundScores: Float32Array): number {
  if (truth.rows.length === 0) return 1;
  const least = truth.scores.at(-1)! * (1 - 1e-6);
  let hits = 0;
  for (const score of foundScores) if (score >= least) hits++;
  return Math.min(1, hits / truth.rows.length);
}
