// A x = b by Cholesky's decomposition of a symmetric positive definite matrix. A = UᵀU, U in the upper triangle, row-major,
// so that every inner loop runs along a row. Four rows of U are finished, then subtracted together from all rows below (a
// rank-4 update: five loads and one store for four multiply-adds).

import { multiplyAdd, multiplySubtract } from './multiply-add';
import { dot } from './vector';

/** Finishes rows k to k + 3 of U. @returns false when a pivot is not positive. */
function factorRows(a: usize, f: u32, k: u32): bool {
  const rowBytes = <usize>f << 2;
  const first = <usize>k << 2;
  for (let r: u32 = k; r < k + 4; r++) {
    const row = a + <usize>r * rowBytes;
    const pivot = load<f32>(row + (<usize>r << 2));
    if (!(pivot > 0) || pivot == Infinity) return false;
    const inverse = f32x4.splat(1 / sqrt<f32>(pivot));
    for (let at = first; at < rowBytes; at += 16) v128.store(row + at, f32x4.mul(v128.load(row + at), inverse));
    for (let below = r + 1; below < k + 4; below++) {
      const target = a + <usize>below * rowBytes;
      const factor = f32x4.splat(load<f32>(row + (<usize>below << 2)));
      for (let at = first; at < rowBytes; at += 16) {
        v128.store(target + at, multiplySubtract(v128.load(target + at), factor, v128.load(row + at)));
      }
    }
  }
  return true;
}

/** Subtracts what rows k to k + 3 of U explain from all rows below them. */
function subtractRows(a: usize, f: u32, k: u32): void {
  const rowBytes = <usize>f << 2;
  const u0 = a + <usize>k * rowBytes;
  const u1 = u0 + rowBytes;
  const u2 = u1 + rowBytes;
  const u3 = u2 + rowBytes;
  for (let i: u32 = k + 4; i < f; i++) {
    const column = <usize>i << 2;
    const target = a + <usize>i * rowBytes;
    const c0 = v128.load_splat<f32>(u0 + column);
    const c1 = v128.load_splat<f32>(u1 + column);
    const c2 = v128.load_splat<f32>(u2 + column);
    const c3 = v128.load_splat<f32>(u3 + column);
    for (let at = column & ~15; at < rowBytes; at += 16) {
      const s01 = multiplyAdd(f32x4.mul(c0, v128.load(u0 + at)), c1, v128.load(u1 + at));
      const s23 = multiplyAdd(f32x4.mul(c2, v128.load(u2 + at)), c3, v128.load(u3 + at));
      v128.store(target + at, f32x4.sub(v128.load(target + at), f32x4.add(s01, s23)));
    }
  }
}

export function choleskySolve(a: usize, b: usize, f: u32): u32 {
  assert((f & 3) == 0);
  const rowBytes = <usize>f << 2;
  for (let k: u32 = 0; k < f; k += 4) {
    if (!factorRows(a, f, k)) return 0;
    subtractRows(a, f, k);
  }
  // Uᵀ y = b, row by row of U; then U x = y from the last row.
  for (let k: u32 = 0; k < f; k++) {
    const at = <usize>k << 2;
    const row = a + <usize>k * rowBytes;
    const y = load<f32>(b + at) / load<f32>(row + at);
    store<f32>(b + at, y);
    for (let j = at + 4; j < rowBytes; j += 4) store<f32>(b + j, load<f32>(b + j) - y * load<f32>(row + j));
  }
  for (let k: i32 = <i32>f - 1; k >= 0; k--) {
    const at = <usize>k << 2;
    const row = a + <usize>k * rowBytes;
    const rest = dot(row + at + 4, b + at + 4, f - 1 - <u32>k);
    store<f32>(b + at, (load<f32>(b + at) - rest) / load<f32>(row + at));
  }
  return 1;
}
