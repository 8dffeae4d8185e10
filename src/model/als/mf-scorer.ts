/**
 * A matrix factorization placed in shared memory and ready to answer: fold-in of a user, the best items for a
 * vector, scores of listed items. The memory and its layout are made once; each thread opens its own scorer
 * with its own kernels and its own slot of scratch.
 */
import { FurzeError } from '../../domain/furze-error.ts';
import type { Kernels } from '../../kernel/kernels.ts';
import {
  alsScratchBytes,
  bitsBytes,
  coarseBytes,
  headBytes,
  type InstantiateKernels,
  paddedFactors,
  panelBytes,
  topKScratchBytes,
} from '../../kernel/scratch-sizes.ts';
import { Arena } from '../../memory/arena.ts';
import { setBit } from '../../memory/bits.ts';
import {
  type ArrayPlan,
  arrayOf,
  type MemoryLayout,
  placeArrays,
  plannedBytes,
  rowOf,
  rowOffset,
  viewOf,
} from '../../memory/memory-layout.ts';
import type { AllocateMemory } from '../../memory/reuse-memory.ts';
import { f32, u32 } from '../../memory/shared-memory.ts';
import { assertFinite, type MatrixFactorization, type MatrixFactorizationHeader } from './model.ts';
import { HEADED_ITEMS_MIN, headScratchBytes, placeHeads } from './place-heads.ts';
import { rowRegularization } from './settings.ts';

/** Source rows gathered for one fold-in; longer histories are read in place. */
export const GATHER_ROWS = 256;
/** Users that are asked about together, and items that they have read together; those beyond are asked about one by one. */
const BATCH_USERS = 64;
const BATCH_READ = 65_536;

/** All that a thread needs to open a scorer; plain data but for the memory, which is shared. */
export interface PlacedModel {
  readonly memory: WebAssembly.Memory;
  readonly layout: MemoryLayout;
  readonly header: MatrixFactorizationHeader;
  readonly slots: number;
  readonly listLengthMax: number;
  /** There are heads of the items. */
  readonly headed: boolean;
}

/** An item and its score, as columns; best first. */
export interface ScoredRows {
  readonly itemRows: Uint32Array;
  readonly scores: Float32Array;
}

/** A user who is asked about with others. */
export interface AskedBest {
  readonly vector: Float32Array;
  /** Item rows left out, ascending; rows past the model's items may stand at the end. */
  readonly read: readonly number[];
}

/** Shape that the size of a placed model depends on. */
interface ModelShape extends Pick<MatrixFactorizationHeader, 'factors' | 'itemCount'> {
  /** Users whose vectors it holds; none where it serves. */
  readonly userVectors: number;
}

function arrayPlans(header: ModelShape, slots: number, listLengthMax: number): ArrayPlan[] {
  const { userVectors, itemCount } = header;
  const f = paddedFactors(header.factors);
  const scratchBytes = Math.max(topKScratchBytes(f), alsScratchBytes(f, GATHER_ROWS));
  const headed = itemCount < HEADED_ITEMS_MIN ? 0 : headBytes(itemCount, f);
  return [
    ['userFactors', 'f32', [userVectors, f]],
    ['itemFactors', 'f32', [itemCount, f]],
    ['panels', 'f32', [panelBytes(itemCount, f) / 4]],
    ['coarse', 'u32', [coarseBytes(itemCount, f) / 4]],
    ['heads', 'u32', [headed / 4]],
    ['headScratch', 'u32', [headed && headScratchBytes(f) / 4]],
    ['liked', 'u32', [bitsBytes(itemCount) / 4]],
    ['gramian', 'f32', [f, f]],
    ['query', 'f32', [slots, f]],
    ['starts', 'u32', [slots, 2]],
    ['regularization', 'f32', [slots, 1]],
    ['items', 'u32', [slots, itemCount]],
    ['allowed', 'u32', [slots, bitsBytes(itemCount) / 4]],
    ['queries', 'f32', [slots, BATCH_USERS * f]],
    ['readStarts', 'u32', [slots, BATCH_USERS + 1]],
    ['readItems', 'u32', [slots, BATCH_READ]],
    ['outCounts', 'u32', [slots, BATCH_USERS]],
    ['outItems', 'u32', [slots, listLengthMax]],
    ['outScores', 'f32', [slots, listLengthMax]],
    ['scratch', 'f32', [slots, Math.ceil(scratchBytes / 64) * 16]],
  ];
}

