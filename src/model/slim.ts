/**
 * A sparse linear item-item model: the score of an item for a user is the sum of the item's weights on what the user
 * has. The weights of item j are the ridge regression of its column of the matrix on those of its neighborhood N, the
 * items most like it (fsSLIM, Ning and Karypis 2011, section 5.3; with L2 alone it has the closed form of EASE, Steck
 * 2019): with G = Xᵀ W X over users weighted by W, (G_NN + Λ) b = G_Nj, Λ = regularization I + frequencyRegularization
 * diag(G_NN) (Steck 2020, "Autoencoders that don't overfit towards the identity").
 *
 * Each item is solved by itself from fixed counts: the model is the same for any number of threads. It costs, for each
 * item, m³ / 3 flops and the gathering of m² / 2 counts.
 */
import type { Interactions } from '../dataset/interactions.ts';
import { fingerprint } from '../dataset/interactions.ts';
import type { Kernels } from '../kernel/kernels.ts';
import type { InstantiateKernels } from '../kernel/scratch.ts';
import { arrayOf } from '../memory/layout.ts';
import type { Progress } from './als.ts';
import { chunkProgress, restartChunks, takeChunks } from './chunk-counter.ts';
import { type NeighborTable, sharedF32, sharedU32 } from './neighbor-table.ts';
import { SimilaritySearch } from './similarity.ts';
import {
  pairAt,
  placeSlim,
  regressionSize,
  type SlimTask,
  type SlimViews,
  slimViews,
  UNCOUNTED,
} from './slim-memory.ts';
import { type SlimSettings, slimSettings } from './slim-settings.ts';

/** Counting the pairs of popular items, then solving. All threads finish a phase before the next begins. */
export type SlimPhase = 'count' | 'solve';
export const SLIM_PHASES: readonly SlimPhase[] = ['count', 'solve'];

/** Items that a thread takes at a time. */
const CHUNK_ROWS = 16;

/** One thread's part in learning. */
export class SlimSolver {
  readonly #task: SlimTask;
  readonly #kernels: Kernels;
  readonly #search: SimilaritySearch;
  readonly #views: SlimViews;
  readonly #matrix: Float32Array;
  readonly #target: Float32Array;
  /** The place of each item in the neighborhood at hand, -1 outside, the neighborhood's length for the target. */
  readonly #places: Int32Array;
  readonly #matrixOffset: number;
  readonly #targetOffset: number;

  /** @param slot this thread's number, below the task's slots; no two threads share one */
  constructor(task: SlimTask, instantiate: InstantiateKernels, slot: number) {
    const { memory, layout, similarity } = task;
    this.#task = task;
    this.#kernels = instantiate(memory);
    this.#search = new SimilaritySearch(similarity, instantiate(similarity.memory), slot);
    const size = regressionSize(task.settings);
    this.#views = slimViews(task);
    this.#matrixOffset = arrayOf(layout, 'matrices').offset + slot * size * size * 4;
    this.#targetOffset = arrayOf(layout, 'targets').offset + slot * size * 4;
    this.#matrix = new Float32Array(memory.buffer, this.#matrixOffset, size * size);
    this.#target = new Float32Array(memory.buffer, this.#targetOffset, size);
    this.#places = new Int32Array(similarity.rowCount).fill(-1);
  }

  /** Works on a phase until no chunk is left. @returns false when the learning was cancelled */
  runPhase(phase: SlimPhase): boolean {
    const { counter, countedItems, similarity } = this.#task;
    if (phase === 'count') {
      return takeChunks(counter, countedItems, CHUNK_ROWS, (first, end) => {
        for (let rank = first; rank < end; rank++) this.#countPairs(rank);
      });
    }
    return takeChunks(counter, similarity.rowCount, CHUNK_ROWS, (first, end) => {
      for (let item = first; item < end; item++) this.#solve(item);
    });
  }

