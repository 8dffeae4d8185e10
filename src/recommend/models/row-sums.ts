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

/**
 * A sum for each of some rows, dense: adding to one is a load, an addition and a store without a branch, which is what
 * most of a list is made of. Blocks of rows that nothing was added to are passed over, so that clearing and searching
 * cost what was added, not what there is. Made once and used for every request; 9 bytes a row.
 */
export class RowSums {
  /** By row; 0 where nothing was added. */
  private sums = new Float64Array(0);
  /** By block: 1 where something was added. */
  private touched = new Uint8Array(0);
  /** By block that was touched, once all is added: its largest sum. */
  private peaks = new Float64Array(0);
  private arePeaksKnown = false;

  clear(): void {
    const { sums, touched } = this;
    this.arePeaksKnown = false;
    for (let block = 0; block < touched.length; block++) {
      if (touched[block] === 0) continue;
      const from = block << BLOCK_BITS;
      // Of so few numbers a loop is done before a call would have begun.
      for (let row = from; row < from + BLOCK; row++) sums[row] = 0;
      touched[block] = 0;
    }
  }

  /** Adds what the item at `itemRow` has of each row in a table, times `weight`; nothing for an item that it does not have. */
  addRow(table: NeighborColumns, itemRow: number, weight: number): void {
    const { starts, rows, scores } = table;
    if (itemRow + 1 >= starts.length) return;
    this.reserve(starts.length - 1);
    const { sums, touched } = this;
    const end = starts[itemRow + 1]!;
    this.arePeaksKnown = false;
    for (let at = starts[itemRow]!; at < end; at++) {
      const row = rows[at]!;
      touched[row >>> BLOCK_BITS] = 1;
      sums[row]! += weight * scores[at]!;
    }
  }

  /** 0 for a row without a sum. */
  get(row: number): number {
    return this.sums[row] ?? 0;
  }

  /** The largest sum, 0 where none is above. */
  largest(): number {
    this.findPeaks();
    const { touched, peaks } = this;
    let largest = 0;
    for (let block = 0; block < touched.length; block++) {
      if (touched[block] !== 0 && peaks[block]! > largest) largest = peaks[block]!;
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
    const { sums, touched, peaks } = this;
    const top = new TopK(k);
    let least = 0;
    for (let block = 0; block < touched.length; block++) {
      if (touched[block] === 0 || peaks[block]! <= 0 || peaks[block]! < least) continue;
      const from = block << BLOCK_BITS;
      for (let row = from; row < from + BLOCK; row++) {
        const sum = sums[row]!;
        if (sum < least || sum <= 0 || !top.takes(row, sum) || !accept(row)) continue;
        top.push(row, sum);
        least = top.scoreMin;
      }
    }
    return top;
  }

  private findPeaks(): void {
    if (this.arePeaksKnown) return;
    this.arePeaksKnown = true;
    const { sums, touched, peaks } = this;
    for (let block = 0; block < touched.length; block++) {
      if (touched[block] === 0) continue;
      const from = block << BLOCK_BITS;
      let peak = 0;
      for (let row = from; row < from + BLOCK; row++) if (sums[row]! > peak) peak = sums[row]!;
      peaks[block] = peak;
    }
  }

  private reserve(rowCount: number): void {
    if (rowCount <= this.sums.length) return;
    const blocks = (rowCount + BLOCK - 1) >>> BLOCK_BITS;
    this.touched = grown(this.touched, blocks);
    this.peaks = grown(this.peaks, this.touched.length);
    this.sums = grown(this.sums, this.touched.length << BLOCK_BITS);
  }
}
