/**
 * The bytes of the data environment: keys, and the packed records of feedback. docs/storage.md has the whole picture.
 * Keys are big-endian, so that their byte order is their numbers' order; values are little-endian words.
 */

/**
 * Records of a block. The largest block with its header and node fills half of an LMDB page of 4096 bytes, which is
 * the largest value that does not get overflow pages of its own: (4080 / 2 - 2 bytes of slot - 8 of node - 8 of key
 * - 4 of header) / record.
 */
const BLOCK_BYTES_MAX = 4080 / 2 - 2 - 8 - 8 - 4;

/** Words of one feedback in a user's block: item row, low word of the time, type and high bits of the time. */
export const FEEDBACK_WORDS = 3;
export const FEEDBACK_BLOCK_RECORDS = Math.floor(BLOCK_BYTES_MAX / (FEEDBACK_WORDS * 4));
export const USER_BLOCK_RECORDS = Math.floor(BLOCK_BYTES_MAX / 4);

/** Feedback types are numbered in 12 bits. */
export const FEEDBACK_TYPES_MAX = 4096;
const TYPE_SHIFT = 20;
const TIME_HIGH_MASK = (1 << TYPE_SHIFT) - 1;
const WORD = 2 ** 32;
/** Times are 52 bits with this added, so that those before 1970 are positive too. */
const TIME_BIAS = 2 ** 51;

/** The low word of a time in milliseconds. */
export function packTimeLow(timeMs: number): number {
  return (timeMs + TIME_BIAS) >>> 0;
}

/** Type number and the high bits of a time in milliseconds. */
export function packTypeAndTime(type: number, timeMs: number): number {
  return ((type << TYPE_SHIFT) | Math.floor((timeMs + TIME_BIAS) / WORD)) >>> 0;
}

/** The same time with another type. */
export function retyped(high: number, type: number): number {
  return ((type << TYPE_SHIFT) | (high & TIME_HIGH_MASK)) >>> 0;
}

export function unpackType(high: number): number {
  return high >>> TYPE_SHIFT;
}

export function unpackTimeMs(low: number, high: number): number {
  return (high & TIME_HIGH_MASK) * WORD + low - TIME_BIAS;
}

/** A row as a key, in a buffer of its own. */
export function rowKey(row: number): Uint8Array {
  return writeRow(new Uint8Array(4), 0, row);
}

/** A pair of rows as a key, in a buffer of its own. */
export function pairKey(row: number, low: number): Uint8Array {
  return writePair(new Uint8Array(8), row, low);
}

/** (type, user row), the key of a user that has feedback of the type. */
export function typeUserKey(type: number, userRow: number): Uint8Array {
  const key = new Uint8Array(6);
  key[0] = type >>> 8;
  key[1] = type;
  return writeRow(key, 2, userRow);
}

/** (user row, item row, type), the key of a comment. */
export function tripleKey(userRow: number, itemRow: number, type: number): Uint8Array {
  return writeTriple(new Uint8Array(TRIPLE_BYTES), userRow, itemRow, type);
}

export const TRIPLE_BYTES = 10;

export function writeTriple(key: Uint8Array, userRow: number, itemRow: number, type: number): Uint8Array {
  writePair(key, userRow, itemRow);
  key[8] = type >>> 8;
  key[9] = type;
  return key;
}

export function writePair(key: Uint8Array, row: number, low: number): Uint8Array {
  writeRow(key, 0, row);
  return writeRow(key, 4, low);
}

export function writeRow(key: Uint8Array, at: number, row: number): Uint8Array {
  key[at] = row >>> 24;
  key[at + 1] = row >>> 16;
  key[at + 2] = row >>> 8;
  key[at + 3] = row;
  return key;
}

/** The number of a feedback type, two bytes of a key. */
export function readType(key: Uint8Array, at: number): number {
  return (key[at]! << 8) | key[at + 1]!;
}

export function readRow(key: Uint8Array, at: number): number {
  return ((key[at]! << 24) | (key[at + 1]! << 16) | (key[at + 2]! << 8) | key[at + 3]!) >>> 0;
}

/** LMDB's number of MDB_CORRUPTED. */
const CORRUPTED = -30_796;

/**
 * The sub-key of the block behind one in a chain of blocks, whose sub-keys rise; 0 at the end.
 * @throws Error with the code of LMDB's MDB_CORRUPTED when the chain leads back, which no reader would come to the end of
 */
export function nextBlock(low: number, next: number): number {
  if (next === 0 || next > low) return next;
  throw Object.assign(new Error('MDB_CORRUPTED: a block of feedback leads back in its chain'), {
    code: CORRUPTED,
  });
}
