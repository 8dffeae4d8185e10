// X = X B for rows of factors, in place: tiles of 4 rows by 8 columns, the Gramian's tile with X read along its rows.
//
// Scratch: 4 rows of the product, before they are copied back.

import { multiplyAdd } from './multiply-add';

function tile8(x0: usize, x1: usize, x2: usize, x3: usize, basis: usize, rowBytes: usize, out: usize): void {
  let a0 = f32x4.splat(0);
  let a1 = f32x4.splat(0);
  let a2 = f32x4.splat(0);
  let a3 = f32x4.splat(0);
  let b0 = f32x4.splat(0);
  let b1 = f32x4.splat(0);
  let b2 = f32x4.splat(0);
  let b3 = f32x4.splat(0);
  for (let at: usize = 0; at < rowBytes; at += 4, basis += rowBytes) {
    const y0 = v128.load(basis);
    const y1 = v128.load(basis, 16);
    let x = v128.load_splat<f32>(x0 + at);
    a0 = multiplyAdd(a0, x, y0);
    b0 = multiplyAdd(b0, x, y1);
    x = v128.load_splat<f32>(x1 + at);
    a1 = multiplyAdd(a1, x, y0);
    b1 = multiplyAdd(b1, x, y1);
    x = v128.load_splat<f32>(x2 + at);
    a2 = multiplyAdd(a2, x, y0);
    b2 = multiplyAdd(b2, x, y1);
    x = v128.load_splat<f32>(x3 + at);
    a3 = multiplyAdd(a3, x, y0);
    b3 = multiplyAdd(b3, x, y1);
  }
  v128.store(out, a0);
  v128.store(out, b0, 16);
  out += rowBytes;
  v128.store(out, a1);
  v128.store(out, b1, 16);
  out += rowBytes;
  v128.store(out, a2);
  v128.store(out, b2, 16);
  out += rowBytes;
  v128.store(out, a3);
  v128.store(out, b3, 16);
}

function tile4(x0: usize, x1: usize, x2: usize, x3: usize, basis: usize, rowBytes: usize, out: usize): void {
  let a0 = f32x4.splat(0);
  let a1 = f32x4.splat(0);
  let a2 = f32x4.splat(0);
  let a3 = f32x4.splat(0);
  for (let at: usize = 0; at < rowBytes; at += 4, basis += rowBytes) {
    const y = v128.load(basis);
    a0 = multiplyAdd(a0, v128.load_splat<f32>(x0 + at), y);
    a1 = multiplyAdd(a1, v128.load_splat<f32>(x1 + at), y);
    a2 = multiplyAdd(a2, v128.load_splat<f32>(x2 + at), y);
    a3 = multiplyAdd(a3, v128.load_splat<f32>(x3 + at), y);
  }
  v128.store(out, a0);
  v128.store(out + rowBytes, a1);
  v128.store(out + rowBytes * 2, a2);
  v128.store(out + rowBytes * 3, a3);
}

export function rotateRows(factors: usize, rows: u32, f: u32, basis: usize, scratch: usize): void {
  assert((f & 3) == 0);
  const rowBytes = <usize>f << 2;
  for (let row: u32 = 0; row < rows; row += 4) {
    const count = min<u32>(4, rows - row);
    const x0 = factors + <usize>row * rowBytes;
    // A short last group repeats its last row.
    const x1 = count > 1 ? x0 + rowBytes : x0;
    const x2 = count > 2 ? x1 + rowBytes : x1;
    const x3 = count > 3 ? x2 + rowBytes : x2;
    let j: usize = 0;
    for (; j + 32 <= rowBytes; j += 32) tile8(x0, x1, x2, x3, basis + j, rowBytes, scratch + j);
    if (j < rowBytes) tile4(x0, x1, x2, x3, basis + j, rowBytes, scratch + j);
    memory.copy(x0, scratch, rowBytes * count);
  }
}
