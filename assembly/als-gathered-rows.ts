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

import { multiplyAdd } from './multiply-add';
import { sumLanes4 } from './vector';

/** Source rows in a block. */
export const BLOCK_ROWS: u32 = 8;
/** Bytes of a block's sums and coefficients. */
const COEFFICIENT_BYTES: usize = 32;

/** Bytes that gathering takes: `capacity` rows and a block more, the coefficients, a row of zeros. */
export function gatheredBytes(capacity: u32, rowBytes: usize): usize {
  return <usize>(capacity + BLOCK_ROWS + 1) * rowBytes + COEFFICIENT_BYTES;
}

/** Prepares a scratch for gathering. */
export function clearGathered(blocks: usize, capacity: u32, rowBytes: usize): void {
  memory.fill(blocks + gatheredBytes(capacity, rowBytes) - rowBytes, 0, rowBytes);
}

/** Copies 4 listed source rows into a half of a block, zeros where fewer are `left`. @returns their products with v */
function gatherDots4(
  source: usize, columns: usize, left: i32, zeros: usize, v: usize, rowBytes: usize, to: usize,
): v128 {
  let s0 = left > 0 ? source + <usize>load<u32>(columns) * rowBytes : zeros;
  let s1 = left > 1 ? source + <usize>load<u32>(columns, 4) * rowBytes : zeros;
  let s2 = left > 2 ? source + <usize>load<u32>(columns, 8) * rowBytes : zeros;
  let s3 = left > 3 ? source + <usize>load<u32>(columns, 12) * rowBytes : zeros;
  let a0 = f32x4.splat(0);
  let a1 = f32x4.splat(0);
  let a2 = f32x4.splat(0);
  let a3 = f32x4.splat(0);
  // The pointers advance: V8 would compute an address that stays the same anew in every turn.
  for (const end = v + rowBytes; v < end; v += 16, to += 128) {
    const x = v128.load(v);
    let y = v128.load(s0);
    v128.store(to, y);
    a0 = multiplyAdd(a0, x, y);
    y = v128.load(s1);
    v128.store(to, y, 16);
    a1 = multiplyAdd(a1, x, y);
    y = v128.load(s2);
    v128.store(to, y, 32);
    a2 = multiplyAdd(a2, x, y);
    y = v128.load(s3);
    v128.store(to, y, 48);
    a3 = multiplyAdd(a3, x, y);
    s0 += 16;
    s1 += 16;
    s2 += 16;
    s3 += 16;
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

/** Turns 4 sums into coefficients, which are multiplied by the weights that are `left`. */
// @ts-ignore: decorator
@inline
function weightSums(at: usize, offset: f32, sign: f32, weights: usize, left: i32): void {
  v128.store(at, multiplyAdd(f32x4.splat(offset), f32x4.splat(sign), v128.load(at)));
  if (!weights) return;
  if (left >= 4) {
    v128.store(at, f32x4.mul(v128.load(at), v128.load(weights)));
    return;
  }
  for (; left > 0; left--, at += 4, weights += 4) store<f32>(at, load<f32>(at) * load<f32>(weights));
}

/**
 * out += Σ weight (offset + sign * (s·v)) s over all entries of a row.
 * @param isFirst gathers the blocks; later calls for the same row find them
 * @param blocks a cleared scratch of `gatheredBytes`; entries past `capacity`, a multiple of 8, are gathered every time
 */
export function applyEntries(
  blocks: usize, capacity: u32, source: usize, columns: usize, weights: usize, count: u32, isFirst: bool, offset: f32,
  sign: f32, v: usize, out: usize, f: u32,
): void {
  const rowBytes = <usize>f << 2;
  const coefficients = blocks + <usize>(capacity + BLOCK_ROWS) * rowBytes;
  const zeros = coefficients + COEFFICIENT_BYTES;
  for (let i: u32 = 0; i < count; i += BLOCK_ROWS) {
    const block = blocks + <usize>min<u32>(i, capacity) * rowBytes;
    const left = <i32>(count - i);
    const offsetBytes = <usize>i << 2;
    if (isFirst || i >= capacity) {
      const at = columns + offsetBytes;
      v128.store(coefficients, gatherDots4(source, at, left, zeros, v, rowBytes, block));
      v128.store(coefficients, gatherDots4(source, at + 16, left - 4, zeros, v, rowBytes, block + 64), 16);
    } else {
      blockDots(block, v, rowBytes, coefficients);
    }
    weightSums(coefficients, offset, sign, weights ? weights + offsetBytes : 0, left);
    weightSums(coefficients + 16, offset, sign, weights ? weights + offsetBytes + 16 : 0, left - 4);
    addBlock(block, coefficients, out, rowBytes);
  }
}
