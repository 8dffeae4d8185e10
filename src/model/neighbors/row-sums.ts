/**
 * A table of items placed in shared memory to be summed over what a user likes: the table, and for each thread and kind of
 * sum a number for every item, or for the most items that one user's likes can speak for, where there are many more. Memories and layout are made once; each thread sums by kernels of its own in a slot of its
 * own. A kernel sees one memory, so where the sums of all threads do not fit in one beside the table, further threads have a
 * copy of the table in another.
 */
import type { Kernels, SumRows, TopSums } from '../../kernel/kernels.ts';
import {
  bitsBytes,
  firstPlaceOf,
  type InstantiateKernels,
  rowSumsBytes,
  sumBits,
} from '../../kernel/scratch-sizes.ts';
import { clearBit, hasBit } from '../../memory/bits.ts';
import {
  type ArrayPlan,
  arrayOf,
  layOut,
  type MemoryLayout,
  plannedBytes,
  rowOf,
  rowOffset,
  viewOf,
} from '../../memory/memory-layout.ts';
import type { AllocateMemory } from '../../memory/reuse-memory.ts';
import { createSharedMemory, f64, MEMORY_BYTES_MAX } from '../../memory/shared-memory.ts';
import type { ServingShape } from '../part/learned-part.ts';
import { draftBytes, type NeighborTable } from './neighbor-table.ts';

/** The most rows that are summed at once: each speaks for some hundred items. */
export const SUMMED_ROWS_MAX = 200;
/** Of the main thread, and of the lists that are made again aside. */
const OTHER_SLOTS = 2;

/** A table with room to sum it. Its arrays lie in the first memory. */
export interface PlacedSums extends NeighborTable {
  /** Each with a copy of the table and room for `slotsEach` threads; one, as long as all threads find room in it. */
  readonly memories: readonly WebAssembly.Memory[];
  /** Of each of them. */
  readonly layout: MemoryLayout;
  readonly slots: number;
  readonly slotsEach: number;
  /** Kinds of sums that a thread may hold at once. */
  readonly kinds: number;
  /** Of the places of a hash table, 0 for a sum for each row; see `SumRows`. */
  readonly bits: number;
}

/** Options of sums over a table: kinds of sums that a thread may hold at once, 1 when absent, and what one memory may hold. */
export interface SumsOptions {
  readonly kinds?: number;
  readonly bytesMax?: number;
}

interface SumsShape extends ServingShape {
  readonly rowCount: number;
  readonly entries: number;
  /** Entries of the longest row. */
  readonly longest: number;
  readonly kinds: number;
}

function bitsOf({ rowCount, longest }: Pick<SumsShape, 'rowCount' | 'longest'>): number {
  return sumBits(rowCount, SUMMED_ROWS_MAX * longest);
}

function arrayPlans({ rowCount, entries, longest, kinds, slots, listLengthMax }: SumsShape): ArrayPlan[] {
  const sumsBytes = rowSumsBytes(rowCount, bitsOf({ rowCount, longest }));
  const k = Math.min(listLengthMax, rowCount);
  return [
    ['starts', 'u32', [rowCount + 1]],
    ['rows', 'u32', [entries]],
    ['scores', 'f32', [entries]],
    ['sums', 'f64', [slots * kinds, sumsBytes / 8]],
    ['weights', 'f64', [slots, SUMMED_ROWS_MAX]],
    ['outScores', 'f64', [slots, k]],
    ['outRows', 'u32', [slots, k]],
    ['items', 'u32', [slots, SUMMED_ROWS_MAX]],
    ['allowed', 'u32', [slots, bitsBytes(rowCount) / 4]],
  ];
}

/** Divides the slots evenly among as few memories as hold them, each with a copy of the table. */
function planMemories(shape: SumsShape, bytesMax: number) {
  const bytesWith = (slots: number) => plannedBytes(arrayPlans({ ...shape, slots }));
  const table = bytesWith(0);
  const mostEach = Math.max(1, Math.floor((bytesMax - table) / (bytesWith(1) - table)));
  const count = Math.ceil(shape.slots / mostEach);
  const slotsEach = Math.ceil(shape.slots / count);
  const plans = arrayPlans({ ...shape, slots: slotsEach });
  return { count, slotsEach, plans, bytes: plannedBytes(plans) };
}

/**
 * Largest memory of a placed table of items: the largest memory in one piece; as models the table itself, the one that it
 * replaces, the one that it is placed from, and a copy to be saved; as scratch what threads sum in and further memories.
 * @param learnedItems of which the table has up to `entriesARow` entries each
 * @param rowCount items that it can be asked about
 * @param threads that train; the main thread and lists that are made again aside have slots of their own
 */
