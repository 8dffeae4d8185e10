import { grown } from '../memory/grow.ts';
import { RowSet } from './row-set.ts';

/** A sum for each of some rows; emptied in constant time, made once and used for every request (12 bytes a row). */
export class RowSums {
  /** The rows that have a sum, in the order in which they came. */
  readonly rows: number[] = [];
  private readonly known = new RowSet();
  private sums = new Float64Array(1024);

  clear(): void {
    this.rows.length = 0;
    this.known.clear();
  }

  add(row: number, value: number): void {
    if (this.known.has(row)) {
      this.sums[row]! += value;
      return;
    }
    if (row >= this.sums.length) {
      this.sums = grown(this.sums, row + 1);
    }
    this.known.add(row);
    this.rows.push(row);
    this.sums[row] = value;
  }

  /** 0 for a row without a sum. */
  get(row: number): number {
    return this.known.has(row) ? this.sums[row]! : 0;
  }
}
