/**
 * An approximate search for rows too many to compare all pairs. What comparing costs lies in the elements that nearly
 * everybody has, and those weigh least: so each row looks for candidates by its rarest elements alone, as many as a
 * budget of additions allows, and the candidates are then compared exactly. The smallest budget is taken whose recall,
 * measured on a seeded sample of rows against the exact search, surely reaches what is asked for.
 */
import { createRandom } from '../domain/random.ts';
import { viewOf } from '../memory/layout.ts';
import type { RankedRows, SimilaritySearch, VisitNeighbors } from './similarity.ts';
import { outEntries, type PlacedSimilarity } from './similarity-memory.ts';

export interface IndexOptions {
  readonly enableIndex: boolean;
  /** Least share of the true neighbors that must be found, 0 to 1. */
  readonly indexRecall: number;
  /** Neighbors that will be asked for. */
  readonly k: number;
  readonly seed: number;
  /** Comparing all pairs is fast enough below this number of additions. */
  readonly exactAdditionsMax?: number;
}

/** How candidates are found, and what was measured of it. */
export interface IndexPlan {
  /** All pairs are compared. */
  readonly exact: boolean;
  /** Mean share of the true neighbors found on the sample; 1 when exact. */
  readonly recall: number;
  /** The cost as a share of the exact search's, estimated on the sample; 1 when exact. */
  readonly costShare: number;
  /** Candidates compared for a row. */
  readonly candidates: number;
}

const EXACT: IndexPlan = { exact: true, recall: 1, costShare: 1, candidates: 0 };

/** About this many additions take a thread two seconds. */
export const EXACT_ADDITIONS_MAX = 2e9;
const SAMPLE_ROWS = 400;
/** Budgets that are tried, as shares of the mean additions of a row, the cheapest first. */
const BUDGET_SHARES = [1 / 128, 1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2];
/** Candidates that are tried, as multiples of the neighbors wanted. */
const CANDIDATE_FACTORS = [2, 4, 8];
/** What comparing one element of a candidate costs, in additions. */
const COMPARE_COST = 2;
/** An index that saves less is not worth its loss. */
const COST_SHARE_MAX = 0.5;
/** Standard errors that the measured recall must lie above the one asked for. */
const RECALL_ERRORS = 2;

/**
 * Decides whether and how to search approximately, and prepares the memory for it. The decision rests on counts, not on
 * a clock: the same data and seed give the same plan.
 * @param search over a similarity placed with `reserveIndex`; without room the search stays exact
 */
export function planIndex(search: SimilaritySearch, options: IndexOptions): IndexPlan {
  const { placed } = search;
  const { enableIndex, indexRecall, k, seed, exactAdditionsMax = EXACT_ADDITIONS_MAX } = options;
  if (!enableIndex || !placed.hasIndexRoom || placed.additions < exactAdditionsMax) return EXACT;
  const sample = sampleRows(placed, seed);
  const truth = sample.map((row) => search.neighborsOf(row, k));
  const meanAdditions = placed.additions / placed.rowCount;
  const exactCost = sample.reduce((sum, row) => sum + additionsOfRow(placed, row), 0);
  for (const share of BUDGET_SHARES) {
    const cost = placeIndex(placed, share * meanAdditions, sample);
    const trials = CANDIDATE_FACTORS.map((factor) => Math.min(k * factor, outEntries(placed.listLengthMax)));
    for (const candidates of new Set(trials)) {
      const plan = { exact: false, recall: 1, costShare: 1, candidates };
      const indexed = new IndexedSearch(search, plan);
      const recalls = sample.map((row, at) => recallOf(truth[at]!, indexed.neighborsOf(row, k)));
      const { mean, error } = meanAndError(recalls);
      const costShare = (cost + COMPARE_COST * indexed.elementsCompared) / exactCost;
      if (mean - RECALL_ERRORS * error < indexRecall || costShare > COST_SHARE_MAX) continue;
      placeIndex(placed, share * meanAdditions);
      return { exact: false, recall: mean, costShare, candidates };
    }
  }
  return EXACT;
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

function additionsOfRow({ memory, layout }: PlacedSimilarity, row: number): number {
  const starts = viewOf(memory, layout, 'starts', 'u32');
  const columns = viewOf(memory, layout, 'columns', 'u32');
  const elementStarts = viewOf(memory, layout, 'elementStarts', 'u32');
  let sum = 0;
  for (let at = starts[row]!; at < starts[row + 1]!; at++) {
    sum += elementStarts[columns[at]! + 1]! - elementStarts[columns[at]!]!;
  }
  return sum;
}

/**
 * Writes each row's rarest elements into the index, one at least and then as many as `budget` additions allow.
 * @param only the rows to write, ascending; the others get none. All when absent
 * @returns the additions that looking for candidates then takes
 */
function placeIndex(
  { memory, layout, rowCount }: PlacedSimilarity,
  budget: number,
  only?: readonly number[],
): number {
  const starts = viewOf(memory, layout, 'starts', 'u32');
  const columns = viewOf(memory, layout, 'columns', 'u32');
  const elementStarts = viewOf(memory, layout, 'elementStarts', 'u32');
  const indexStarts = viewOf(memory, layout, 'indexStarts', 'u32');
  const indexColumns = viewOf(memory, layout, 'indexColumns', 'u32');
  const rowsWith = (element: number) => elementStarts[element + 1]! - elementStarts[element]!;
  let next = 0;
  let additions = 0;
  let place = 0;
  for (let row = 0; row < rowCount; row++) {
    indexStarts[row] = next;
    if (only !== undefined && only[place] !== row) continue;
    place++;
    const elements = columns.slice(starts[row], starts[row + 1]);
    elements.sort((a, b) => rowsWith(a) - rowsWith(b) || a - b);
    let kept = 0;
    let spent = 0;
    while (kept < elements.length && (kept === 0 || spent + rowsWith(elements[kept]!) <= budget)) {
      spent += rowsWith(elements[kept]!);
      kept++;
    }
    indexColumns.set(elements.subarray(0, kept).sort(), next);
    next += kept;
    additions += spent;
  }
  indexStarts.fill(next, rowCount);
  return additions;
}

/** A list's share of the true one; a row that scores as the last true one does is as good as it. */
export function recallOf(truth: RankedRows, found: RankedRows): number {
  if (truth.rows.length === 0) return 1;
  const least = truth.scores.at(-1)! * (1 - 1e-6);
  let hits = 0;
  for (const score of found.scores) if (score >= least) hits++;
  return Math.min(1, hits / truth.rows.length);
}

function meanAndError(values: readonly number[]): { mean: number; error: number } {
  const count = Math.max(1, values.length);
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, error: Math.sqrt(squares / Math.max(1, count - 1) / count) };
}

