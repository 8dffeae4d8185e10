import { clearBit, hasBit, setBit } from '../../memory/bits.ts';
import { grown } from '../../memory/growing-u32.ts';

/** A set of user rows: one bit a user. */
export class UserBits {
  private words = new Uint32Array(1024);
  /** Number of rows; undefined when they are to be counted. */
  private known: number | undefined = 0;

  add(row: number): void {
    this.reserve((row >>> 5) + 1);
    if (this.known !== undefined && !hasBit(this.words, row)) this.known++;
    setBit(this.words, row);
  }

  /** All rows below `row`. */
  addBelow(row: number): void {
    const word = row >>> 5;
    this.known = undefined;
    this.reserve(word + 1);
    this.words.fill(0xffffffff, 0, word);
    this.words[word] = this.words[word]! | ((1 << (row & 31)) - 1);
  }

  addAll({ words }: UserBits): void {
    this.known = undefined;
    this.reserve(words.length);
    for (let at = 0; at < words.length; at++) this.words[at] = this.words[at]! | words[at]!;
  }

  /** Takes out what the other holds. */
  subtract({ words }: UserBits): void {
    this.known = undefined;
    const length = Math.min(words.length, this.words.length);
    for (let at = 0; at < length; at++) this.words[at] = this.words[at]! & ~words[at]!;
  }

  clear(): void {
    this.known = 0;
    this.words.fill(0);
  }

  delete(row: number): void {
    if (this.known !== undefined && this.has(row)) this.known--;
    clearBit(this.words, row);
  }

  has(row: number): boolean {
    return hasBit(this.words, row);
  }

  /** Number of rows; a look at every word after many came or went at once. */
  get count(): number {
    this.known ??= this.countIn(0, this.words.length * 32);
    return this.known;
  }

  /** Number of rows in [from, to). */
  countIn(from: number, to: number): number {
    let count = 0;
    this.eachWord(from, to, (word) => {
      // The usual sum of bits within a word (Warren, Hacker's Delight, section 5-1).
      let bits = word - ((word >>> 1) & 0x55555555);
      bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
      count += Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
      return true;
    });
    return count;
  }

  /** The first `limit` rows in [from, to), ascending. */
  rowsIn(from: number, to: number, limit: number): Uint32Array {
    const rows = new Uint32Array(limit);
    let length = 0;
    this.eachWord(from, to, (word, firstRow) => {
      for (let bits = word; bits !== 0 && length < limit; bits = (bits & (bits - 1)) >>> 0)
        rows[length++] = firstRow + 31 - Math.clz32(bits & -bits);
      return length < limit;
    });
    return rows.slice(0, length);
  }

  /** Visits the words that hold any of [from, to), with other bits cleared, until `visit` returns false. */
  private eachWord(from: number, to: number, visit: (word: number, firstRow: number) => boolean): void {
    const last = Math.min(this.words.length, Math.ceil(to / 32));
    for (let at = from >>> 5; at < last; at++) {
      let word = this.words[at]!;
      if (word === 0) continue;
      const firstRow = at * 32;
      if (firstRow < from) word &= -1 << (from - firstRow);
      if (to - firstRow < 32) word &= (1 << (to - firstRow)) - 1;
      if (word !== 0 && !visit(word >>> 0, firstRow)) return;
    }
  }

  private reserve(length: number): void {
    if (length <= this.words.length) return;
    this.words = grown(this.words, length);
  }

  /** The bits up to the last that is set, for `restore`. */
  get bytes(): Uint8Array {
    let { length } = this.words;
    while (length > 0 && this.words[length - 1] === 0) length--;
    return new Uint8Array(this.words.buffer.slice(0, length * 4));
  }

  /** Takes the place of what is in it. */
  restore(bytes: Uint8Array): void {
    this.known = undefined;
    this.words = new Uint32Array(Math.max(1024, Math.ceil(bytes.length / 4)));
    new Uint8Array(this.words.buffer).set(bytes);
  }
}
