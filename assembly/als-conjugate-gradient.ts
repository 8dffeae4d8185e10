// Implicit ALS by conjugate gradient in the basis in which the source's Gramian is diagonal. There its part in the
// normal matrix, unobservedWeight G + regularization I, is a vector, so it costs nothing to apply and, what is more,
// can be inverted exactly for any row's regularization: it is the preconditioner (Golub and Van Loan, Matrix
// Computations, section 11.5.2), under which two steps do what three do without.
//
// Scratch: gathered rows, gatherRows x f and more (als-gathered-rows.ts) | residual | direction | product |
// diagonal | its inverse, f each.

import { multiplyAdd } from './multiply-add';
import { applyEntries, clearGathered, gatheredBytes } from './als-gathered-rows';
import { addScaled, dot, sumLanes } from './vector';

/** Writes the diagonal and its inverse, and residual = - diagonal x. */
function startRow(
  spectrum: usize, unobservedWeight: f32, regularization: f32, x: usize, diagonal: usize, inverse: usize,
  residual: usize, rowBytes: usize,
): void {
  const weights = f32x4.splat(unobservedWeight);
  const shifts = f32x4.splat(regularization);
  const ones = f32x4.splat(1);
  const zero = f32x4.splat(0);
  for (let at: usize = 0; at < rowBytes; at += 16) {
    const d = multiplyAdd(shifts, weights, v128.load(spectrum + at));
    v128.store(diagonal + at, d);
    // Where all factors of the source are zero and the regularization too, the direction stays zero.
    v128.store(inverse + at, v128.and(f32x4.div(ones, d), f32x4.gt(d, zero)));
    v128.store(residual + at, f32x4.neg(f32x4.mul(d, v128.load(x + at))));
  }
}

/** direction = residual / diagonal + factor * direction, product = diagonal * direction. */
function turn(
  residual: usize, diagonal: usize, inverse: usize, factor: f32, direction: usize, product: usize, rowBytes: usize,
): void {
  const factors = f32x4.splat(factor);
  for (let at: usize = 0; at < rowBytes; at += 16) {
    const z = f32x4.mul(v128.load(residual + at), v128.load(inverse + at));
    const p = multiplyAdd(z, factors, v128.load(direction + at));
    v128.store(direction + at, p);
    v128.store(product + at, f32x4.mul(v128.load(diagonal + at), p));
  }
}

/** Σ residual² / diagonal. */
function weigh(residual: usize, inverse: usize, rowBytes: usize): f32 {
  let sums = f32x4.splat(0);
  for (let at: usize = 0; at < rowBytes; at += 16) {
    const r = v128.load(residual + at);
    sums = multiplyAdd(sums, f32x4.mul(r, r), v128.load(inverse + at));
  }
  return sumLanes(sums);
}

function solveRow(
  columns: usize, weights: usize, count: u32, x: usize, source: usize, spectrum: usize, f: u32,
  unobservedWeight: f32, regularization: f32, steps: u32, scratch: usize, capacity: u32,
): void {
  const rowBytes = <usize>f << 2;
  const residual = scratch + gatheredBytes(capacity, rowBytes);
  const direction = residual + rowBytes;
  const product = direction + rowBytes;
  const diagonal = product + rowBytes;
  const inverse = diagonal + rowBytes;
  startRow(spectrum, unobservedWeight, regularization, x, diagonal, inverse, residual, rowBytes);
  applyEntries(scratch, capacity, source, columns, weights, count, true, 1, -1, x, residual, f);
  let square = weigh(residual, inverse, rowBytes);
  memory.fill(direction, 0, rowBytes);
  let factor: f32 = 0;
  for (let step: u32 = 1; step <= steps; step++) {
    if (!(square > 1e-20)) break;
    turn(residual, diagonal, inverse, factor, direction, product, rowBytes);
    applyEntries(scratch, capacity, source, columns, weights, count, false, 0, 1, direction, product, f);
    const curvature = dot(direction, product, f);
    if (!(curvature > 0)) break;
    const length = square / curvature;
    addScaled(x, direction, length, f);
    if (step == steps) break;
    addScaled(residual, product, -length, f);
    const next = weigh(residual, inverse, rowBytes);
    factor = next / square;
    square = next;
  }
}

export function alsSpectralRows(
  starts: usize, columns: usize, weights: usize, firstRow: u32, endRow: u32, target: usize, source: usize,
  spectrum: usize, f: u32, unobservedWeight: f32, regularizations: usize, steps: u32, scratch: usize, capacity: u32,
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
      columns + first, weights ? weights + first : 0, count, x, source, spectrum, f, unobservedWeight,
      load<f32>(regularizations + at), steps, scratch, capacity,
    );
  }
}
