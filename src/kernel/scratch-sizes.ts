import type { Kernels } from './kernels.ts';

/** Makes an instance of the kernels over a memory; every thread makes its own. */
export type InstantiateKernels = (memory: WebAssembly.Memory) => Kernels;

/** The number of factors rounded up to what the kernels take: a multiple of 4. */
export function paddedFactors(f: number): number {
  return Math.ceil(f / 4) * 4;
}

/** Bytes of `rows` rows of factors packed by `packPanels`. */
export function panelBytes(rows: number, f: number): number {
  return Math.ceil(rows / 8) * 8 * f * 4;
}

/** Bytes of `rows` rows of factors packed by `packCoarse`. */
export function coarseBytes(rows: number, f: number): number {
  return Math.ceil(rows / 32) * (32 * f + 128);
}

/** Vectors of int8 are padded to so many numbers. */
export function paddedBytes(length: number): number {
  return Math.ceil(length / 16) * 16;
}

/** Bytes of a record of `scanBytes`. @param length as `paddedBytes` gives it */
export function byteRecordBytes(length: number): number {
  return length + 16;
}

/** Bytes of a set of bits over `items`. */
export function bitsBytes(items: number): number {
  return Math.ceil(items / 32) * 4;
}

/**
 * Scratch of `batchTopK` and `queryTopK`: a tile, 64 queries, rotated and packed, with a threshold, a place and a list of
 * 128 candidates each.
 */
export function topKScratchBytes(f: number): number {
  return 256 + 132 * f * 4 + 64 * 8 + 64 * 128 * 8;
}

/** Numbers of an item's head (`BatchTopK.heads`): half of the factors. 0 where heads would cost what they spare. */
export function headLength(f: number): number {
  return f < 32 || f > 256 ? 0 : paddedFactors(f / 2);
}

/** Bytes of the heads of `rows` rows: basis, a norm for each 256, row numbers, panels. */
export function headBytes(rows: number, f: number): number {
  const h = headLength(f);
  return h === 0 ? 0 : f * f * 4 + Math.ceil(rows / 256) * 4 + rows * 4 + panelBytes(rows, h);
}

/** Source rows that conjugate gradient works on at a time: room for a block more, a number each, and a row of zeros. */
const GATHER_BLOCK_ROWS = 8;

/** Scratch of the ALS kernels: gathered rows with a prediction each, vectors, a matrix, a block of scaled rows. */
export function alsScratchBytes(f: number, gatherRows: number): number {
  return (
    (gatherRows + GATHER_BLOCK_ROWS + 1) * f * 4 +
    GATHER_BLOCK_ROWS * 4 +
    alignedRows(gatherRows) * 4 +
    5 * f * 4 +
    f * f * 4 +
    normalMatrixScratchBytes(f)
  );
}

function alignedRows(rows: number): number {
  return Math.ceil(rows / 4) * 4;
}

/** Scratch of `normalMatrix`: a block of 64 rows scaled by the root of their weights. */
export function normalMatrixScratchBytes(f: number): number {
  return 64 * f * 4;
}

/** Scratch of `symmetricEigen`: two matrices and four vectors of float64. */
export function eigenScratchBytes(f: number): number {
  return (2 * f * f + 4 * f) * 8;
}

/** Scratch of `rotateRows`: four rows. */
export function rotateScratchBytes(f: number): number {
  return 4 * f * 4;
}

/** Scratch of the factorization machine: the row's sum of factors. */
export function fmScratchBytes(f: number): number {
  return f * 4;
}

/** Scratch of `neighborTopK`: a sum and a number of shared columns for each row, the rows touched. */
export function neighborScratchBytes(rows: number): number {
  return rows * 12;
}

/** Scratch of `prunedNeighborTopK`: that of `neighborTopK`, one row more, and what it knows of the row at hand. */
export function prunedNeighborScratchBytes(rows: number): number {
  return neighborScratchBytes(rows) + 4 + 63 + 128 + 8 * 32 * 4;
}

/**
 * Bytes of `sumRows` and `topSums`, a multiple of 64: for each block of 32 rows the sums, two numbers of 8 bytes, one of 4
 * and 4 bytes, then one of 8 and 256 counts; or for each place of a hash table a sum, a row and half a number, then two.
 * @param bits as `sumBits` gives them
 */
export function rowSumsBytes(rows: number, bits = 0): number {
  const blocks = Math.ceil(rows / 32);
  const dense = blocks * (32 * 8 + 2 * 8 + 2 * 4) + 2 * 4 + 8 + 256 * 4;
  const bytes = bits === 0 ? dense : 2 ** bits * (8 + 4 + 2) + 2 * 4;
  return Math.ceil(bytes / 64) * 64;
}

/** A hash table that takes more than this share of the rows is no smaller part of the memory than it is slower. */
const HASHED_SHARE = 1 / 4;

/** The bits of places of a hash table of sums, for at most so many additions; 0 where a sum for each row is better. */
export function sumBits(rows: number, additions: number): number {
  const bits = Math.ceil(Math.log2(2 * Math.max(1, additions)));
  return 2 ** bits <= HASHED_SHARE * rows ? bits : 0;
}

/** The place where `sumRows` begins to look for a row, see `assembly/row-sums.ts`. */
export function firstPlaceOf(row: number, bits: number): number {
  return Math.imul(row, 0x9e3779b1) >>> (32 - bits);
}

/** Bitmaps that `prunedNeighborTopK` can have, and what it has in place of one for a column without. */
export const BITMAPS_MAX = 192;
export const NO_BITMAP = 0xffff_ffff;
/** Bytes of what it knows of a row: norm, row, a bit for each bitmap. */
export const RECORD_BYTES = 8 + BITMAPS_MAX / 8;
