import { grown } from '../../../memory/growing-u32.ts';
import { writePair } from '../format/record-layout.ts';
import { appendEntry, type Table } from '../tables/engine.ts';

/**
 * Writes whole chains of blocks (`BlockEditor` says what they are) behind all that a table has, without reading anything.
 *
 * Use: for ascending rows `open(row)`, then `emit` with sub-keys that do not descend; at the end `close()`. What is written in
 * one transaction may be gone on with in the next.
 */
export class BlockAppender {
  private readonly table: Table;
  private readonly width: number;
  private readonly wordsMax: number;
  private readonly key = new Uint8Array(8);
  private words: Uint32Array;
  private length = 1;
  private row = -1;
  /** The sub-key at which the block begins. */
  private low = 0;
  private readonly putEntry: (table: Table, key: Uint8Array, value: Uint8Array) => unknown;

  /**
   * @param width words of a record, 1 or 3, the first of which is its sub-key
   * @param putEntry how an entry is put: behind all others, unless rows come in no order
   */
  constructor(table: Table, width: 1 | 3, recordsMax: number, putEntry = appendEntry) {
    this.table = table;
    this.putEntry = putEntry;
    this.width = width;
    this.wordsMax = 1 + recordsMax * width;
    this.words = new Uint32Array(this.wordsMax + width);
  }

  /** Ends the chain of the row before and begins the next. */
  open(row: number): void {
    this.close();
    this.row = row;
    this.low = 0;
  }

  /** Adds a record; those of one sub-key may come in any order, and are sorted by their last word. */
  emit(subKey: number, second = 0, third = 0): void {
    const { width } = this;
    const isNext = this.length === 1 || this.words[this.length - width] !== subKey;
    if (this.length >= this.wordsMax && isNext) {
      this.put(subKey);
      this.low = subKey;
    }
    if (this.length + width > this.words.length) this.words = grown(this.words, this.length + width);
    const { words } = this;
    let at = this.length;
    this.length += width;
    if (width === 1) {
      words[at] = subKey;
      return;
    }
    if (!isNext) at = this.moveHigher(at, subKey, third);
    words[at] = subKey;
    words[at + 1] = second;
    words[at + 2] = third;
  }

  /** Ends the chain; one without records is not there. */
  close(): void {
    if (this.row >= 0 && this.length > 1) this.put(0);
    this.row = -1;
  }

  /** @returns where a record belongs among those of its sub-key at the end */
  private moveHigher(end: number, subKey: number, third: number): number {
    const { words } = this;
    let at = end;
    while (at > 1 && words[at - 3] === subKey && words[at - 1]! > third) {
      words.copyWithin(at, at - 3, at);
      at -= 3;
    }
    return at;
  }

  private put(next: number): void {
    const { words } = this;
    words[0] = next;
    this.putEntry(
      this.table,
      writePair(this.key, this.row, this.low),
      new Uint8Array(words.buffer, 0, this.length * 4),
    );
    this.length = 1;
  }
}
