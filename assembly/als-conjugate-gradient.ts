// Implicit ALS by conjugate gradient (Hu, Koren, Volinsky 2008; Takács, Pilászy, Tikk 2011): the row's normal matrix
// is applied, never built. The row's source rows are gathered once, then every product takes them four at a time:
//
//   sums    = [s0·v s1·v s2·v s3·v]         one pass over v, four streams
//   out    += c0 s0 + c1 s1 + c2 s2 + c3 s3  one pass over out
//
// Scratch: gathered rows, gatherRows x f | residual | direction | product, f each.

import { multiplyAdd } from './fused';
import { addScaled, dot, scaleAdd, sumLanes4 } from './vector';

/** [s0·v s1·v s2·v s3·v], f a multiple of 4. */
// @ts-ignore: decorator
@inline
function dots4(s0: usize, s1: usize, s2: usize, s3: usize, v: usize, rowBytes: usize): v128 {
  let a0 = f32x4.splat(0);
  let a1 = f32x4.splat(0);
  let a2 = f32x4.splat(0);
  let a3 = f32x4.splat(0);
  let at: usize = 0;
  for (; at + 32 <= rowBytes; at += 32) {
    const x = v128.load(v + at);
    const y = v128.load(v + at, 16);
    a0 = multiplyAdd(a0, x, v128.load(s0 + at));
    a1 = multiplyAdd(a1, x, v128.load(s1 + at));
    a2 = multiplyAdd(a2, x, v128.load(s2 + at));
    a3 = multiplyAdd(a3, x, v128.load(s3 + at));
    a0 = multiplyAdd(a0, y, v128.load(s0 + at, 16));
    a1 = multiplyAdd(a1, y, v128.load(s1 + at, 16));
    a2 = multiplyAdd(a2, y, v128.load(s2 + at, 16));
    a3 = multiplyAdd(a3, y, v128.load(s3 + at, 16));
  }
  if (at < rowBytes) {
    const x = v128.load(v + at);
    a0 = multiplyAdd(a0, x, v128.load(s0 + at));
    a1 = multiplyAdd(a1, x, v128.load(s1 + at));
    a2 = multiplyAdd(a2, x, v128.load(s2 + at));
    a3 = multiplyAdd(a3, x, v128.load(s3 + at));
  }
  return sumLanes4(a0, a1, a2, a3);
}

/** out = unobservedWeight * gramian * v + regularization * v (the Gramian is symmetric). */
export function multiplyGramian(
  gramian: usize, f: u32, unobservedWeight: f32, regularization: f32, v: usize, out: usize,
): void {
  const rowBytes = <usize>f << 2;
  const weights = f32x4.splat(unobservedWeight);
  const diagonal = f32x4.splat(regularization);
  for (let at: usize = 0; at < rowBytes; at += 16) {
    const row = gramian + (at >> 2) * rowBytes;
    const sums = dots4(row, row + rowBytes, row + rowBytes * 2, row + rowBytes * 3, v, rowBytes);
    v128.store(out + at, multiplyAdd(f32x4.mul(weights, sums), diagonal, v128.load(v + at)));
  }
}

/** out += Σ weight (offset + sign * (s·v)) s over four rows. */
// @ts-ignore: decorator
@inline
function apply4(
  s0: usize, s1: usize, s2: usize, s3: usize, weights: v128, offset: f32, sign: f32, v: usize, out: usize,
  rowBytes: usize,
): void {
  const sums = dots4(s0, s1, s2, s3, v, rowBytes);
  const c = f32x4.mul(weights, multiplyAdd(f32x4.splat(offset), f32x4.splat(sign), sums));
  const c0 = v128.shuffle<f32>(c, c, 0, 0, 0, 0);
  const c1 = v128.shuffle<f32>(c, c, 1, 1, 1, 1);
  const c2 = v128.shuffle<f32>(c, c, 2, 2, 2, 2);
  const c3 = v128.shuffle<f32>(c, c, 3, 3, 3, 3);
  let at: usize = 0;
  for (; at + 32 <= rowBytes; at += 32) {
    const low = multiplyAdd(f32x4.mul(c0, v128.load(s0 + at)), c1, v128.load(s1 + at));
    const low2 = multiplyAdd(f32x4.mul(c2, v128.load(s2 + at)), c3, v128.load(s3 + at));
    const high = multiplyAdd(f32x4.mul(c0, v128.load(s0 + at, 16)), c1, v128.load(s1 + at, 16));
    const high2 = multiplyAdd(f32x4.mul(c2, v128.load(s2 + at, 16)), c3, v128.load(s3 + at, 16));
    v128.store(out + at, f32x4.add(v128.load(out + at), f32x4.add(low, low2)));
    v128.store(out + at, f32x4.add(v128.load(out + at, 16), f32x4.add(high, high2)), 16);
  }
  if (at < rowBytes) {
    const s01 = multiplyAdd(f32x4.mul(c0, v128.load(s0 + at)), c1, v128.load(s1 + at));
    const s23 = multiplyAdd(f32x4.mul(c2, v128.load(s2 + at)), c3, v128.load(s3 + at));
    v128.store(out + at, f32x4.add(v128.load(out + at), f32x4.add(s01, s23)));
  }
}

