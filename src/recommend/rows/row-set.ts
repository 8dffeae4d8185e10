import { grown } from '../../memory/growing-u32.ts';

/**
 * A set of rows that is emptied in constant time: a row is in it when its stamp equals the current round.
 * Made once and used for every request, so a request allocates nothing (4 bytes a row).
 */
export class RowSet {
  private stamps = new Uint32Array(1024);
  private round = 1;

  clear(): void {
    if (++this.round > 0xffffffff) {
      this.stamps.fill(0);
      this.round = 1;
    }
  }

  add(row: number): void {
    if (row >= this.stamps.length) {
      this.stamps = grown(this.stamps, row + 1);
    }
    this.stamps[row] = this.round;
  }

  has(row: number): boolean {
    return this.stamps[row] === this.round;
  }
}
