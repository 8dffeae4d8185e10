// Weighted normal matrices with their regularization: scale * base + diagonal * I + Σ weight x xᵀ, the left sides of ridge
// regressions such as the rows of ALS. Solved by cholesky.ts.

import { addProducts, mirror } from './gramian';

const BLOCK_ROWS: u32 = 64;

/** Sets the upper triangle of out = scale * base + diagonal * I. */
export function startMatrix(base: usize, scale: f32, diagonal: f32, f: u32, out: usize): void {
  const scales = f32x4.splat(scale);
  const bytes = (<usize>f * f) << 2;
  for (let at: usize = 0; at < bytes; at += 16) v128.store(out + at, f32x4.mul(scales, v128.load(base + at)));
  for (let i: usize = 0; i < <usize>f; i++) {
    const at = out + ((i * f + i) << 2);
    store<f32>(at, load<f32>(at) + diagonal);
  }
}

/** Adds Σ weight x xᵀ to the upper triangle: rows scaled by the root of their weight, 64 at a time. */
export function addWeightedRows(
  source: usize, f: u32, columns: usize, weights: usize, count: u32, out: usize, scratch: usize,
): void {
  const rowBytes = <usize>f << 2;
  for (let start: u32 = 0; start < count; start += BLOCK_ROWS) {
    const rows = min<u32>(BLOCK_ROWS, count - start);
    for (let r: u32 = 0; r < rows; r++) {
      const entry = <usize>(start + r) << 2;
      const row = source + <usize>load<u32>(columns + entry) * rowBytes;
      const to = scratch + <usize>r * rowBytes;
      const root = f32x4.splat(weights ? sqrt<f32>(load<f32>(weights + entry)) : 1);
      for (let at: usize = 0; at < rowBytes; at += 16) v128.store(to + at, f32x4.mul(root, v128.load(row + at)));
    }
    addProducts(scratch, rows, f, out);
  }
}

export function normalMatrix(
  source: usize, f: u32, columns: usize, weights: usize, count: u32, base: usize, scale: f32, diagonal: f32,
  out: usize, scratch: usize,
): void {
  assert((f & 3) == 0);
  startMatrix(base, scale, diagonal, f, out);
  addWeightedRows(source, f, columns, weights, count, out, scratch);
  mirror(out, f);
}
