// A row's source rows, gathered into blocks of 8 so that one pointer serves them all: 4 factors of the first row, the
// same 4 of the second, and so on. The last block is filled with zero rows.
//
//   block 0: [r0 k0..k3][r1 k0..k3] .. [r7 k0..k3]  [r0 k4..k7] ..
//   block 1: [r8 k0..k3] ..
//
// What is computed with them is always out += Σ weight (offset + sign * (s·v)) s, block by block:
//
//   sums = [s0·v .. s7·v]            one pass over v, eight sums
//   out += c0 s0 + .. + c7 s7        one pass over out, the block being in the first-level cache by then

import { multiplyAdd } from './fused';
import { sumLanes4 } from './vector';

/** Source rows in a block. */
export const BLOCK_ROWS: u32 = 8;

/** Copies rows i .. i + 7 of the listed ones into a block; those at `count` and past it become zero. */
function gatherBlock(source: usize, columns: usize, i: u32, count: u32, rowBytes: usize, block: usize): void {
  for (let lane: u32 = 0; lane < BLOCK_ROWS; lane++) {
    const end = block + (rowBytes << 3);
    let to = block + (<usize>lane << 4);
    if (i + lane < count) {
      let from = source + <usize>load<u32>(columns + (<usize>(i + lane) << 2)) * rowBytes;
      for (; to < end; to += 128, from += 16) v128.store(to, v128.load(from));
    } else {
      for (; to < end; to += 128) v128.store(to, f32x4.splat(0));
    }
  }
}

/** out += Σ c s over a block, where c = weight (offset + sign * (s·v)); `low` and `high` are the 8 weights. */
// @ts-ignore: decorator
@inline
function applyBlock(
  block: usize, coefficients: usize, low: v128, high: v128, offset: f32, sign: f32, v: usize, out: usize,
  rowBytes: usize,
): void {
  let a0 = f32x4.splat(0);
  let a1 = f32x4.splat(0);
  let a2 = f32x4.splat(0);
  let a3 = f32x4.splat(0);
  let a4 = f32x4.splat(0);
  let a5 = f32x4.splat(0);
  let a6 = f32x4.splat(0);
  let a7 = f32x4.splat(0);
  let at = block;
  const end = v + rowBytes;
  for (; v < end; v += 16, at += 128) {
    const x = v128.load(v);
    a0 = multiplyAdd(a0, x, v128.load(at));
    a1 = multiplyAdd(a1, x, v128.load(at, 16));
    a2 = multiplyAdd(a2, x, v128.load(at, 32));
    a3 = multiplyAdd(a3, x, v128.load(at, 48));
    a4 = multiplyAdd(a4, x, v128.load(at, 64));
    a5 = multiplyAdd(a5, x, v128.load(at, 80));
    a6 = multiplyAdd(a6, x, v128.load(at, 96));
    a7 = multiplyAdd(a7, x, v128.load(at, 112));
  }
  const signs = f32x4.splat(sign);
  const offsets = f32x4.splat(offset);
  // By way of memory: V8 would otherwise compute the coefficients anew in every turn of the next loop.
  v128.store(coefficients, f32x4.mul(low, multiplyAdd(offsets, signs, sumLanes4(a0, a1, a2, a3))));
  v128.store(coefficients, f32x4.mul(high, multiplyAdd(offsets, signs, sumLanes4(a4, a5, a6, a7))), 16);
  const c0 = v128.load_splat<f32>(coefficients);
  const c1 = v128.load_splat<f32>(coefficients, 4);
  const c2 = v128.load_splat<f32>(coefficients, 8);
  const c3 = v128.load_splat<f32>(coefficients, 12);
  const c4 = v128.load_splat<f32>(coefficients, 16);
  const c5 = v128.load_splat<f32>(coefficients, 20);
  const c6 = v128.load_splat<f32>(coefficients, 24);
  const c7 = v128.load_splat<f32>(coefficients, 28);
  const outEnd = out + rowBytes;
  for (; out < outEnd; out += 16, block += 128) {
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

/**
 * out += Σ weight (offset + sign * (s·v)) s over all entries of a row.
 * @param isFirst gathers the blocks; later calls for the same row find them
 * @param blocks room for `capacity` rows, a multiple of 8, one block more, into which the rows past them go, and
 * 32 bytes
 */
export function applyEntries(
  blocks: usize, capacity: u32, source: usize, columns: usize, weights: usize, count: u32, isFirst: bool, offset: f32,
  sign: f32, v: usize, out: usize, f: u32,
): void {
  const rowBytes = <usize>f << 2;
  const coefficients = blocks + <usize>(capacity + BLOCK_ROWS) * rowBytes;
  let low = f32x4.splat(1);
  let high = low;
  for (let i: u32 = 0; i < count; i += BLOCK_ROWS) {
    const block = blocks + <usize>min<u32>(i, capacity) * rowBytes;
    if (isFirst || i >= capacity) gatherBlock(source, columns, i, count, rowBytes, block);
    if (weights) {
      const at = weights + (<usize>i << 2);
      if (i + BLOCK_ROWS <= count) {
        low = v128.load(at);
        high = v128.load(at, 16);
      } else {
        low = partWeights(at, count - i);
        high = count - i > 4 ? partWeights(at + 16, count - i - 4) : f32x4.splat(0);
      }
    }
    applyBlock(block, coefficients, low, high, offset, sign, v, out, rowBytes);
  }
}

/** The first 1 to 4 weights at an address, then zeros. */
function partWeights(at: usize, count: u32): v128 {
  if (count >= 4) return v128.load(at);
  let weights = f32x4.replace_lane(f32x4.splat(0), 0, load<f32>(at));
  if (count > 1) weights = f32x4.replace_lane(weights, 1, load<f32>(at, 4));
  if (count > 2) weights = f32x4.replace_lane(weights, 2, load<f32>(at, 8));
  return weights;
}
