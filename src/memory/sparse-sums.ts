import { grown } from './growing-u32.ts';
import type { Ranked } from './ranked-rows.ts';
import { TopK } from './top-k.ts';

const FIRST_ROWS = 1024;

/**
 * Sums by row, most of which are none. Emptied in constant time and used again, so that adding allocates nothing; takes 16
 * bytes for each row up to the highest.
 */
export class SparseSums {
  private sums = new Float64Array(FIRST_ROWS);
  /** The round in which a row was last added to. */
  private rounds = new Uint32Array(FIRST_ROWS);
  private round = 1;
  /** The rows that have a sum, in the order in which they came. */
  private rows = new Uint32Array(FIRST_ROWS);
  private count = 0;

  clear(): void {
    this.count = 0;
    if (++this.round <= 0xffffffff) return;
    this.rounds.fill(0);
    this.round = 1;
  }

  add(row: number, value: number): void {
    if (row >= this.sums.length) this.grow(row);
    if (this.rounds[row] === this.round) {
      this.sums[row]! += value;
      return;
    }
    this.rounds[row] = this.round;
    this.sums[row] = value;
    this.rows[this.count++] = row;
  }

  /** 0 for a row without a sum. */
  get(row: number): number {
    return this.rounds[row] === this.round ? this.sums[row]! : 0;
  }

  /** The largest sum, 0 where none is above. */
  largest(): number {
    let most = 0;
    for (let at = 0; at < this.count; at++) most = Math.max(most, this.sums[this.rows[at]!]!);
    return most;
  }

  /** The `k` largest sums of the rows that pass, largest first; only rows that would be among them are asked for. */
  best(k: number, accept: (row: number) => boolean): Ranked {
    const top = new TopK(k);
    for (let at = 0; at < this.count; at++) {
      const row = this.rows[at]!;
      const sum = this.sums[row]!;
      if (top.takes(row, sum) && accept(row)) top.push(row, sum);
    }
    return top.sorted();
  }

  private grow(row: number): void {
    this.sums = grown(this.sums, row + 1);
    this.rounds = grown(this.rounds, row + 1);
    this.rows = grown(this.rows, row + 1);
  }
}