/** A search by the index: candidates by rare elements, compared exactly. */
export class IndexedSearch {
  readonly #search: SimilaritySearch;
  readonly #plan: IndexPlan;
  readonly #starts: Uint32Array;
  readonly #columns: Uint32Array;
  readonly #weights: Float32Array;
  readonly #norms: Float32Array;
  readonly #marks: Uint32Array;
  #mark = 0;
  #elementsCompared = 0;

  constructor(search: SimilaritySearch, plan: IndexPlan) {
    const { memory, layout, elementCount } = search.placed;
    this.#search = search;
    this.#plan = plan;
    this.#starts = viewOf(memory, layout, 'starts', 'u32');
    this.#columns = viewOf(memory, layout, 'columns', 'u32');
    this.#weights = viewOf(memory, layout, 'weights', 'f32');
    this.#norms = viewOf(memory, layout, 'norms', 'f32');
    this.#marks = new Uint32Array(elementCount);
  }

  /** Elements of candidates looked at so far: what comparing costs. */
  get elementsCompared(): number {
    return this.#elementsCompared;
  }

  /** As `SimilaritySearch.topRows`. */
  topRows(firstRow: number, endRow: number, k: number, visit: VisitNeighbors, allowed?: Uint32Array): void {
    const candidates = Math.max(k, this.#plan.candidates);
    const compare: VisitNeighbors = (row, { rows }) => visit(row, this.#best(row, rows, k));
    this.#search.topCandidates(firstRow, endRow, candidates, compare, allowed);
  }

  /** As `SimilaritySearch.neighborsOf`. */
  neighborsOf(row: number, k: number): RankedRows {
    let found: RankedRows | undefined;
    this.topRows(row, row + 1, k, (_row, neighbors) => (found = neighbors));
    return found!;
  }

  #best(row: number, candidates: Uint32Array, k: number): RankedRows {
    this.#mark++;
    for (let at = this.#starts[row]!; at < this.#starts[row + 1]!; at++) {
      this.#marks[this.#columns[at]!] = this.#mark;
    }
    const scores = Float32Array.from(candidates, (other) => this.#score(row, other));
    const order = Uint32Array.from(candidates.keys());
    order.sort((a, b) => scores[b]! - scores[a]! || candidates[a]! - candidates[b]!);
    const best = order.subarray(0, k);
    return { rows: best.map((at) => candidates[at]!), scores: Float32Array.from(best, (at) => scores[at]!) };
  }

  /** The exact score of the marked row with another, rounded as the kernel rounds it. */
  #score(row: number, other: number): number {
    const end = this.#starts[other + 1]!;
    let sum = 0;
    let shared = 0;
    for (let at = this.#starts[other]!; at < end; at++) {
      const element = this.#columns[at]!;
      if (this.#marks[element] !== this.#mark) continue;
      sum = Math.fround(sum + this.#weights[element]!);
      shared++;
    }
    this.#elementsCompared += end - this.#starts[other]!;
    const damping = Math.fround(shared / Math.fround(shared + this.#search.placed.shrink));
    return Math.fround(sum * damping) / Math.fround(this.#norms[row]! * this.#norms[other]!);
  }
}
