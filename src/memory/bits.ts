/** Bits by row: row i is bit i & 31 of word i >>> 5. Rows beyond the words are not set. */
export function hasBit(words: Uint32Array, row: number): boolean {
  return (((words[row >>> 5] ?? 0) >>> (row & 31)) & 1) === 1;
}

/** Sets a row's bit; the words must reach so far. */
export function setBit(words: Uint32Array, row: number): void {
  words[row >>> 5] = words[row >>> 5]! | (1 << (row & 31));
}

/** Takes a row's bit out; a row beyond the words has none. */
export function clearBit(words: Uint32Array, row: number): void {
  if (row >>> 5 < words.length) words[row >>> 5]! &= ~(1 << (row & 31));
}

export function countBits(words: Uint32Array): number {
  let count = 0;
  for (const word of words) {
    const pairs = word - ((word >>> 1) & 0x55555555);
    const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
    count += Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }
  return count;
}

/** Words that the bits of so many rows take. */
export function bitWords(rowCount: number): number {
  return Math.ceil(rowCount / 32);
}