export function placedSumsBytes(
  { learnedItems, entriesARow, rowCount }: Record<'learnedItems' | 'entriesARow' | 'rowCount', number>,
  threads: number,
  listLengthMax: number,
  { kinds = 1, bytesMax = MEMORY_BYTES_MAX }: SumsOptions = {},
): { readonly piece: number; readonly models: number; readonly scratch: number } {
  const shape = {
    rowCount,
    entries: learnedItems * entriesARow,
    longest: entriesARow,
    kinds,
    slots: threads + OTHER_SLOTS,
    listLengthMax,
  };
  const { count, bytes: piece } = planMemories(shape, bytesMax);
  const table = plannedBytes(arrayPlans({ ...shape, slots: 0 }));
  const models = 2 * table + 2 * draftBytes(learnedItems, entriesARow) + 12 * rowCount;
  return { piece, models, scratch: 2 * (count * piece - table) };
}

/**
 * Places a table in new shared memory.
 * @throws RangeError where the table and one thread's sums do not fit in one memory
 */
export function placeSums(
  table: NeighborTable,
  { slots, listLengthMax }: ServingShape,
  { kinds = 1, bytesMax = MEMORY_BYTES_MAX }: SumsOptions = {},
  allocate: AllocateMemory = createSharedMemory,
): PlacedSums {
  const { rowCount, fingerprint, recall } = table;
  const longest = longestOf(table);
  const bits = bitsOf({ rowCount, longest });
  const shape = { rowCount, entries: table.rows.length, longest, kinds, slots, listLengthMax };
  const { count, slotsEach, plans, bytes } = planMemories(shape, bytesMax);
  const memories = Array.from({ length: count }, () => allocate(bytes));
  const layout = layOut(memories[0]!, plans);
  const [placed] = memories.map((memory) => {
    const starts = viewOf(memory, layout, 'starts', 'u32');
    const rows = viewOf(memory, layout, 'rows', 'u32');
    const scores = viewOf(memory, layout, 'scores', 'f32');
    starts.set(table.starts);
    rows.set(table.rows);
    scores.set(table.scores);
    return { starts, rows, scores };
  });
  return { rowCount, fingerprint, recall, ...placed!, memories, layout, slots, slotsEach, kinds, bits };
}

/** Entries of the longest row. */
function longestOf({ starts, rowCount }: NeighborTable): number {
  let longest = 0;
  for (let row = 0; row < rowCount; row++) longest = Math.max(longest, starts[row + 1]! - starts[row]!);
  return longest;
}

/** A thread's sums of each kind. @param slot this thread's number, below `placed.slots`; no two threads share one */
export function openSums(
  placed: PlacedSums,
  instantiate: InstantiateKernels,
  slot: number,
): readonly RowSums[] {
  const { memories, slots, slotsEach, kinds } = placed;
  if (!(slot >= 0 && slot < slots)) throw new RangeError(`slot ${slot} of ${slots}`);
  const memory = memories[Math.floor(slot / slotsEach)]!;
  const kernels = instantiate(memory);
  return Array.from(
    { length: kinds },
    (_, kind) => new RowSums(placed, memory, kernels, slot % slotsEach, kind),
  );
}

/** One thread's sums of one kind over a placed table: of one user after the other. */
export class RowSums {
  readonly #kernels: Kernels;
  readonly #sum: Omit<SumRows, 'count'>;
  readonly #top: Omit<TopSums, 'k'>;
  readonly #items: Uint32Array;
  readonly #weights: Float64Array;
  readonly #sums: Float64Array;
  /** See `SumRows`; empty where there is a sum for each row. */
  readonly #keys: Uint32Array;
  readonly #allowed: Uint32Array;
  readonly #outRows: Uint32Array;
  #largest = 0;