  /** The users' weights that a counted item shares with each one of lower rank. */
  #countPairs(rank: number): void {
    const {
      countedRows,
      countedStarts,
      countedRanks: ranks,
      userWeights,
      pairs,
      itemStarts,
      itemUsers,
    } = this.#views;
    const item = countedRows[rank]!;
    const first = pairAt(rank, 0);
    const row = pairs.subarray(first, first + rank);
    for (let entry = itemStarts[item]!; entry < itemStarts[item + 1]!; entry++) {
      const user = itemUsers[entry]!;
      const weight = userWeights[user]!;
      for (let at = countedStarts[user]!; ranks[at]! < rank; at++)
        row[ranks[at]!] = row[ranks[at]!]! + weight;
    }
  }

  #solve(item: number): void {
    const { draft, settings } = this.#task;
    const neighborhood = this.#search.neighborsOf(item, settings.neighborhood).rows;
    draft.counts[item] = 0;
    if (neighborhood.length === 0) return;
    this.#gather(item, neighborhood);
    // The regression is padded to the size that the kernel takes, as items that nobody has.
    const size = Math.ceil(neighborhood.length / 4) * 4;
    if (this.#kernels.choleskySolve(this.#matrixOffset, this.#targetOffset, size) === 0) return;
    this.#keepLargest(item, neighborhood);
  }

  /** Writes the upper triangle of G_NN + Λ, and G_Nj. */
  #gather(item: number, neighborhood: Uint32Array): void {
    const { regularization, frequencyRegularization } = this.#task.settings;
    const { diagonal, ranks } = this.#views;
    const count = neighborhood.length;
    const size = Math.ceil(count / 4) * 4;
    const matrix = this.#matrix.subarray(0, size * size).fill(0);
    const target = this.#target.fill(0);
    this.#gatherCounted(item, neighborhood, size);
    neighborhood.forEach((neighbor, place) => {
      this.#places[neighbor] = place;
    });
    this.#places[item] = count;
    neighborhood.forEach((neighbor, place) => {
      if (ranks[neighbor] === UNCOUNTED) this.#gatherRare(neighbor, place, count, size);
    });
    if (ranks[item] === UNCOUNTED) this.#gatherTarget(item, count, target);
    for (let place = 0; place < size; place++) {
      const own = place < count ? diagonal[neighborhood[place]!]! : 0;
      matrix[place * size + place] = own * (1 + frequencyRegularization) + regularization;
    }
    for (const neighbor of neighborhood) this.#places[neighbor] = -1;
    this.#places[item] = -1;
  }

  /** Pairs of counted items, looked up. */
  #gatherCounted(item: number, neighborhood: Uint32Array, size: number): void {
    const { pairs, ranks } = this.#views;
    const matrix = this.#matrix;
    const own = ranks[item]!;
    for (let row = 0; row < neighborhood.length; row++) {
      const rank = ranks[neighborhood[row]!]!;
      if (rank === UNCOUNTED) continue;
      if (own !== UNCOUNTED) this.#target[row] = pairs[pairAt(rank, own)]!;
      for (let column = row + 1; column < neighborhood.length; column++) {
        const other = ranks[neighborhood[column]!]!;
        if (other !== UNCOUNTED) matrix[row * size + column] = pairs[pairAt(rank, other)]!;
      }
    }
  }

  /** Pairs of an item that is not counted, by walking what its users have. A pair of two such is taken from the first. */
  #gatherRare(neighbor: number, place: number, count: number, size: number): void {
    const { ranks, userWeights: weights, itemStarts, itemUsers, userStarts, userItems } = this.#views;
    const [matrix, target, places] = [this.#matrix, this.#target, this.#places];
    for (let entry = itemStarts[neighbor]!; entry < itemStarts[neighbor + 1]!; entry++) {
      const user = itemUsers[entry]!;
      const weight = weights[user]!;
      for (let at = userStarts[user]!; at < userStarts[user + 1]!; at++) {
        const other = userItems[at]!;
        const column = places[other]!;
        if (column < 0) continue;
        const isRare = ranks[other] === UNCOUNTED;
        if (column === count) {
          if (!isRare) target[place] = target[place]! + weight;
        } else if (column > place) {
          const cell = place * size + column;
          matrix[cell] = matrix[cell]! + weight;
        } else if (column < place && !isRare) {
          const cell = column * size + place;
          matrix[cell] = matrix[cell]! + weight;
        }
      }
    }
  }

  /** The target's pairs when it is not counted. */
  #gatherTarget(item: number, count: number, target: Float32Array): void {
    const { userWeights: weights, itemStarts, itemUsers, userStarts, userItems } = this.#views;
    for (let entry = itemStarts[item]!; entry < itemStarts[item + 1]!; entry++) {
      const user = itemUsers[entry]!;
      for (let at = userStarts[user]!; at < userStarts[user + 1]!; at++) {
        const place = this.#places[userItems[at]!]!;
        if (place >= 0 && place < count) target[place] = target[place]! + weights[user]!;
      }
    }
  }

  /** Keeps the weights of greatest magnitude. */
  #keepLargest(item: number, neighborhood: Uint32Array): void {
    const { draft } = this.#task;
    const weights = this.#target;
    const order = Array.from(neighborhood.keys()).filter((place) => weights[place] !== 0);
    order.sort((a, b) => Math.abs(weights[b]!) - Math.abs(weights[a]!) || a - b);
    const kept = order.slice(0, draft.k);
    if (!kept.every((place) => Number.isFinite(weights[place]))) return;
    kept.forEach((place, at) => {
      draft.rows[item * draft.k + at] = neighborhood[place]!;
      draft.scores[item * draft.k + at] = weights[place]!;
    });
    draft.counts[item] = kept.length;
  }
}

