/**
 * A sparse linear item-item model: the score of an item for a user is the sum of the item's weights on what the user
 * has. The weights of item j are the ridge regression of its column of the matrix on those of its neighborhood N, the
 * items most like it (fsSLIM, Ning and Karypis 2011, section 5.3; with L2 alone it has the closed form of EASE, Steck
 * 2019): with G = Xᵀ W X over users weighted by W, (G_NN + Λ) b = G_Nj, Λ = regularization I + frequencyRegularization
 * diag(G_NN) (Steck 2020, "Autoencoders that don't overfit towards the identity").
 *
 * Each item is solved by itself from fixed counts: the model is the same for any number of threads. It costs, for each
 * item, m³ / 3 flops, the looking up of m² / 2 counts, and a walk over what the users of its rare neighbors have.
 */

import type { Kernels } from '../../kernel/kernels.ts';
import type { InstantiateKernels } from '../../kernel/scratch-sizes.ts';
import { rowOf } from '../../memory/memory-layout.ts';
import { SimilaritySearch } from '../neighbors/similarity-search.ts';
import { takeChunks } from '../part/chunks-for-threads.ts';
import {
  pairAt,
  regressionSize,
  type SlimTask,
  type SlimViews,
  slimViews,
  UNCOUNTED,
} from './memory-layout.ts';

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
  /** The place of each item in the neighborhood at hand, -1 outside, the neighborhood's length for its target. */
  readonly #places: Int32Array;
  /** Which users the neighborhood at hand has met: those marked with its number. */
  readonly #walked: Uint32Array;
  #walk = 0;
  /** Places or ranks of one user's or one neighborhood's items. */
  readonly #list: Int32Array;

  /** @param slot this thread's number, below the task's slots; no two threads share one */
  constructor(task: SlimTask, instantiate: InstantiateKernels, slot: number) {
    const { memory, layout, similarity } = task;
    this.#task = task;
    this.#kernels = instantiate(memory);
    this.#search = new SimilaritySearch(similarity, instantiate(similarity.memory), slot);
    const size = regressionSize(task.settings);
    this.#views = slimViews(task);
    this.#matrix = rowOf(memory, layout, 'matrices', slot, 'f32');
    this.#target = rowOf(memory, layout, 'targets', slot, 'f32');
    this.#places = new Int32Array(similarity.rowCount).fill(-1);
    this.#walked = new Uint32Array(similarity.elementCount);
    this.#list = new Int32Array(size);
  }

  /** Works on a phase until no chunk is left. @returns false when the learning was cancelled */
  runPhase(phase: SlimPhase): boolean {
    const { countedItems, solvedItems } = this.#task;
    if (phase === 'count') {
      return takeChunks(this.#task, countedItems, CHUNK_ROWS, (first, end) => {
        for (let rank = first; rank < end; rank++) this.#countPairs(rank);
      });
    }
    const { solvedRows } = this.#views;
    return takeChunks(this.#task, solvedItems, CHUNK_ROWS, (first, end) => {
      for (let row = first; row < end; row++) this.#solve(solvedRows[row]!, row);
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

  /** @param row of the draft */
  #solve(item: number, row: number): void {
    const { draft, settings } = this.#task;
    draft.counts[row] = 0;
    const { rows } = this.#search.neighborsOf(item, settings.neighborhood);
    if (rows.length === 0) return;
    const neighborhood = this.#order(rows);
    this.#gather(item, neighborhood);
    // The regression is padded to the size that the kernel takes, as items that nobody has.
    const size = Math.ceil(neighborhood.length / 4) * 4;
    if (this.#kernels.choleskySolve(this.#matrix.byteOffset, this.#target.byteOffset, size) === 0) return;
    this.#keepLargest(row, neighborhood);
  }

  /** The rarest first: then a row of counted pairs is read in one direction. */
  #order(neighborhood: Uint32Array): Uint32Array {
    const { ranks } = this.#views;
    return neighborhood.sort((a, b) => ranks[b]! - ranks[a]! || a - b);
  }

  /** Writes the upper triangle of G_NN + Λ, and G_Nj. */
  #gather(item: number, neighborhood: Uint32Array): void {
    const { regularization, frequencyRegularization } = this.#task.settings;
    const { diagonal, ranks } = this.#views;
    const count = neighborhood.length;
    const size = Math.ceil(count / 4) * 4;
    const matrix = this.#matrix.subarray(0, size * size).fill(0);
    this.#target.fill(0);
    let rareCount = 0;
    while (rareCount < count && ranks[neighborhood[rareCount]!] === UNCOUNTED) rareCount++;
    this.#lookUpPairs(item, neighborhood, rareCount, size);
    this.#addRare(item, neighborhood, rareCount, size);
    for (let place = 0; place < size; place++) {
      const own = place < count ? diagonal[neighborhood[place]!]! : 0;
      matrix[place * size + place] = own * (1 + frequencyRegularization) + regularization;
    }
  }

  /** Pairs of counted items. */
  #lookUpPairs(item: number, neighborhood: Uint32Array, rareCount: number, size: number): void {
    const { pairs, ranks } = this.#views;
    const [matrix, places] = [this.#matrix, this.#list];
    const count = neighborhood.length;
    for (let place = rareCount; place < count; place++) places[place] = ranks[neighborhood[place]!]!;
    const own = ranks[item]!;
    for (let row = rareCount; row < count; row++) {
      const rank = places[row]!;
      if (own !== UNCOUNTED) this.#target[row] = pairs[pairAt(rank, own)]!;
      const first = pairAt(rank, 0);
      const to = row * size;
      for (let column = row + 1; column < count; column++)
        matrix[to + column] = pairs[first + places[column]!]!;
    }
  }

  /** Pairs of which one is not counted, by walking once what each user has who has such a one. */
  #addRare(item: number, neighborhood: Uint32Array, rareCount: number, size: number): void {
    const { ranks, itemStarts, itemUsers } = this.#views;
    const places = this.#places;
    const count = neighborhood.length;
    const isRare = ranks[item] === UNCOUNTED;
    if (rareCount === 0 && !isRare) return;
    for (let place = 0; place < count; place++) places[neighborhood[place]!] = place;
    places[item] = count;
    this.#walk++;
    for (let place = isRare ? -1 : 0; place < rareCount; place++) {
      const rare = place < 0 ? item : neighborhood[place]!;
      for (let at = itemStarts[rare]!; at < itemStarts[rare + 1]!; at++) {
        const user = itemUsers[at]!;
        if (this.#walked[user] === this.#walk) continue;
        this.#walked[user] = this.#walk;
        this.#addUser(user, count, rareCount, isRare, size);
      }
    }
    for (let place = 0; place < count; place++) places[neighborhood[place]!] = -1;
    places[item] = -1;
  }

  /** Adds a user's weight to all pairs of what it has of the neighborhood and the target, but those that are counted. */
  #addUser(user: number, count: number, rareCount: number, isRare: boolean, size: number): void {
    const { userWeights, userStarts, userItems } = this.#views;
    const [matrix, target, places, list] = [this.#matrix, this.#target, this.#places, this.#list];
    const weight = userWeights[user]!;
    let length = 0;
    let hasTarget = false;
    for (let at = userStarts[user]!; at < userStarts[user + 1]!; at++) {
      const place = places[userItems[at]!]!;
      if (place === count) hasTarget = true;
      else if (place >= 0) list[length++] = place;
    }
    for (let a = 0; a < length; a++) {
      const place = list[a]!;
      if (hasTarget && (isRare || place < rareCount)) target[place] = target[place]! + weight;
      if (place >= rareCount) continue;
      const row = place * size;
      for (let b = 0; b < length; b++) {
        const column = list[b]!;
        if (column > place) matrix[row + column] = matrix[row + column]! + weight;
      }
    }
  }

  /** Keeps the weights of greatest magnitude. */
  #keepLargest(row: number, neighborhood: Uint32Array): void {
    const { draft } = this.#task;
    const weights = this.#target;
    const order = Array.from(neighborhood.keys()).filter((place) => weights[place] !== 0);
    order.sort((a, b) => Math.abs(weights[b]!) - Math.abs(weights[a]!) || a - b);
    const kept = order.slice(0, draft.k);
    if (!kept.every((place) => Number.isFinite(weights[place]))) return;
    kept.forEach((place, at) => {
      draft.rows[row * draft.k + at] = neighborhood[place]!;
      draft.scores[row * draft.k + at] = weights[place]!;
    });
    draft.counts[row] = kept.length;
  }
}
