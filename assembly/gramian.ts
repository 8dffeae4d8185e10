// Xᵀ X by tiles of 4 x 8 accumulators; rows of X are already the "k-major" panels that the tile wants:
//
//              x[r][j..j+3]  x[r][j+4..j+7]
//   x[r][i  ]      a0              b0
//   x[r][i+1]      a1              b1        summed over r
//   x[r][i+2]      a2              b2
//   x[r][i+3]      a3              b3

import { multiplyAdd } from './multiply-add';

/** Rows summed before a tile is written back: 64 rows of 128 factors are 32 KB, a first-level cache. */
const BLOCK_ROWS: u32 = 64;

// @ts-ignore: decorator
@inline
function accumulate(address: usize, sum: v128): void {
  v128.store(address, f32x4.add(v128.load(address), sum));
}

function tile8(left: usize, right: usize, rows: u32, rowBytes: usize, out: usize): void {
  let a0 = f32x4.splat(0);
  let a1 = f32x4.splat(0);
  let a2 = f32x4.splat(0);
  let a3 = f32x4.splat(0);
  let b0 = f32x4.splat(0);
  let b1 = f32x4.splat(0);
  let b2 = f32x4.splat(0);
  let b3 = f32x4.splat(0);
  for (let r: u32 = 0; r < rows; r++) {
    const y0 = v128.load(right);
    const y1 = v128.load(right, 16);
    let x = v128.load_splat<f32>(left);
    a0 = multiplyAdd(a0, x, y0);
    b0 = multiplyAdd(b0, x, y1);
    x = v128.load_splat<f32>(left, 4);
    a1 = multiplyAdd(a1, x, y0);
    b1 = multiplyAdd(b1, x, y1);
    x = v128.load_splat<f32>(left, 8);
    a2 = multiplyAdd(a2, x, y0);
    b2 = multiplyAdd(b2, x, y1);
    x = v128.load_splat<f32>(left, 12);
    a3 = multiplyAdd(a3, x, y0);
    b3 = multiplyAdd(b3, x, y1);
    left += rowBytes;
    right += rowBytes;
  }
  accumulate(out, a0);
  accumulate(out + 16, b0);
  accumulate(out + rowBytes, a1);
  accumulate(out + rowBytes + 16, b1);
  accumulate(out + rowBytes * 2, a2);
  accumulate(out + rowBytes * 2 + 16, b2);
  accumulate(out + rowBytes * 3, a3);
  accumulate(out + rowBytes * 3 + 16, b3);
}

function tile4(left: usize, right: usize, rows: u32, rowBytes: usize, out: usize): void {
  let a0 = f32x4.splat(0);
  let a1 = f32x4.splat(0);
  let a2 = f32x4.splat(0);
  let a3 = f32x4.splat(0);
  for (let r: u32 = 0; r < rows; r++) {
    const y0 = v128.load(right);
    a0 = multiplyAdd(a0, v128.load_splat<f32>(left), y0);
    a1 = multiplyAdd(a1, v128.load_splat<f32>(left, 4), y0);
    a2 = multiplyAdd(a2, v128.load_splat<f32>(left, 8), y0);
    a3 = multiplyAdd(a3, v128.load_splat<f32>(left, 12), y0);
    left += rowBytes;
    right += rowBytes;
  }
  accumulate(out, a0);
  accumulate(out + rowBytes, a1);
  accumulate(out + rowBytes * 2, a2);
  accumulate(out + rowBytes * 3, a3);
}

/** out += XᵀX on and above the diagonal (tiles that cross it are whole), f a multiple of 4. */
export function addProducts(x: usize, rows: u32, f: u32, out: usize): void {
  const rowBytes = <usize>f << 2;
  for (let start: u32 = 0; start < rows; start += BLOCK_ROWS) {
    const block = x + <usize>start * rowBytes;
    const count = min<u32>(BLOCK_ROWS, rows - start);
    for (let i: usize = 0; i < rowBytes; i += 16) {
      const outRow = out + (i >> 2) * rowBytes;
      let j = i;
      for (; j + 32 <= rowBytes; j += 32) tile8(block + i, block + j, count, rowBytes, outRow + j);
      if (j < rowBytes) tile4(block + i, block + j, count, rowBytes, outRow + j);
    }
  }
}

/** Copies the triangle above the diagonal below it. */
export function mirror(matrix: usize, f: u32): void {
  const rowBytes = <usize>f << 2;
  for (let i: usize = 1; i < <usize>f; i++) {
    for (let j: usize = 0; j < i; j++) {
      store<f32>(matrix + i * rowBytes + (j << 2), load<f32>(matrix + j * rowBytes + (i << 2)));
    }
  }
}

export function gramian(factors: usize, rows: u32, f: u32, out: usize): void {
  assert((f & 3) == 0);
  memory.fill(out, 0, (<usize>f * f) << 2);
  addProducts(factors, rows, f, out);
  mirror(out, f);
}
