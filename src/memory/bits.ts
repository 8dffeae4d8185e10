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

/** Words that the bits of so many rows take. */
export function bitWords(rowCount: number): number {
  return Math.ceil(rowCount / 32);
}
