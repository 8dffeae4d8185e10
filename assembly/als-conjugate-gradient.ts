// Implicit ALS by conjugate gradient (Hu, Koren, Volinsky 2008; Takács, Pilászy, Tikk 2011): the row's normal matrix
// is applied, never built.
//
// Scratch: gathered rows, gatherRows x f and more (gathered-rows.ts) | residual | direction | product, f each.

import { multiplyAdd } from './fused';
import { applyEntries, clearGathered, gatheredBytes } from './gathered-rows';
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
  const residual = scratch + gatheredBytes(capacity, rowBytes);
  const direction = residual + rowBytes;
  const product = direction + rowBytes;
  // r = Σ w (1 - x·s) s - (unobservedWeight G + regularization I) x
  multiplyGramian(gramian, f, -unobservedWeight, -regularization, x, residual);
  applyEntries(scratch, capacity, source, columns, weights, count, true, 1, -1, x, residual, f);
  memory.copy(direction, residual, rowBytes);
  let square = dot(residual, residual, f);
  for (let step: u32 = 0; step < steps; step++) {
    if (!(square > 1e-20)) break;
    multiplyGramian(gramian, f, unobservedWeight, regularization, direction, product);
    applyEntries(scratch, capacity, source, columns, weights, count, false, 0, 1, direction, product, f);
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
  capacity &= ~7;
  clearGathered(scratch, capacity, <usize>f << 2);
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
