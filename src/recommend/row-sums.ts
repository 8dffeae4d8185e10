import { grown } from '../memory/grow.ts';
import { TopK } from '../memory/top-k.ts';
import type { Ranked } from './ranked.ts';

/**
 * A sum for each of some rows; emptied in constant time, made once and used for every request (16 bytes a row and no
 * more: nothing is allocated as it is used).
 */
export class RowSums {
  /** By row; valid where `stamps` has the present round. */
  private sums = new Float64Array(1024);
  private stamps = new Uint32Array(1024);
  private round = 1;
  /** The rows that have a sum, in the order in which they came. */
  private order = new Uint32Array(1024);
  private length = 0;

  clear(): void {
    this.length = 0;
    if (++this.round <= 0xffffffff) return;
    this.stamps.fill(0);
    this.round = 1;
  }

  /** Adds to the sums of some rows what each of them has here, times `weight`. */
  addAll(rows: Uint32Array, values: Float32Array, weight: number): void {
    // Of its own, all of this loop stays in registers: it is most of what a list costs.
    const { sums, stamps, order, round } = this;
    let { length } = this;
    let at = 0;
    for (; at < rows.length; at++) {
      const row = rows[at]!;
      if (row >= stamps.length) break;
      const value = weight * values[at]!;
      if (stamps[row] === round) sums[row] = sums[row]! + value;
      else {
        stamps[row] = round;
        sums[row] = value;
        order[length++] = row;
      }
    }
    this.length = length;
    if (at === rows.length) return;
    this.reserve(rows[at]!);
    this.addAll(rows.subarray(at), values.subarray(at), weight);
  }

  /** 0 for a row without a sum. */
  get(row: number): number {
    return this.stamps[row] === this.round ? this.sums[row]! : 0;
  }

  /** The largest sum, 0 where none is above. */
  largest(): number {
    const { order, sums, length } = this;
    let largest = 0;
    for (let at = 0; at < length; at++) {
      const sum = sums[order[at]!]!;
      if (sum > largest) largest = sum;
    }
    return largest;
  }

  /** The `k` rows with the largest sums above 0 that pass, best first. */
  top(k: number, accept: (row: number) => boolean): Ranked {
    const { order, sums, length } = this;
    const top = new TopK(k);
    let least = 0;
    for (let at = 0; at < length; at++) {
      const row = order[at]!;
      const sum = sums[row]!;
      if (sum < least || sum <= 0 || !top.takes(row, sum) || !accept(row)) continue;
      top.push(row, sum);
      least = top.scoreMin;
    }
    return top.sorted();
  }

  private reserve(row: number): void {
    const length = row + 1;
    this.sums = grown(this.sums, length);
    this.stamps = grown(this.stamps, length);
    this.order = grown(this.order, length);
  }
}
