/**
 * The memory in which rows are compared: an incidence in both orientations, the weights of its elements, the norms of
 * its rows, and for each thread a place for results and for a row that is not one of them.
 */
import type { CompressedMatrix } from '../../dataset/interactions.ts';
import { BITMAPS_MAX, prunedNeighborScratchBytes, RECORD_BYTES } from '../../kernel/scratch-sizes.ts';
import {
  type ArrayPlan,
  type MemoryLayout,
  placeArrays,
  plannedBytes,
  viewOf,
} from '../../memory/memory-layout.ts';
import type { AllocateMemory } from '../../memory/reuse-memory.ts';
import { additionsOf } from '../part/sample-users-to-fit-memory.ts';
import type { Incidence } from './incidence.ts';
import { placeNorms, placeWeights, SHRINK, type Weighting } from './similarity.ts';

/** Rows compared in one call of the kernel, and the entries that a thread has room for. */
export const BLOCK_ROWS = 64;
const BLOCK_NEIGHBORS = 400;
/** Each thread has one row of its own, whose elements a caller gives; its end is kept as the start of a second. */
const ROWS_PER_SLOT = 2;

export interface SimilarityOptions {
  /** Elements in common count c / (c + shrink); 0 or more. */
  readonly shrink?: number;
  /** N of the weights ln(N / N_x); the number of rows unless told. */
  readonly population?: number;
  /** Other weights and norms than the usual ones. */
  readonly weighting?: Weighting;
  /** The longest list of neighbors that will be asked for, 1 or more. */
  readonly listLengthMax?: number;
  /** True to make room for an index, at most 56 bytes a row and 4 an entry and an element; see `index-plan.ts`. */
  readonly reserveIndex?: boolean;
}

/** A similarity over rows, ready to be searched by `slots` threads: plain data and shared memory. */
export interface PlacedSimilarity {
  readonly memory: WebAssembly.Memory;
  readonly layout: MemoryLayout;
  readonly rowCount: number;
  readonly elementCount: number;
  readonly entryCount: number;
  readonly shrink: number;
  readonly slots: number;
  readonly listLengthMax: number;
  /** Cost of comparing all pairs: the sum of N_x squared over the elements. */
  readonly additions: number;
  readonly hasIndexRoom: boolean;
}

/** Shape that the size of a similarity depends on. */
export type NeighborShape = Pick<
  PlacedSimilarity,
  'rowCount' | 'elementCount' | 'entryCount' | 'slots' | 'listLengthMax' | 'hasIndexRoom'
>;

/** Rows as the kernel sees them: those of the incidence and those of the threads. */
export function paddedRowCount({ rowCount, slots }: Pick<NeighborShape, 'rowCount' | 'slots'>): number {
  return rowCount + slots * ROWS_PER_SLOT;
}

/** The row whose elements the thread of a slot may write. */
export function queryRow({ rowCount }: Pick<NeighborShape, 'rowCount'>, slot: number): number {
  return rowCount + slot * ROWS_PER_SLOT;
}

/** Entries of results that a thread has room for. */
export function outEntries(listLengthMax: number): number {
  return Math.max(BLOCK_ROWS * BLOCK_NEIGHBORS, listLengthMax + 1);
}

/** Bitmaps that an index has room for, and the uint32 words of each, in whole blocks of 128 bits. */
export function bitmapRoom({ rowCount, elementCount }: Pick<NeighborShape, 'rowCount' | 'elementCount'>): {
  readonly bitmaps: number;
  readonly words: number;
} {
  return { bitmaps: Math.min(elementCount, BITMAPS_MAX), words: Math.ceil(rowCount / 128) * 4 };
}