/** Bytes of shared memory that a placed model takes. */
export function placedModelBytes(header: ModelShape, slots: number, listLengthMax: number): number {
  return plannedBytes(arrayPlans(header, slots, listLengthMax));
}

/**
 * Places a model in a new shared memory: its factors, the items packed for scanning, and the items' Gramian.
 * @param slots threads that may open a scorer, at least 1
 * @throws FurzeError INTERNAL when the factors do not fit the model's shape or are not finite
 */
export function placeModel(
  model: MatrixFactorization,
  instantiate: InstantiateKernels,
  slots = 1,
  listLengthMax = 1000,
  allocate?: AllocateMemory,
): PlacedModel {
  const { userFactors, itemFactors, ...header } = model;
  const f = paddedFactors(header.factors);
  const userVectors = userFactors.length / f;
  const holdsItems = itemFactors.length === header.itemCount * f;
  if ((userVectors !== 0 && userVectors !== header.userCount) || !holdsItems) {
    throw new FurzeError('INTERNAL', 'the factors do not fit the shape that the model states');
  }
  assertFinite(model);
  const plans = arrayPlans({ ...header, userVectors }, slots, listLengthMax);
  const { memory, layout } = placeArrays(plans, allocate);
  viewOf(memory, layout, 'userFactors', 'f32').set(userFactors);
  viewOf(memory, layout, 'itemFactors', 'f32').set(itemFactors);
  markLiked(itemFactors, f, viewOf(memory, layout, 'liked', 'u32'));
  const kernels = instantiate(memory);
  const at = (name: string) => arrayOf(layout, name).offset;
  const items = at('itemFactors');
  kernels.packPanels(items, header.itemCount, f, at('panels'));
  kernels.packCoarse(items, header.itemCount, f, at('coarse'));
  kernels.gramian(items, header.itemCount, f, at('gramian'));
  const asked = { factors: items, items: header.itemCount, f, gramian: at('gramian'), heads: at('heads') };
  const scratch = new Arena(memory, at('headScratch'), at('liked'));
  const headed = placeHeads(kernels, { ...asked, scratch });
  return { memory, layout, header, slots, listLengthMax, headed };
}

/** Marks the items that anybody has liked: the others have a vector of zeros. */
function markLiked(itemFactors: Float32Array, f: number, bits: Uint32Array): void {
  bits.fill(0);
  for (let at = 0; at < itemFactors.length; at++) {
    if (itemFactors[at] === 0) continue;
    const row = Math.floor(at / f);
    setBit(bits, row);
    at = (row + 1) * f - 1;
  }
}

/** One thread's way to ask a placed model. Arrays that are returned are copies of the caller's own. */
export class MfScorer {
  readonly header: MatrixFactorizationHeader;
  readonly placed: PlacedModel;
  readonly kernels: Kernels;
  readonly slot: number;
  readonly #f: number;
  /** The last one folded in: an explanation asks for one user many times. */
  #folded: { readonly rows: Uint32Array; readonly vector: Float32Array } | undefined;

  /** @param slot this thread's number, below `placed.slots`; no two threads share one */
  constructor(placed: PlacedModel, kernels: Kernels, slot = 0) {
    if (!(slot >= 0 && slot < placed.slots)) throw new RangeError(`slot ${slot} of ${placed.slots}`);
    this.header = placed.header;
    this.placed = placed;
    this.kernels = kernels;
    this.slot = slot;
    this.#f = paddedFactors(placed.header.factors);
  }

