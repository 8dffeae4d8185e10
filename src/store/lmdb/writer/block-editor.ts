import { grown } from '../../../memory/growing-u32.ts';
import { pairKey, readRow, writePair } from '../format/record-layout.ts';
import { lastKey, readWords, type Table } from '../tables/engine.ts';

/**
 * Edits the packed, sorted records of one row, block by block. A row's records form a chain: each block's first word
 * names the lowest sub-key of the next one (0 at the end). The first block stands at sub-key 0 whether it holds records
 * or not. A block holds the records from its own sub-key up to the next block's. So one read finds what
 * most rows have, and records of one sub-key always share a block.
 *
 * Use: `open(row)`, then for ascending sub-keys `seek(subKey)`, look at `words` between `from` and `to`, and either
 * `keep()` those or `drop()` them, then `emit` new ones; at the end `close()`.
 */
export class BlockEditor {
  /** Records of the block as they are stored. */
  words = new Uint32Array(1024);
  /** The records found by `seek`, in words. */
  from = 0;
  to = 0;
  private readonly table: Table;
  private readonly width: number;
  private readonly recordsMax: number;
  private readonly key = new Uint8Array(8);
  private out = new Uint32Array(1024);
  private outLength = 1;
  /** Number of `words` in the block at hand. */
  storedWords = 0;
  private row = 0;
  private low = 0;
  private next = 0;
  private exists = false;
  private dirty = false;
  private appended = false;

  /** @param width words of a record, the first of which is its sub-key */
  constructor(table: Table, width: number, recordsMax: number) {
    this.table = table;
    this.width = width;
    this.recordsMax = recordsMax;
  }

  open(row: number): void {
    this.row = row;
    this.load(0);
  }

  /** Goes forward to the records of `subKey`, which are then between `from` and `to`. */
  seek(subKey: number): void {
    if (this.next !== 0 && subKey >= this.next) {
      this.finishBlock();
      this.load(this.findBlock(subKey));
    }
    const { words, width, storedWords: length } = this;
    let end = this.to;
    while (end < length && words[end]! < subKey) end += width;
    this.copy(this.to, end);
    this.from = end;
    while (end < length && words[end]! === subKey) end += width;
    this.to = end;
  }

  /** Leaves the records found as they are. */
  keep(): void {
    this.copy(this.from, this.to);
    this.from = this.to;
  }

  /** Takes the records found out. */
  drop(): void {
    if (this.from !== this.to) this.dirty = true;
    this.from = this.to;
  }

  /** Adds a record after those kept or dropped; a record of one word has no use for the others. */
  emit(first: number, second = 0, third = 0): void {
    this.reserve(this.width);
    this.out[this.outLength] = first;
    if (this.width > 1) {
      this.out[this.outLength + 1] = second;
      this.out[this.outLength + 2] = third;
    }
    this.outLength += this.width;
    this.dirty = true;
    this.appended = this.to === this.storedWords && this.next === 0;
  }

  close(): void {
    this.finishBlock();
  }

  private load(low: number): void {
    this.low = low;
    const stored = readWords(this.table, writePair(this.key, this.row, low));
    this.exists = stored.length > 0;
    this.next = this.exists ? stored[0]! : 0;
    this.storedWords = Math.max(0, stored.length - 1);
    if (this.words.length < this.storedWords) this.words = new Uint32Array(this.storedWords * 2);
    if (this.exists) this.words.set(stored.subarray(1));
    this.from = this.to = 0;
    this.outLength = 1;
    this.dirty = this.appended = false;
  }

  private findBlock(subKey: number): number {
    const key = lastKey(this.table, pairKey(this.row, subKey));
    return key === undefined ? 0 : readRow(key, 4);
  }

  private finishBlock(): void {
    if (!this.dirty) return;
    this.copy(this.to, this.storedWords);
    const records = (this.outLength - 1) / this.width;
    if (records === 0) this.removeBlock();
    else if (records <= this.recordsMax) this.put(this.low, this.next, 1, this.outLength);
    else this.split(records);
  }

  /** Cuts the block where a sub-key ends: full blocks where records are appended, equal ones elsewhere. */
  private split(records: number): void {
    const pieces = Math.ceil(records / this.recordsMax);
    const target = (this.appended ? this.recordsMax : Math.ceil(records / pieces)) * this.width;
    let low = this.low;
    let from = 1;
    while (from < this.outLength) {
      let to = Math.min(from + target, this.outLength);
      while (to < this.outLength && this.out[to] === this.out[to - this.width]) to += this.width;
      const next = to < this.outLength ? this.out[to]! : this.next;
      this.put(low, next, from, to);
      low = next;
      from = to;
    }
  }

  private removeBlock(): void {
    if (this.low === 0) {
      if (this.next !== 0) this.put(0, this.next, 1, 1);
      else if (this.exists) this.table.remove(pairKey(this.row, 0));
      return;
    }
    const before = this.findBlock(this.low - 1);
    const words = readWords(this.table, pairKey(this.row, before)).slice();
    words[0] = this.next;
    this.table.put(pairKey(this.row, before), new Uint8Array(words.buffer));
    this.table.remove(pairKey(this.row, this.low));
  }

  /** Stores `out` between the positions; the word before `from` is spent already and takes the header. */
  private put(low: number, next: number, from: number, to: number): void {
    this.out[from - 1] = next;
    const bytes = new Uint8Array(this.out.buffer, (from - 1) * 4, (to - from + 1) * 4);
    this.table.put(writePair(this.key, this.row, low), bytes);
  }

  private copy(from: number, to: number): void {
    if (from === to) return;
    this.reserve(to - from);
    if (to - from <= 12) {
      for (let i = from; i < to; i++) this.out[this.outLength++] = this.words[i]!;
      return;
    }
    this.out.set(this.words.subarray(from, to), this.outLength);
    this.outLength += to - from;
  }

  private reserve(more: number): void {
    if (this.outLength + more > this.out.length) this.out = grown(this.out, (this.outLength + more) * 2);
  }
}