/** Lets the next phase begin. Called while no thread runs one. */
export function beginSlimPhase({ counter }: SlimTask): void {
  restartChunks(counter);
}

/** How many items are solved, once that phase has begun. */
export function slimProgress({ counter, similarity }: SlimTask): Progress {
  return chunkProgress(counter, similarity.rowCount);
}

/**
 * The learnt weights turned round, once all threads have ended: the entries of item i are the items that having it
 * speaks for (or against, below zero), the strongest first. So a user's scores are the sums over the rows of its items.
 */
export function slimTable({ draft }: SlimTask, dataFingerprint: number): NeighborTable {
  const { rowCount, k, counts } = draft;
  const starts = sharedU32(rowCount + 1);
  const visit = (see: (item: number, target: number, weight: number) => void) => {
    for (let target = 0; target < rowCount; target++) {
      const first = target * k;
      for (let at = first; at < first + counts[target]!; at++)
        see(draft.rows[at]!, target, draft.scores[at]!);
    }
  };
  visit((item) => {
    starts[item + 1] = starts[item + 1]! + 1;
  });
  for (let row = 0; row < rowCount; row++) starts[row + 1] = starts[row + 1]! + starts[row]!;
  const next = starts.slice();
  const rows = sharedU32(starts[rowCount]!);
  const scores = sharedF32(starts[rowCount]!);
  visit((item, target, weight) => {
    const at = next[item]!;
    next[item] = at + 1;
    rows[at] = target;
    scores[at] = weight;
  });
  for (let row = 0; row < rowCount; row++) {
    sortEntries(rows.subarray(starts[row], starts[row + 1]), scores.subarray(starts[row], starts[row + 1]));
  }
  return { rowCount, fingerprint: dataFingerprint, recall: 1, starts, rows, scores };
}

/** Sorts by score, descending; of equal ones the lower row first. */
function sortEntries(rows: Uint32Array, scores: Float32Array): void {
  const order = Uint32Array.from(rows.keys());
  order.sort((a, b) => scores[b]! - scores[a]! || rows[a]! - rows[b]!);
  const [oldRows, oldScores] = [rows.slice(), scores.slice()];
  order.forEach((from, at) => {
    rows[at] = oldRows[from]!;
    scores[at] = oldScores[from]!;
  });
}

/**
 * Learns in this thread; the generator yields now and then, so the caller may show progress or stop by returning.
 * @throws FurzeError BAD_REQUEST for a setting out of range
 */
export function* fitSlim(
  interactions: Interactions,
  given: Partial<SlimSettings>,
  instantiate: InstantiateKernels,
): Generator<Progress, NeighborTable> {
  const task = placeSlim(interactions, slimSettings(given));
  const solver = new SlimSolver(task, instantiate, 0);
  for (const phase of SLIM_PHASES) {
    beginSlimPhase(task);
    solver.runPhase(phase);
    yield slimProgress(task);
  }
  return slimTable(task, fingerprint(interactions));
}
