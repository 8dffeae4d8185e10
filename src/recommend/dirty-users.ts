/** Rows of users whose list is behind their feedback: one bit a user. */
export class DirtyUsers {
  private bits = new Uint32Array(1024);

  set(row: number, dirty: boolean): void {
    const word = row >>> 5;
    if (word >= this.bits.length) {
      if (!dirty) return;
      const grown = new Uint32Array(Math.max(word + 1, this.bits.length * 2));
      grown.set(this.bits);
      this.bits = grown;
    }
    const mask = 1 << (row & 31);
    this.bits[word] = dirty ? this.bits[word]! | mask : this.bits[word]! & ~mask;
  }

  has(row: number): boolean {
    return (((this.bits[row >>> 5] ?? 0) >>> (row & 31)) & 1) === 1;
  }

  /** Adds all rows of `other` and empties it. */
  absorb(other: DirtyUsers): void {
    other.bits.forEach((word, at) => {
      for (let rest = word; rest !== 0; rest &= rest - 1)
        this.set(at * 32 + 31 - Math.clz32(rest & -rest), true);
    });
    other.clear();
  }

  /** The bits up to the last that is set, for `restore`. */
  get bytes(): Uint8Array {
    let words = this.bits.length;
    while (words > 0 && this.bits[words - 1] === 0) words--;
    return new Uint8Array(this.bits.buffer.slice(0, words * 4));
  }

  /** Takes the place of what is in it. */
  restore(bytes: Uint8Array): void {
    this.bits = new Uint32Array(Math.max(1024, Math.ceil(bytes.length / 4)));
    new Uint8Array(this.bits.buffer).set(bytes);
  }

  clear(): void {
    this.bits.fill(0);
  }
}
