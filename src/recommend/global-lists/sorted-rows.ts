import { grown } from '../../memory/growing-u32.ts';

/** Rows of one block; a full one is parted in two. */
const BLOCK_ROWS = 512;

interface Block {
  readonly rows: Uint32Array;
  length: number;
}

/**
 * Rows in the order of a number each has, highest first, of equal ones the lower row first. Kept in order by every
 * change, which moves at most a block of rows: there is nothing to be made anew. 8 bytes a row, and 4 to 8 in the order.
 */
export class SortedRows {
  /** By row; NaN for one that is not in the order. */
  private keys = new Float64Array(1024).fill(Number.NaN);
  private readonly blocks: Block[] = [];
  private count = 0;
  /** So many times was anything set. */
  private changes = 0;

  /** Rows in the order. */
  get size(): number {
    return this.count;
  }

  /** Gives the row its place, or takes it out with `NaN`. */
  set(row: number, key: number): void {
    this.reserve(row);
    const before = this.keys[row]!;
    if (before === key) return;
    this.changes++;
    if (!Number.isNaN(before)) this.remove(row, before);
    this.keys[row] = key;
    if (!Number.isNaN(key)) this.insert(row, key);
  }

  /** The row's number; NaN for one that is not in the order. */
  keyOf(row: number): number {
    return this.keys[row] ?? Number.NaN;
  }

  /** The rows in their order. What is set while a walk waits shows where it comes further down. */
  *[Symbol.iterator](): Generator<number, void> {
    let [number, at, changes] = [0, 0, this.changes];
    let [lastRow, lastKey] = [-1, Number.POSITIVE_INFINITY];
    for (;;) {
      if (changes !== this.changes) {
        changes = this.changes;
        number = this.blockOf(lastRow + 1, lastKey);
        const there = this.blocks[number];
        at = there === undefined ? 0 : this.placeIn(there, lastRow + 1, lastKey);
      }
      const block = this.blocks[number];
      if (block === undefined) return;
      if (at === block.length) {
        number++;
        at = 0;
        continue;
      }
      lastRow = block.rows[at++]!;
      lastKey = this.keys[lastRow]!;
      yield lastRow;
    }
  }

  private insert(row: number, key: number): void {
    this.count++;
    const { blocks } = this;
    if (blocks.length === 0) blocks.push({ rows: new Uint32Array(BLOCK_ROWS), length: 0 });
    let number = Math.min(this.blockOf(row, key), blocks.length - 1);
    let block = blocks[number]!;
    if (block.length === BLOCK_ROWS) {
      this.part(number);
      number = Math.min(this.blockOf(row, key), blocks.length - 1);
      block = blocks[number]!;
    }
    const at = this.placeIn(block, row, key);
    block.rows.copyWithin(at + 1, at, block.length++);
    block.rows[at] = row;
  }

  private remove(row: number, key: number): void {
    this.count--;
    const number = this.blockOf(row, key);
    const block = this.blocks[number]!;
    const at = this.placeIn(block, row, key);
    block.rows.copyWithin(at, at + 1, block.length--);
    if (block.length === 0) this.blocks.splice(number, 1);
  }

  private part(number: number): void {
    const { rows } = this.blocks[number]!;
    const half = BLOCK_ROWS / 2;
    const behind = { rows: new Uint32Array(BLOCK_ROWS), length: BLOCK_ROWS - half };
    behind.rows.set(rows.subarray(half));
    this.blocks[number]!.length = half;
    this.blocks.splice(number + 1, 0, behind);
  }

  /** The first block whose last row does not stand before this one; their number when there is none. */
  private blockOf(row: number, key: number): number {
    let from = 0;
    let to = this.blocks.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      const { rows, length } = this.blocks[middle]!;
      if (this.isBefore(rows[length - 1]!, row, key)) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  private placeIn({ rows, length }: Block, row: number, key: number): number {
    let from = 0;
    let to = length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (this.isBefore(rows[middle]!, row, key)) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  /** True when a row of the order stands before the row with this key. */
  private isBefore(placed: number, row: number, key: number): boolean {
    const placedKey = this.keys[placed]!;
    return placedKey > key || (placedKey === key && placed < row);
  }

  private reserve(row: number): void {
    if (row < this.keys.length) return;
    const { length } = this.keys;
    this.keys = grown(this.keys, row + 1).fill(Number.NaN, length);
  }
}
