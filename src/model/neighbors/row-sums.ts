/**
 * A table of items placed in shared memory to be summed over what a user likes: the table, and for each thread and kind of
 * sum a number for every item. The memory and its layout are made once; each thread sums by kernels of its own in a slot
 * of its own.
 */
import type { Kernels, SumRows, TopSums } from '../../kernel/kernels.ts';
import { bitsBytes, rowSumsBytes } from '../../kernel/scratch.ts';
import { clearBit, hasBit } from '../../memory/bits.ts';
import {
  type ArrayPlan,
  arrayOf,
  layOut,
  type MemoryLayout,
  plannedBytes,
  viewOf,
} from '../../memory/layout.ts';
import type { AllocateMemory } from '../../memory/reuse.ts';
import { createSharedMemory, f64, u32 } from '../../memory/shared-memory.ts';
import type { ServingShape } from '../learned-part.ts';
import { draftBytes, type NeighborTable, tableModelsBytes } from './neighbor-table.ts';

/** The most rows that are summed at once: each speaks for some hundred items. */
export const SUMMED_ROWS_MAX = 200;

/** A table with room to sum it. Its arrays lie in the memory. */
export interface PlacedSums extends NeighborTable {
  readonly memory: WebAssembly.Memory;
  readonly layout: MemoryLayout;
  readonly slots: number;
  /** Kinds of sums that a thread may hold at once. */
  readonly kinds: number;
}

interface SumsShape extends ServingShape {
  readonly rowCount: number;
  readonly entries: number;
  readonly kinds: number;
}

function arrayPlans({ rowCount, entries, kinds, slots, listLengthMax }: SumsShape): ArrayPlan[] {
  const k = Math.min(listLengthMax, rowCount);
  return [
    ['starts', 'u32', [rowCount + 1]],
    ['rows', 'u32', [entries]],
    ['scores', 'f32', [entries]],
    ['sums', 'f64', [slots * kinds, rowSumsBytes(rowCount) / 8]],
    ['weights', 'f64', [slots, SUMMED_ROWS_MAX]],
    ['outScores', 'f64', [slots, k]],
    ['outRows', 'u32', [slots, k]],
    ['items', 'u32', [slots, SUMMED_ROWS_MAX]],
    ['allowed', 'u32', [slots, bitsBytes(rowCount) / 4]],
  ];
}

/**
 * Bytes of a placed table of items, of the one that it replaces, of the table that it is placed from, and of a copy to be
 * saved.
 * @param learnedItems of which the table has up to `entriesARow` entries each
 * @param rowCount items that it can be asked about
 * @param threads that train; the main thread and lists that are made again aside have slots of their own
 */
export function placedSumsBytes(
  { learnedItems, entriesARow, rowCount }: Record<'learnedItems' | 'entriesARow' | 'rowCount', number>,
  threads: number,
  listLengthMax: number,
  kinds = 1,
): number {
  const room = plannedBytes(arrayPlans({ rowCount, entries: 0, kinds, slots: threads + 2, listLengthMax }));
  return (
    tableModelsBytes(learnedItems, entriesARow) +
    draftBytes(learnedItems, entriesARow) +
    4 * rowCount +
    2 * room
  );
}

/**
 * Places a table in a new shared memory.
 * @param kinds of sums that a thread may hold at once
 * @throws RangeError where it does not fit in one memory
 */
export function placeSums(
  table: NeighborTable,
  { slots, listLengthMax }: ServingShape,
  kinds = 1,
  allocate: AllocateMemory = createSharedMemory,
): PlacedSums {
  const { rowCount, fingerprint, recall } = table;
  const entries = table.rows.length;
  const plans = arrayPlans({ rowCount, entries, kinds, slots, listLengthMax });
  const memory = allocate(plannedBytes(plans));
  const layout = layOut(memory, plans);
  const starts = viewOf(memory, layout, 'starts', 'u32');
  const rows = viewOf(memory, layout, 'rows', 'u32');
  const scores = viewOf(memory, layout, 'scores', 'f32');
  starts.set(table.starts);
  rows.set(table.rows);
  scores.set(table.scores);
  return { rowCount, fingerprint, recall, starts, rows, scores, memory, layout, slots, kinds };
}

/** One thread's sums of one kind over a placed table: of one user after the other. */
export class RowSums {
  readonly #kernels: Kernels;
  readonly #sum: Omit<SumRows, 'count'>;
  readonly #top: Omit<TopSums, 'k'>;
  readonly #items: Uint32Array;
  readonly #weights: Float64Array;
  readonly #sums: Float64Array;
  readonly #allowed: Uint32Array;
  readonly #outRows: Uint32Array;
  #largest = 0;

  /**
   * @param kind 0 to `placed.kinds` - 1
   * @param slot this thread's number, below `placed.slots`; no two threads share one
   */
  constructor(placed: PlacedSums, kernels: Kernels, slot: number, kind: number) {
    const { slots, kinds, rowCount, memory, layout } = placed;
    if (!(slot >= 0 && slot < slots && kind >= 0 && kind < kinds))
      throw new RangeError(`slot ${slot} of ${slots}, kind ${kind} of ${kinds}`);
    this.#kernels = kernels;
    const offsetOf = (name: string) => arrayOf(layout, name).offset;
    const ofSlot = (name: string, bytes: number) => {
      const length = arrayOf(layout, name).shape[1]!;
      return [offsetOf(name) + slot * length * bytes, length] as const;
    };
    const sums = offsetOf('sums') + (slot * kinds + kind) * rowSumsBytes(rowCount);
    const [items, allowed, outRows] = [ofSlot('items', 4), ofSlot('allowed', 4), ofSlot('outRows', 4)];
    const weights = ofSlot('weights', 8);
    this.#sum = {
      ...{ sums, rows: rowCount, items: items[0], weights: weights[0] },
      starts: offsetOf('starts'),
      columns: offsetOf('rows'),
      scores: offsetOf('scores'),
    };
    const [outScores] = ofSlot('outScores', 8);
    this.#top = { sums, rows: rowCount, allowedBits: allowed[0], outRows: outRows[0], outScores };
    this.#items = u32(memory, ...items);
    this.#weights = f64(memory, ...weights);
    this.#sums = f64(memory, sums, rowCount);
    this.#allowed = u32(memory, ...allowed);
    this.#outRows = u32(memory, ...outRows);
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
    return this.#sums[row] ?? 0;
  }

  /** The sum of each of the rows. */
  copy(rows: ArrayLike<number>, out: Float64Array): void {
    const sums = this.#sums;
    for (let at = 0; at < rows.length; at++) out[at] = sums[rows[at]!] ?? 0;
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
    const wanted = Math.min(k, this.#sums.length);
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
    const sums = this.#sums;
    for (let row = 0; row < sums.length; row++)
      if (sums[row]! > 0 && hasBit(bits, row) && !accept(row)) clearBit(bits, row);
  }
}
