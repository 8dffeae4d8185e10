// A row's source rows, gathered into blocks of 8 so that one pointer serves them all: 4 factors of the first row, the
// same 4 of the second, and so on. The last block is filled with zero rows.
//
//   block 0: [r0 k0..k3][r1 k0..k3] .. [r7 k0..k3]  [r0 k4..k7] ..
//   block 1: [r8 k0..k3] ..
//
// What is computed with them is always out += Σ weight (offset + sign * (s·v)) s, block by block:
//
//   sums = [s0·v .. s7·v]            one pass over v, eight sums; the first time, while gathering
//   out += c0 s0 + .. + c7 s7        one pass over out, the block being in the first-level cache by then
//
// Sums and coefficients go by way of memory: V8 would otherwise compute the latter anew in every turn of the second loop.

import { multiplyAdd } from './fused';
import { sumLanes4 } from './vector';

/** Source rows in a block. */
export const BLOCK_ROWS: u32 = 8;
/** Bytes of a block's sums and coefficients. */
export const COEFFICIENT_BYTES: usize = 32;

/** Where the source row of entry i lies. */
// @ts-ignore: decorator
@inline
function rowAt(source: usize, columns: usize, i: u32, rowBytes: usize): usize {
  return source + <usize>load<u32>(columns + (<usize>i << 2)) * rowBytes;
}

/** Copies rows i .. count - 1 of the listed ones, fewer than 8, into a block and fills it with zero rows. */
function gatherPart(source: usize, columns: usize, i: u32, count: u32, rowBytes: usize, block: usize): void {
  const end = block + (rowBytes << 3);
  for (let lane: u32 = 0; lane < BLOCK_ROWS; lane++) {
    let to = block + (<usize>lane << 4);
    if (i + lane < count) {
      let from = rowAt(source, columns, i + lane, rowBytes);
      for (; to < end; to += 128, from += 16) v128.store(to, v128.load(from));
    } else {
      for (; to < end; to += 128) v128.store(to, f32x4.splat(0));
    }
  }
}

/** Copies rows i .. i + 3 into a half of a block. @returns their products with v */
function gatherDots4(source: usize, columns: usize, i: u32, v: usize, rowBytes: usize, to: usize): v128 {
  const s0 = rowAt(source, columns, i, rowBytes);
  const s1 = rowAt(source, columns, i + 1, rowBytes);
  const s2 = rowAt(source, columns, i + 2, rowBytes);
  const s3 = rowAt(source, columns, i + 3, rowBytes);
  let a0 = f32x4.splat(0);
  let a1 = f32x4.splat(0);
  let a2 = f32x4.splat(0);
  let a3 = f32x4.splat(0);
  for (let at: usize = 0; at < rowBytes; at += 16, to += 128) {
    const x = v128.load(v + at);
    let y = v128.load(s0 + at);
    v128.store(to, y);
    a0 = multiplyAdd(a0, x, y);
    y = v128.load(s1 + at);
    v128.store(to, y, 16);
    a1 = multiplyAdd(a1, x, y);
    y = v128.load(s2 + at);
    v128.store(to, y, 32);
    a2 = multiplyAdd(a2, x, y);
    y = v128.load(s3 + at);
    v128.store(to, y, 48);
    a3 = multiplyAdd(a3, x, y);
  }
  return sumLanes4(a0, a1, a2, a3);
}

/** Writes the 8 products of a block's rows with v. */
function blockDots(block: usize, v: usize, rowBytes: usize, sums: usize): void {
  let a0 = f32x4.splat(0);
  let a1 = f32x4.splat(0);
  let a2 = f32x4.splat(0);
  let a3 = f32x4.splat(0);
  let a4 = f32x4.splat(0);
  let a5 = f32x4.splat(0);
  let a6 = f32x4.splat(0);
  let a7 = f32x4.splat(0);
  const end = v + rowBytes;
  for (; v < end; v += 16, block += 128) {
    const x = v128.load(v);
    a0 = multiplyAdd(a0, x, v128.load(block));
    a1 = multiplyAdd(a1, x, v128.load(block, 16));
    a2 = multiplyAdd(a2, x, v128.load(block, 32));
    a3 = multiplyAdd(a3, x, v128.load(block, 48));
    a4 = multiplyAdd(a4, x, v128.load(block, 64));
    a5 = multiplyAdd(a5, x, v128.load(block, 80));
    a6 = multiplyAdd(a6, x, v128.load(block, 96));
    a7 = multiplyAdd(a7, x, v128.load(block, 112));
  }
  v128.store(sums, sumLanes4(a0, a1, a2, a3));
  v128.store(sums, sumLanes4(a4, a5, a6, a7), 16);
}