/** The same over all entries of a row: the gathered ones, then those that did not fit. */
function applyRow(
  gathered: usize, gatheredCount: u32, source: usize, columns: usize, weights: usize, count: u32, offset: f32,
  sign: f32, v: usize, out: usize, f: u32,
): void {
  const rowBytes = <usize>f << 2;
  const ones = f32x4.splat(1);
  let i: u32 = 0;
  for (; i + 4 <= gatheredCount; i += 4) {
    const s = gathered + <usize>i * rowBytes;
    const w = weights ? v128.load(weights + (<usize>i << 2)) : ones;
    apply4(s, s + rowBytes, s + rowBytes * 2, s + rowBytes * 3, w, offset, sign, v, out, rowBytes);
  }
  for (; i + 4 <= count; i += 4) {
    const at = columns + (<usize>i << 2);
    const s0 = source + <usize>load<u32>(at) * rowBytes;
    const s1 = source + <usize>load<u32>(at, 4) * rowBytes;
    const s2 = source + <usize>load<u32>(at, 8) * rowBytes;
    const s3 = source + <usize>load<u32>(at, 12) * rowBytes;
    const w = weights ? v128.load(weights + (<usize>i << 2)) : ones;
    apply4(s0, s1, s2, s3, w, offset, sign, v, out, rowBytes);
  }
  for (; i < count; i++) {
    const s = source + <usize>load<u32>(columns + (<usize>i << 2)) * rowBytes;
    const w: f32 = weights ? load<f32>(weights + (<usize>i << 2)) : 1;
    addScaled(out, s, w * (offset + sign * dot(s, v, f)), f);
  }
}

export function gatherRows(source: usize, columns: usize, count: u32, f: u32, out: usize): void {
  const rowBytes = <usize>f << 2;
  for (let i: u32 = 0; i < count; i++) {
    const from = source + <usize>load<u32>(columns + (<usize>i << 2)) * rowBytes;
    const to = out + <usize>i * rowBytes;
    for (let at: usize = 0; at < rowBytes; at += 16) v128.store(to + at, v128.load(from + at));
  }
}

function solveRow(
  columns: usize, weights: usize, count: u32, x: usize, source: usize, gramian: usize, f: u32,
  unobservedWeight: f32, regularization: f32, steps: u32, scratch: usize, capacity: u32,
): void {
  const rowBytes = <usize>f << 2;
  const residual = scratch + <usize>capacity * rowBytes;
  const direction = residual + rowBytes;
  const product = direction + rowBytes;
  const kept = min<u32>(count, capacity);
  gatherRows(source, columns, kept, f, scratch);
  // r = Σ w (1 - x·s) s - (unobservedWeight G + regularization I) x
  multiplyGramian(gramian, f, -unobservedWeight, -regularization, x, residual);
  applyRow(scratch, kept, source, columns, weights, count, 1, -1, x, residual, f);
  memory.copy(direction, residual, rowBytes);
  let square = dot(residual, residual, f);
  for (let step: u32 = 0; step < steps; step++) {
    if (!(square > 1e-20)) break;
    multiplyGramian(gramian, f, unobservedWeight, regularization, direction, product);
    applyRow(scratch, kept, source, columns, weights, count, 0, 1, direction, product, f);
    const curvature = dot(direction, product, f);
    if (!(curvature > 0)) break;
    const length = square / curvature;
    addScaled(x, direction, length, f);
    addScaled(residual, product, -length, f);
    const next = dot(residual, residual, f);
    scaleAdd(direction, next / square, residual, f);
    square = next;
  }
}

export function alsSolveRows(
  starts: usize, columns: usize, weights: usize, firstRow: u32, endRow: u32, target: usize, source: usize,
  gramian: usize, f: u32, unobservedWeight: f32, regularizations: usize, steps: u32, scratch: usize, capacity: u32,
): void {
  assert((f & 3) == 0);
  for (let row = firstRow; row < endRow; row++) {
    const at = <usize>row << 2;
    const start = load<u32>(starts + at);
    const count = load<u32>(starts + at, 4) - start;
    const x = target + <usize>row * f * 4;
    if (count == 0) {
      memory.fill(x, 0, <usize>f << 2);
      continue;
    }
    const first = <usize>start << 2;
    solveRow(
      columns + first, weights ? weights + first : 0, count, x, source, gramian, f, unobservedWeight,
      load<f32>(regularizations + at), steps, scratch, capacity,
    );
  }
}
