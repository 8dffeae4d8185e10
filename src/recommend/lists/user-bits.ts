/** A set of user rows: one bit a user. */
export class UserBits {
  private words = new Uint32Array(1024);

  add(row: number): void {
    const word = row >>> 5;
    if (word >= this.words.length) {
      const grown = new Uint32Array(Math.max(word + 1, this.words.length * 2));
      grown.set(this.words);
      this.words = grown;
    }
    this.words[word] = this.words[word]! | (1 << (row & 31));
  }

  delete(row: number): void {
    const word = row >>> 5;
    if (word < this.words.length) this.words[word] = this.words[word]! & ~(1 << (row & 31));
  }

  has(row: number): boolean {
    return (((this.words[row >>> 5] ?? 0) >>> (row & 31)) & 1) === 1;
  }

  /** How many there are: a look at every word. */
  get count(): number {
    let count = 0;
    for (const word of this.words) {
      // The usual sum of bits within a word (Warren, Hacker's Delight, section 5-1).
      let bits = word - ((word >>> 1) & 0x55555555);
      bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
      count += Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
    }
    return count;
  }

  /** The bits up to the last that is set, for `restore`. */
  get bytes(): Uint8Array {
    let { length } = this.words;
    while (length > 0 && this.words[length - 1] === 0) length--;
    return new Uint8Array(this.words.buffer.slice(0, length * 4));
  }

  /** Takes the place of what is in it. */
  restore(bytes: Uint8Array): void {
    this.words = new Uint32Array(Math.max(1024, Math.ceil(bytes.length / 4)));
    new Uint8Array(this.words.buffer).set(bytes);
  }
}
