import type { Kernels } from '../../kernel/kernels.ts';
import { eigenScratchBytes, headLength, panelBytes } from '../../kernel/scratch-sizes.ts';
import type { Arena } from '../../memory/arena.ts';

/** Items from which on heads pay; fewer are scanned as they are. */
export const HEADED_ITEMS_MIN = 32_768;
/** Rows that are rotated at a time. */
const ROWS = 1024;
/** Norms beyond which products of float32 may overflow. */
const NORM_MAX = 1e18;
const NORMS_EACH = 256;

/** Where the factors of items are, and where their heads go. */
export interface HeadsJob {
  readonly factors: number;
  readonly items: number;
  /** Padded; one that has a `headLength`. */
  readonly f: number;
  /** The items' Gramian. */
  readonly gramian: number;
  /** `headBytes(items, f)` bytes on a multiple of 4. */
  readonly heads: number;
  /** Has `headScratchBytes(f)` left. */
  readonly scratch: Arena;
}

export function headScratchBytes(f: number): number {
  return eigenScratchBytes(f) + f * f * 4 + (ROWS + 5) * f * 4 + panelBytes(ROWS, f) + 512;
}

/**
 * Writes the heads of items that `BatchTopK.heads` takes: the order by falling norm, ties to the lower row, and the first
 * numbers of each after a rotation to the eigenvectors of the Gramian, with the norm of the rest.
 * @returns false where there are no heads: a norm is too large or not a number, norms are so alike that bounds spare little, or there is no scratch
 */
export function placeHeads(
  kernels: Kernels,
  { factors, items, f, gramian, heads, scratch }: HeadsJob,
): boolean {
  const h = headLength(f);
  if (h === 0 || scratch.freeBytes < headScratchBytes(f)) return false;
  const rows = scratch.f32(factors, items * f);
  const norms = normsOf(rows, f);
  if (!norms.every((norm) => norm < NORM_MAX)) return false;
  const order = fallingOrder(norms);
  if (isFlat(norms, order)) return false;
  const basis = scratch.f32(heads, f * f);
  if (!writeBasis(kernels, { f, gramian, basis, scratch })) return false;
  const blocks = Math.ceil(items / NORMS_EACH);
  const normsAt = heads + f * f * 4;
  // Rounded up, so that no norm of the block is above it.
  scratch
    .f32(normsAt, blocks)
    .set(Float32Array.from({ length: blocks }, (_, at) => norms[order[at * NORMS_EACH]!]! * (1 + 1e-6)));
  const orderAt = normsAt + blocks * 4;
  scratch.u32(orderAt, items).set(order);
  const rotatedAt = scratch.alloc(ROWS * f * 4, 16);
  const cutAt = scratch.alloc(ROWS * h * 4, 16);
  const rotateScratch = scratch.alloc(16 * f, 16);
  const [rotated, cut] = [scratch.f32(rotatedAt, ROWS * f), scratch.f32(cutAt, ROWS * h)];
  for (let from = 0; from < items; from += ROWS) {
    const count = Math.min(ROWS, items - from);
    for (let at = 0; at < count; at++) {
      const row = order[from + at]!;
      rotated.set(rows.subarray(row * f, row * f + f), at * f);
    }
    kernels.rotateRows(rotatedAt, count, f, heads, rotateScratch);
    for (let at = 0; at < count; at++) {
      let rest = 0;
      for (let k = h - 1; k < f; k++) rest += rotated[at * f + k]! ** 2;
      for (let k = 0; k < h - 1; k++) cut[at * h + k] = rotated[at * f + k]!;
      cut[at * h + h - 1] = Math.sqrt(rest);
    }
    kernels.packPanels(cutAt, count, h, orderAt + items * 4 + panelBytes(from, h));
  }
  return true;
}

function normsOf(rows: Float32Array, f: number): Float32Array {
  const norms = new Float32Array(rows.length / f);
  for (let row = 0; row < norms.length; row++) {
    let sum = 0;
    for (let at = row * f; at < row * f + f; at++) sum += rows[at]! * rows[at]!;
    norms[row] = Math.sqrt(sum);
  }
  return norms;
}

/** Rows by falling norm, ties in their order. Norms are not negative, so that their bits are in the order of their values. */
function fallingOrder(norms: Float32Array): Uint32Array {
  const bits = new Uint32Array(norms.buffer, norms.byteOffset, norms.length);
  const keys = new BigUint64Array(norms.length);
  const halves = new Uint32Array(keys.buffer);
  for (let row = 0; row < norms.length; row++) {
    halves[2 * row] = row;
    halves[2 * row + 1] = ~bits[row]!;
  }
  keys.sort();
  return Uint32Array.from(norms, (_, place) => halves[2 * place]!);
}

/** True where a quarter of the items have more than a quarter of the norm that a sixty-fourth have. */
function isFlat(norms: Float32Array, order: Uint32Array): boolean {
  return norms[order[order.length >> 2]!]! * 4 > norms[order[order.length >> 6]!]!;
}

/** Writes the eigenvectors of the Gramian as columns, those of the largest eigenvalues first. */
function writeBasis(
  kernels: Kernels,
  {
    f,
    gramian,
    basis,
    scratch,
  }: Pick<HeadsJob, 'f' | 'gramian' | 'scratch'> & { readonly basis: Float32Array },
): boolean {
  const valuesAt = scratch.alloc(f * 4, 16);
  const vectorsAt = scratch.alloc(f * f * 4, 16);
  if (kernels.symmetricEigen(gramian, f, valuesAt, vectorsAt, scratch.alloc(eigenScratchBytes(f), 64)) === 0)
    return false;
  const [values, vectors] = [scratch.f32(valuesAt, f), scratch.f32(vectorsAt, f * f)];
  const falling = Array.from(values.keys()).sort((a, b) => values[b]! - values[a]! || a - b);
  for (let row = 0; row < f; row++)
    falling.forEach((column, at) => {
      basis[row * f + at] = vectors[row * f + column]!;
    });
  return true;
}