  /**
   * See `openSums`.
   * @param memory one of those that the table is placed in
   * @param slot 0 to `slotsEach` - 1, of this memory
   * @param kind 0 to `kinds` - 1
   */
  constructor(
    { kinds, rowCount, layout, bits }: PlacedSums,
    memory: WebAssembly.Memory,
    kernels: Kernels,
    slot: number,
    kind: number,
  ) {
    this.#kernels = kernels;
    const offsetOf = (name: string) => arrayOf(layout, name).offset;
    const sums = rowOffset(layout, 'sums', slot * kinds + kind);
    this.#items = rowOf(memory, layout, 'items', slot, 'u32');
    this.#weights = rowOf(memory, layout, 'weights', slot, 'f64');
    const places = bits === 0 ? rowCount : 2 ** bits;
    this.#sums = f64(memory, sums, places);
    this.#keys = new Uint32Array(memory.buffer, sums + 8 * places, bits === 0 ? 0 : places);
    this.#allowed = rowOf(memory, layout, 'allowed', slot, 'u32');
    this.#outRows = rowOf(memory, layout, 'outRows', slot, 'u32');
    this.#sum = {
      ...{ sums, bits },
      rows: rowCount,
      items: this.#items.byteOffset,
      weights: this.#weights.byteOffset,
      starts: offsetOf('starts'),
      columns: offsetOf('rows'),
      scores: offsetOf('scores'),
    };
    this.#top = {
      ...{ sums, bits },
      rows: rowCount,
      allowedBits: this.#allowed.byteOffset,
      outRows: this.#outRows.byteOffset,
      outScores: rowOffset(layout, 'outScores', slot),
    };
  }

  /**
   * Sums what each of the items has of each row in the table, times its weight, in the order of the items; nothing for an
   * item that the table does not have, and nothing for those that there are no weights for. What was summed before is gone.
   * @param weights at most `SUMMED_ROWS_MAX`
   */
  sumUp(itemRows: readonly number[], weights: Float64Array): void {
    const count = Math.min(itemRows.length, weights.length);
    const items = this.#items;
    for (let at = 0; at < count; at++) items[at] = itemRows[at]!;
    this.#weights.set(weights);
    this.#largest = this.#kernels.sumRows({ ...this.#sum, count });
  }

  /** The largest sum, 0 where none is above. */
  get largest(): number {
    return this.#largest;
  }

  /** 0 for a row without a sum. */
  get(row: number): number {
    return this.#sums[this.#placeOf(row)] ?? 0;
  }

  /** The sum of each of the rows. */
  copy(rows: ArrayLike<number>, out: Float64Array): void {
    const sums = this.#sums;
    for (let at = 0; at < rows.length; at++) out[at] = sums[this.#placeOf(rows[at]!)] ?? 0;
  }

  /** Where the sum of a row is; elsewhere for a row without. */
  #placeOf(row: number): number {
    const keys = this.#keys;
    if (keys.length === 0) return row;
    const last = keys.length - 1;
    let place = firstPlaceOf(row, this.#sum.bits);
    while (keys[place] !== row + 1 && keys[place] !== 0) place = (place + 1) & last;
    return keys[place] === 0 ? -1 : place;
  }

  /**
   * The `k` rows with the largest sums above 0 that pass, in no order; of equal ones the lower rows.
   * @param k at most what the table was placed for
   * @param read rows that are left out
   * @param allowed bits of the rows that are looked at, a row past them is not; every row when absent
   * @param accept refuses those left out, too, and few others
   */
  topRows(
    k: number,
    { read = [], allowed }: { readonly read?: readonly number[]; readonly allowed?: Uint32Array | undefined },
    accept: (row: number) => boolean,
  ): Uint32Array {
    const wanted = Math.min(k, this.#sum.rows);
    if (wanted > this.#outRows.length) throw new RangeError(`${k} rows; at most ${this.#outRows.length}`);
    if (wanted < 1) return new Uint32Array(0);
    const bits = this.#allow(read, allowed);
    for (let refused = 0; ; ) {
      const count = this.#kernels.topSums({ ...this.#top, k: wanted });
      const found = this.#outRows.slice(0, count);
      const before = refused;
      for (const row of found) {
        if (accept(row)) continue;
        clearBit(bits, row);
        refused++;
      }
      if (refused === before) return found;
      if (refused > wanted) this.#refuse(bits, accept);
    }
  }

  /** Sets the bits of the rows that are looked at. */
  #allow(read: readonly number[], allowed: Uint32Array | undefined): Uint32Array {
    const bits = this.#allowed;
    if (allowed === undefined) bits.fill(0xffffffff);
    else {
      bits.set(allowed.length > bits.length ? allowed.subarray(0, bits.length) : allowed);
      bits.fill(0, allowed.length);
    }
    for (let at = 0; at < read.length; at++) clearBit(bits, read[at]!);
    return bits;
  }

  /** Clears the bits of all rows with sums that do not pass. */
  #refuse(bits: Uint32Array, accept: (row: number) => boolean): void {
    const [sums, keys] = [this.#sums, this.#keys];
    for (let place = 0; place < sums.length; place++) {
      if (!(sums[place]! > 0)) continue;
      const row = keys.length === 0 ? place : keys[place]! - 1;
      if (hasBit(bits, row) && !accept(row)) clearBit(bits, row);
    }
  }
}