function arrayPlans(shape: NeighborShape): ArrayPlan[] {
  const { elementCount: elements, entryCount, slots, listLengthMax, hasIndexRoom } = shape;
  const rows = paddedRowCount(shape);
  const out = outEntries(listLengthMax);
  const plans: ArrayPlan[] = [
    ['starts', 'u32', [rows + 1]],
    ['columns', 'u32', [entryCount + slots * elements]],
    ['elementStarts', 'u32', [elements + 1]],
    ['elementRows', 'u32', [entryCount]],
    ['weights', 'f32', [elements]],
    ['norms', 'f32', [rows]],
    ['outRows', 'u32', [slots, out]],
    ['outScores', 'f32', [slots, out]],
    ['outCounts', 'u32', [slots, BLOCK_ROWS]],
    ['scratch', 'f32', [slots, Math.ceil(prunedNeighborScratchBytes(rows) / 64) * 16]],
  ];
  if (hasIndexRoom) {
    const { rowCount } = shape;
    const { bitmaps, words } = bitmapRoom(shape);
    plans.push(['records', 'u32', [rowCount, RECORD_BYTES / 4]], ['rankLists', 'u32', [entryCount]]);
    plans.push(['bitmapOf', 'u32', [elements]], ['bitmaps', 'u32', [bitmaps, words]]);
  }
  return plans;
}

export function similarityMemoryBytes(shape: NeighborShape): number {
  return plannedBytes(arrayPlans(shape));
}

/**
 * Places an incidence in a new shared memory.
 * @param slots threads that may search, at least 1
 * @throws RangeError when an option is out of range or the similarity does not fit in one memory (4 GiB)
 */
export function placeSimilarity(
  { rows, elements }: Incidence,
  options: SimilarityOptions = {},
  slots = 1,
  allocate?: AllocateMemory,
): PlacedSimilarity {
  const { shrink = SHRINK, population = rows.rowCount, listLengthMax = 100, reserveIndex = false } = options;
  const { weighting } = options;
  if (!(shrink >= 0 && Number.isFinite(shrink)))
    throw new RangeError(`shrink is ${shrink}; it must be a finite number from 0`);
  if (!(Number.isInteger(listLengthMax) && listLengthMax >= 1))
    throw new RangeError(`listLengthMax is ${listLengthMax}; it must be an integer from 1`);
  if (reserveIndex && weighting !== undefined)
    throw new RangeError('an index needs the usual weights and norms');
  const shape: NeighborShape = {
    rowCount: rows.rowCount,
    elementCount: rows.columnCount,
    entryCount: rows.indices.length,
    slots,
    listLengthMax,
    hasIndexRoom: reserveIndex,
  };
  const { memory, layout } = placeArrays(arrayPlans(shape), allocate);
  const placed = { ...shape, memory, layout, shrink, additions: additionsOf(elements) };
  placeRows(placed, rows);
  viewOf(memory, layout, 'elementStarts', 'u32').set(elements.indptr);
  viewOf(memory, layout, 'elementRows', 'u32').set(elements.indices);
  const weights = viewOf(memory, layout, 'weights', 'f32');
  placeWeights(weights, elements, population, weighting);
  placeNorms(viewOf(memory, layout, 'norms', 'f32'), rows, weights, weighting);
  return placed;
}

function placeRows(
  placed: NeighborShape & Pick<PlacedSimilarity, 'memory' | 'layout'>,
  rows: CompressedMatrix,
) {
  const { memory, layout, entryCount, elementCount: elements, slots } = placed;
  const starts = viewOf(memory, layout, 'starts', 'u32');
  starts.fill(entryCount).set(rows.indptr);
  for (let slot = 0; slot < slots; slot++) {
    const row = queryRow(placed, slot);
    starts.fill(entryCount + slot * elements, row, row + ROWS_PER_SLOT);
  }
  viewOf(memory, layout, 'columns', 'u32').set(rows.indices);
}

/**
 * Number of rows from the first on that can be compared with all others in so many additions; decided by counts, so it is the
 * same wherever the data is.
 */
export function rowsWithin(placed: PlacedSimilarity, additionsMax: number): number {
  const { rowCount } = placed;
  if (placed.additions <= additionsMax) return rowCount;
  const view = (name: string) => viewOf(placed.memory, placed.layout, name, 'u32');
  const [starts, columns, elementStarts] = [view('starts'), view('columns'), view('elementStarts')];
  let left = additionsMax;
  for (let row = 0; row < rowCount; row++) {
    for (let at = starts[row]!; at < starts[row + 1]!; at++) {
      const element = columns[at]!;
      left -= elementStarts[element + 1]! - elementStarts[element]!;
    }
    if (left < 0) return row;
  }
  return rowCount;
}
