import { grown } from '../../memory/growing-arrays.ts';
import { TopK } from '../../memory/top-k.ts';
import type { Ranked } from '../ranked.ts';

/** Every item's most similar items as columns: those of row r are the entries starts[r] to starts[r + 1] - 1, best first. */
export interface NeighborColumns {
  readonly starts: Uint32Array;
  readonly rows: Uint32Array;
  readonly scores: Float32Array;
}

/** Rows of a block, as a power of 2: what a sum in an untouched one costs is nothing. */
const BLOCK_BITS = 5;
const BLOCK = 1 << BLOCK_BITS;
/** Rows of a table that are fetched together, and entries of one line of the cache. */
const FETCHED_ROWS = 32;
const LINE_ENTRIES = 16;

/** Steps of a thirty-second or less, by upper words, in which sums are counted down from the largest: eight times by half. */
const STEPS = 256;
const STEP_BITS = 15;

/** The upper words of float64 numbers not below 0 are in the order of the numbers; this is to tell that of one number. */
const number = new Float64Array(1);
const words = new Int32Array(number.buffer);
/** The upper one of the two words; the store refuses big-endian machines. */
const UPPER = 1;

/** The upper word of a number. */
function upperWord(value: number): number {
  number[0] = value;
  return words[UPPER]!;
}

/** The least number not below 0 with this upper word. */
function numberWith(word: number): number {
  number[0] = 0;
  words[UPPER] = word;
  return number[0]!;
}

/**
 * A sum for each of some rows, dense: adding to one is a load, an addition and a store without a branch, which is what
 * most of a list is made of. Blocks of rows that nothing was added to are passed over, so that clearing and searching
 * cost what was added, not what there is. Made once and used for every request; 9 bytes a row.
 */
export class RowSums {
  /** By row; 0 where nothing was added. */
  private sums = new Float64Array(0);
  /** The same memory as words: whole numbers compare without a branch that cannot be foretold. */
  private words = new Int32Array(0);
  /** By block: 1 where something was added. */
  private touched = new Uint8Array(0);
  /** By block that was touched, once all is added: the upper word of its largest sum, 0 where none is above 0. */
  private peaks = new Int32Array(0);
  private arePeaksKnown = false;
  /** Keeps what is only read to be fetched from being optimized away. */
  fetched = 0;

  clear(): void {
    const { sums, touched } = this;
    this.arePeaksKnown = false;
    for (let block = touched.indexOf(1); block >= 0; block = touched.indexOf(1, block)) {
      const from = block;
      while (touched[block] === 1) touched[block++] = 0;
      sums.fill(0, from << BLOCK_BITS, block << BLOCK_BITS);
    }
  }

  /**
   * Adds what each of the items has of each row in a table, times its weight, in the order of the items; nothing for an
   * item that the table does not have, and nothing for those that there are no weights for.
   */
  addRows(table: NeighborColumns, itemRows: ArrayLike<number>, weights: ArrayLike<number>): void {
    this.reserve(table.starts.length - 1);
    this.arePeaksKnown = false;
    const count = Math.min(itemRows.length, weights.length);
    for (let at = 0; at < count; at++) {
      if (at % FETCHED_ROWS === 0) this.fetch(table, itemRows, at, Math.min(count, at + FETCHED_ROWS));
      this.addRow(table, itemRows[at]!, weights[at]!);
    }
  }

  private addRow({ starts, rows, scores }: NeighborColumns, itemRow: number, weight: number): void {
    if (itemRow + 1 >= starts.length) return;
    const { sums, touched } = this;
    const end = starts[itemRow + 1]!;
    let at = starts[itemRow]!;
    // Two by two, so that what one waits for is not what the other does.
    for (; at + 1 < end; at += 2) {
      const row = rows[at]!;
      const next = rows[at + 1]!;
      const value = weight * scores[at]!;
      const nextValue = weight * scores[at + 1]!;
      touched[row >>> BLOCK_BITS] = 1;
      touched[next >>> BLOCK_BITS] = 1;
      sums[row]! += value;
      sums[next]! += nextValue;
    }
    if (at < end) {
      touched[rows[at]! >>> BLOCK_BITS] = 1;
      sums[rows[at]!]! += weight * scores[at]!;
    }
  }

  /**
   * Reads one entry of each line of the cache that will be needed, one right after the other, so that the memory is waited
   * for once and not for each row of the table: they lie anywhere in it.
   */
  private fetch(
    { starts, rows, scores }: NeighborColumns,
    itemRows: ArrayLike<number>,
    from: number,
    to: number,
  ): void {
    let sum = 0;
    for (let at = from; at < to; at++) {
      const itemRow = itemRows[at]!;
      if (itemRow + 1 >= starts.length) continue;
      const end = starts[itemRow + 1]!;
      for (let entry = starts[itemRow]!; entry < end; entry += LINE_ENTRIES) sum ^= rows[entry]!;
      for (let entry = starts[itemRow]!; entry < end; entry += LINE_ENTRIES) if (scores[entry]! > 0) sum ^= 1;
    }
    this.fetched = sum;
  }