  /** The trained vector of a user, of padded length; null for one that the model does not hold. */
  userVector(userRow: number): Float32Array | null {
    const held = arrayOf(this.placed.layout, 'userFactors').shape[0]!;
    if (!(userRow >= 0 && userRow < held)) return null;
    const offset = this.#offset('userFactors') + userRow * this.#f * 4;
    return new Float32Array(f32(this.placed.memory, offset, this.#f));
  }

  /**
   * The vector of a user from its feedback against the present item factors: the exact solution of the same
   * equations that training solves for a user (Hu, Koren, Volinsky 2008, equation 4). Items that the model
   * does not know, and repeats, are passed over.
   * @returns null when no listed item is known to the model
   */
  foldIn(itemRows: ArrayLike<number>): Float32Array | null {
    const { itemCount, unobservedWeight, trainedItems = itemCount } = this.header;
    const rows = this.#knownRows(itemRows);
    const count = rows.length;
    if (count === 0) return null;
    const last = this.#folded;
    if (last?.rows.length === count && rows.every((row, at) => row === last.rows[at]))
      return last.vector.slice();
    this.#u32('items', count).set(rows);
    this.#u32('starts', 2).set([0, count]);
    this.#f32('regularization', 1)[0] = rowRegularization(this.header, count, trainedItems);
    const query = this.#f32('query', this.#f).fill(0);
    const singular = this.kernels.alsCholeskyRows({
      starts: this.#slotOffset('starts'),
      columns: this.#slotOffset('items'),
      weights: 0,
      firstRow: 0,
      endRow: 1,
      target: this.#slotOffset('query'),
      source: this.#offset('itemFactors'),
      gramian: this.#offset('gramian'),
      f: this.#f,
      unobservedWeight,
      regularizations: this.#slotOffset('regularization'),
      steps: 1,
      scratch: this.#slotOffset('scratch'),
      gatherRows: GATHER_ROWS,
    });
    if (singular !== 0) return null;
    this.#folded = { rows, vector: new Float32Array(query) };
    return new Float32Array(query);
  }

  /**
   * The best items for a vector, by inner product; ties go to the lower row.
   * @param k 1 to the placed model's `listLengthMax`
   * @param excluded item rows left out, ascending (as of a user's history); rows past the model's items may stand at the end
   * @param allowed bits of the rows that may stand in the list, a row past them may not; every row when absent
   */
  recommend(
    vector: Float32Array,
    k: number,
    excluded: ArrayLike<number> = [],
    allowed?: Uint32Array,
  ): ScoredRows {
    if (!(k >= 1 && k <= this.placed.listLengthMax)) {
      throw new RangeError(`a list of ${k} items; this model answers 1 to ${this.placed.listLengthMax}`);
    }
    this.#writeQuery(vector);
    const readCount = this.#writeExcluded(excluded);
    const found = this.kernels.queryTopK({
      ...this.#search(k, allowed),
      query: this.#slotOffset('query'),
      coarse: this.#offset('coarse'),
      readItems: readCount === 0 ? 0 : this.#slotOffset('items'),
      readCount,
    });
    return {
      itemRows: new Uint32Array(this.#u32('outItems', found)),
      scores: new Float32Array(this.#f32('outScores', found)),
    };
  }

  /**
   * The best items for each of many users, as `recommend` would give them, bit for bit: the factors are read once for 64.
   * @param allowed bits of the rows that may stand in the lists; every row when absent
   * @returns the rows of each, best first
   */
  recommendMany(asked: readonly AskedBest[], k: number, allowed?: Uint32Array): readonly Uint32Array[] {
    const lists: Uint32Array[] = [];
    const atOnce = Math.min(BATCH_USERS, Math.floor(this.placed.listLengthMax / k));
    while (lists.length < asked.length) {
      const some = asked.slice(lists.length, lists.length + atOnce);
      const count = this.#writeAsked(some);
      if (count > 0) lists.push(...this.#recommendBatch(count, k, allowed));
      else {
        const { vector, read } = some[0] ?? asked[lists.length]!;
        lists.push(this.recommend(vector, k, read, allowed).itemRows);
      }
    }
    return lists;
  }

  /** Writes vectors and what was read of as many users as there is room for. @returns how many */
  #writeAsked(asked: readonly AskedBest[]): number {
    const { itemCount } = this.header;
    const starts = this.#u32('readStarts', BATCH_USERS + 1);
    const items = this.#u32('readItems', BATCH_READ);
    const queries = this.#f32('queries', BATCH_USERS * this.#f);
    starts[0] = 0;
    for (let user = 0, at = 0; user < asked.length; user++) {
      const { vector, read } = asked[user]!;
      if (at + read.length > BATCH_READ) return user;
      this.#checkVector(vector);
      queries.set(vector, user * this.#f);
      for (let of = 0; of < read.length && read[of]! < itemCount; of++) items[at++] = read[of]!;
      starts[user + 1] = at;
    }
    return asked.length;
  }

  /** The lists of those that `#writeAsked` has written. */
  #recommendBatch(rows: number, k: number, allowed: Uint32Array | undefined): Uint32Array[] {
    this.kernels.batchTopK({
      ...this.#search(k, allowed),
      queries: this.#slotOffset('queries'),
      rows,
      readStarts: this.#slotOffset('readStarts'),
      readItems: this.#slotOffset('readItems'),
      outCounts: this.#slotOffset('outCounts'),
    });
    const found = this.#u32('outItems', rows * k);
    const counts = this.#u32('outCounts', rows);
    return Array.from(counts, (count, user) => found.slice(user * k, user * k + count));
  }

  /** Arguments that searches for one and for many have in common. */
  #search(k: number, allowed: Uint32Array | undefined) {
    return {
      panels: this.#offset('panels'),
      factors: this.#offset('itemFactors'),
      heads: this.placed.headed ? this.#offset('heads') : 0,
      items: this.header.itemCount,
      f: this.#f,
      k,
      allowedBits: allowed === undefined ? 0 : this.#writeAllowed(allowed),
      outItems: this.#slotOffset('outItems'),
      outScores: this.#slotOffset('outScores'),
      scratch: this.#slotOffset('scratch'),
    };
  }

  /** The scores of listed items for a vector; 0 for items the model does not know. */
  scoreItems(vector: Float32Array, itemRows: ArrayLike<number>): Float32Array {
    const { itemCount } = this.header;
    const scores = new Float32Array(itemRows.length);
    this.#writeQuery(vector);
    const most = Math.min(itemCount, this.placed.listLengthMax);
    if (most === 0) return scores;
    for (let from = 0; from < itemRows.length; from += most)
      this.#scoreSome(itemRows, from, Math.min(itemRows.length, from + most), scores);
    return scores;
  }

  /** Scores the listed items [from, to), of which there are no more than the slot holds. */
  #scoreSome(itemRows: ArrayLike<number>, from: number, to: number, scores: Float32Array): void {
    const { itemCount } = this.header;
    const items = this.#u32('items', to - from);
    // In the place of an item that the model does not know stands another.
    for (let at = from; at < to; at++) items[at - from] = itemRows[at]! < itemCount ? itemRows[at]! : 0;
    this.kernels.scoreItems(
      this.#slotOffset('query'),
      this.#offset('itemFactors'),
      this.#f,
      this.#slotOffset('items'),
      to - from,
      this.#slotOffset('outScores'),
    );
    scores.set(this.#f32('outScores', to - from), from);
    for (let at = from; at < to; at++) if (!(itemRows[at]! < itemCount)) scores[at] = 0;
  }

  #checkVector(vector: Float32Array): void {
    if (vector.length !== this.#f) {
      throw new RangeError(`a vector of ${vector.length} numbers for a model of ${this.#f}`);
    }
  }

  #writeQuery(vector: Float32Array): void {
    this.#checkVector(vector);
    this.#f32('query', this.#f).set(vector);
  }

  /** Known items of a history, each once, ascending. */
  #knownRows(itemRows: ArrayLike<number>): Uint32Array {
    const { itemCount } = this.header;
    const rows = new Uint32Array(itemRows).filter((row) => row < itemCount).sort();
    return rows.filter((row, at) => at === 0 || row !== rows[at - 1]);
  }

  #writeExcluded(excluded: ArrayLike<number>): number {
    const items = this.#u32('items', this.header.itemCount);
    let count = 0;
    for (let at = 0; at < excluded.length; at++)
      if (excluded[at]! < this.header.itemCount) items[count++] = excluded[at]!;
    return count;
  }

  /** @returns where the bits stand */
  #writeAllowed(allowed: Uint32Array): number {
    const { memory, layout } = this.placed;
    const bits = rowOf(memory, layout, 'allowed', this.slot, 'u32');
    bits.fill(0).set(allowed.subarray(0, bits.length));
    return this.#slotOffset('allowed');
  }

  #offset(name: string): number {
    return arrayOf(this.placed.layout, name).offset;
  }

  #slotOffset(name: string): number {
    return rowOffset(this.placed.layout, name, this.slot);
  }

  #f32(name: string, count: number): Float32Array<SharedArrayBuffer> {
    return f32(this.placed.memory, this.#slotOffset(name), count);
  }

  #u32(name: string, count: number): Uint32Array<SharedArrayBuffer> {
    return u32(this.placed.memory, this.#slotOffset(name), count);
  }
}