/** out += Σ c s over a block. */
function addBlock(block: usize, coefficients: usize, out: usize, rowBytes: usize): void {
  const c0 = v128.load_splat<f32>(coefficients);
  const c1 = v128.load_splat<f32>(coefficients, 4);
  const c2 = v128.load_splat<f32>(coefficients, 8);
  const c3 = v128.load_splat<f32>(coefficients, 12);
  const c4 = v128.load_splat<f32>(coefficients, 16);
  const c5 = v128.load_splat<f32>(coefficients, 20);
  const c6 = v128.load_splat<f32>(coefficients, 24);
  const c7 = v128.load_splat<f32>(coefficients, 28);
  const end = out + rowBytes;
  for (; out < end; out += 16, block += 128) {
    let even = multiplyAdd(v128.load(out), c0, v128.load(block));
    let odd = f32x4.mul(c1, v128.load(block, 16));
    even = multiplyAdd(even, c2, v128.load(block, 32));
    odd = multiplyAdd(odd, c3, v128.load(block, 48));
    even = multiplyAdd(even, c4, v128.load(block, 64));
    odd = multiplyAdd(odd, c5, v128.load(block, 80));
    even = multiplyAdd(even, c6, v128.load(block, 96));
    odd = multiplyAdd(odd, c7, v128.load(block, 112));
    v128.store(out, f32x4.add(even, odd));
  }
}

/** Turns 4 sums into coefficients, `count` of which have a weight. */
// @ts-ignore: decorator
@inline
function weightSums(at: usize, offset: f32, sign: f32, weights: usize, count: u32): void {
  const c = multiplyAdd(f32x4.splat(offset), f32x4.splat(sign), v128.load(at));
  v128.store(at, weights ? f32x4.mul(c, loadWeights(weights, count)) : c);
}

/** The weights at an address: `count` of them, then zeros. */
function loadWeights(at: usize, count: u32): v128 {
  if (count >= 4) return v128.load(at);
  let weights = f32x4.splat(0);
  if (count > 0) weights = f32x4.replace_lane(weights, 0, load<f32>(at));
  if (count > 1) weights = f32x4.replace_lane(weights, 1, load<f32>(at, 4));
  if (count > 2) weights = f32x4.replace_lane(weights, 2, load<f32>(at, 8));
  return weights;
}

/**
 * out += Σ weight (offset + sign * (s·v)) s over all entries of a row.
 * @param isFirst gathers the blocks; later calls for the same row find them
 * @param blocks room for `capacity` rows, a multiple of 8, one block more, into which the rows past them go, and
 * the coefficients
 */
export function applyEntries(
  blocks: usize, capacity: u32, source: usize, columns: usize, weights: usize, count: u32, isFirst: bool, offset: f32,
  sign: f32, v: usize, out: usize, f: u32,
): void {
  const rowBytes = <usize>f << 2;
  const coefficients = blocks + <usize>(capacity + BLOCK_ROWS) * rowBytes;
  for (let i: u32 = 0; i < count; i += BLOCK_ROWS) {
    const block = blocks + <usize>min<u32>(i, capacity) * rowBytes;
    const isGathered = !isFirst && i < capacity;
    const left = count - i;
    if (!isGathered && left >= BLOCK_ROWS) {
      v128.store(coefficients, gatherDots4(source, columns, i, v, rowBytes, block));
      v128.store(coefficients, gatherDots4(source, columns, i + 4, v, rowBytes, block + 64), 16);
    } else {
      if (!isGathered) gatherPart(source, columns, i, count, rowBytes, block);
      blockDots(block, v, rowBytes, coefficients);
    }
    const at = weights ? weights + (<usize>i << 2) : 0;
    weightSums(coefficients, offset, sign, at, left);
    weightSums(coefficients + 16, offset, sign, at ? at + 16 : 0, left > 4 ? left - 4 : 0);
    addBlock(block, coefficients, out, rowBytes);
  }
}