  /** 0 for a row without a sum. */
  get(row: number): number {
    return this.sums[row] ?? 0;
  }

  /** The sum of each of the rows. */
  copy(rows: ArrayLike<number>, out: Float64Array): void {
    const { sums } = this;
    for (let at = 0; at < rows.length; at++) out[at] = sums[rows[at]!] ?? 0;
  }

  /** The largest sum, 0 where none is above. */
  largest(): number {
    this.findPeaks();
    const { sums, touched, peaks } = this;
    let largest = 0;
    let least = 1;
    for (let block = 0; block < touched.length; block++) {
      if (touched[block] === 0 || peaks[block]! < least) continue;
      const from = block << BLOCK_BITS;
      for (let row = from; row < from + BLOCK; row++) if (sums[row]! > largest) largest = sums[row]!;
      least = upperWord(largest);
    }
    return largest;
  }

  /** The `k` rows with the largest sums above 0 that pass, best first. */
  top(k: number, accept: (row: number) => boolean): Ranked {
    return this.best(k, accept).sorted();
  }

  /** The same rows in no order, which saves sorting them. */
  topRows(k: number, accept: (row: number) => boolean): Uint32Array {
    return this.best(k, accept).rows();
  }

  private best(k: number, accept: (row: number) => boolean): TopK {
    this.findPeaks();
    const bound = this.boundOf(k);
    const top = this.bestAbove(bound, k, accept);
    // Where most of the highest are refused, there may be others below.
    return bound > 0 && top.scoreMin === Number.NEGATIVE_INFINITY ? this.bestAbove(0, k, accept) : top;
  }

  /** @param leastWord sums with a lower upper word are not looked at */
  private bestAbove(leastWord: number, k: number, accept: (row: number) => boolean): TopK {
    const { sums, touched, peaks } = this;
    const top = new TopK(k);
    let least = numberWith(leastWord);
    let blockLeast = leastWord;
    for (let block = 0; block < touched.length; block++) {
      if (touched[block] === 0 || peaks[block]! < blockLeast) continue;
      const from = block << BLOCK_BITS;
      for (let row = from; row < from + BLOCK; row++) {
        const sum = sums[row]!;
        if (sum < least || sum <= 0 || !top.takes(row, sum) || !accept(row)) continue;
        top.push(row, sum);
        if (top.scoreMin > least) least = top.scoreMin;
      }
      blockLeast = upperWord(least);
    }
    return top;
  }

  /** An upper word that the largest sums of at least `k` blocks have or exceed, and few more; 0 where there are not so many. */
  private boundOf(k: number): number {
    const { touched, peaks } = this;
    let most = 0;
    for (let block = 0; block < touched.length; block++)
      if (touched[block] !== 0 && peaks[block]! > most) most = peaks[block]!;
    const steps = new Uint32Array(STEPS);
    for (let block = 0; block < touched.length; block++) {
      if (touched[block] === 0) continue;
      const step = (most - peaks[block]!) >>> STEP_BITS;
      if (step < STEPS) steps[step]!++;
    }
    for (let step = 0, blocks = 0; step < STEPS; step++) {
      blocks += steps[step]!;
      if (blocks >= k) return Math.max(0, most - ((step + 1) << STEP_BITS) + 1);
    }
    return 0;
  }

  /** Looks at upper words, four by four, without a branch. */
  private findPeaks(): void {
    if (this.arePeaksKnown) return;
    this.arePeaksKnown = true;
    const { words, touched, peaks } = this;
    for (let block = 0; block < touched.length; block++) {
      if (touched[block] === 0) continue;
      const from = (block << (BLOCK_BITS + 1)) + UPPER;
      let first = 0;
      let second = 0;
      let third = 0;
      let fourth = 0;
      for (let at = from; at < from + 2 * BLOCK; at += 8) {
        first = larger(first, words[at]!);
        second = larger(second, words[at + 2]!);
        third = larger(third, words[at + 4]!);
        fourth = larger(fourth, words[at + 6]!);
      }
      peaks[block] = larger(larger(first, second), larger(third, fourth));
    }
  }

  private reserve(rowCount: number): void {
    if (rowCount <= this.sums.length) return;
    const blocks = (rowCount + BLOCK - 1) >>> BLOCK_BITS;
    this.touched = grown(this.touched, blocks);
    this.peaks = new Int32Array(this.touched.length);
    this.sums = grown(this.sums, this.touched.length << BLOCK_BITS);
    this.words = new Int32Array(this.sums.buffer);
  }
}

/** The larger of two whole numbers of 32 bits, of which the first is not below 0, and neither is the answer. */
function larger(some: number, other: number): number {
  const difference = some - (other & ~(other >> 31));
  return some - (difference & (difference >> 31));
}
