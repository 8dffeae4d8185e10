// Implicit ALS rows solved by Cholesky, and by block coordinate descent (iALS++, Rendle, Krichene, Zhang, Koren 2021).

import { addProducts } from './gramian';
import { addWeightedRows, choleskySolve, startMatrix } from './cholesky';
import { addScaled, dot } from './vector';
import { gatherRows, multiplyGramian } from './als-conjugate-gradient';

/** Scratch: matrix, f x f | right side, f | 64 scaled rows. */
export function alsCholeskyRows(
  starts: usize, columns: usize, weights: usize, firstRow: u32, endRow: u32, target: usize, source: usize,
  gramian: usize, f: u32, unobservedWeight: f32, regularizations: usize, scratch: usize,
): u32 {
  assert((f & 3) == 0);
  const rowBytes = <usize>f << 2;
  const matrix = scratch;
  const right = matrix + rowBytes * f;
  const block = right + rowBytes;
  let failed: u32 = 0;
  for (let row = firstRow; row < endRow; row++) {
    const at = <usize>row << 2;
    const start = load<u32>(starts + at);
    const count = load<u32>(starts + at, 4) - start;
    const first = <usize>start << 2;
    const x = target + <usize>row * rowBytes;
    startMatrix(gramian, unobservedWeight, load<f32>(regularizations + at), f, matrix);
    addWeightedRows(source, f, columns + first, weights ? weights + first : 0, count, matrix, block);
    memory.fill(right, 0, rowBytes);
    for (let i: usize = first; i < first + (<usize>count << 2); i += 4) {
      addScaled(right, source + <usize>load<u32>(columns + i) * rowBytes, weights ? load<f32>(weights + i) : 1, f);
    }
    if (count == 0) memory.fill(x, 0, rowBytes);
    else if (choleskySolve(matrix, right, f)) memory.copy(x, right, rowBytes);
    else failed++;
  }
  return failed;
}

/** matrix = the block's part of unobservedWeight * gramian + regularization * I, d x d. */
function startBlock(
  gramian: usize, f: u32, offset: u32, d: u32, unobservedWeight: f32, regularization: f32, matrix: usize,
): void {
  const scales = f32x4.splat(unobservedWeight);
  const rowBytes = <usize>f << 2;
  const blockBytes = <usize>d << 2;
  for (let i: usize = 0; i < <usize>d; i++) {
    const from = gramian + (<usize>offset + i) * rowBytes + (<usize>offset << 2);
    const to = matrix + i * blockBytes;
    for (let at: usize = 0; at < blockBytes; at += 16) v128.store(to + at, f32x4.mul(scales, v128.load(from + at)));
    store<f32>(to + (i << 2), load<f32>(to + (i << 2)) + regularization);
  }
}

/** gradient += Σ w (prediction - 1) s and matrix += Σ w s sᵀ over the block's columns of the gathered rows. */
function addEntries(
  gathered: usize, predictions: usize, weights: usize, count: u32, f: u32, offset: u32, d: u32, gradient: usize,
  matrix: usize, block: usize,
): void {
  const blockBytes = <usize>d << 2;
  let filled: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const row = gathered + ((<usize>i * f + offset) << 2);
    const weight: f32 = weights ? load<f32>(weights + (<usize>i << 2)) : 1;
    addScaled(gradient, row, weight * (load<f32>(predictions + (<usize>i << 2)) - 1), d);
    const root = f32x4.splat(sqrt<f32>(weight));
    const to = block + <usize>filled * blockBytes;
    for (let at: usize = 0; at < blockBytes; at += 16) v128.store(to + at, f32x4.mul(root, v128.load(row + at)));
    if (++filled == 64 || i + 1 == count) {
      addProducts(block, filled, d, matrix);
      filled = 0;
    }
  }
}

/**
 * Scratch: gathered rows, capacity x f | predictions, capacity | product, f | gradient, f | matrix, f x f | 64 rows.
 */
export function alsBlockRows(
  starts: usize, columns: usize, weights: usize, firstRow: u32, endRow: u32, target: usize, source: usize,
  gramian: usize, f: u32, unobservedWeight: f32, regularizations: usize, sweeps: u32, scratch: usize, capacity: u32,
  blockSize: u32,
): void {
  assert(((f | blockSize) & 3) == 0 && blockSize > 0);
  const rowBytes = <usize>f << 2;
  const predictions = scratch + <usize>capacity * rowBytes;
  const product = predictions + (<usize>((capacity + 3) & ~3) << 2);
  const gradient = product + rowBytes;
  const matrix = gradient + rowBytes;
  const block = matrix + rowBytes * f;
  for (let row = firstRow; row < endRow; row++) {
    const at = <usize>row << 2;
    const start = load<u32>(starts + at);
    const count = load<u32>(starts + at, 4) - start;
    const x = target + <usize>row * rowBytes;
    if (count == 0) {
      memory.fill(x, 0, rowBytes);
      continue;
    }
    const rowWeights = weights ? weights + (<usize>start << 2) : 0;
    const regularization = load<f32>(regularizations + at);
    assert(count <= capacity);
    gatherRows(source, columns + (<usize>start << 2), count, f, scratch);
    for (let i: u32 = 0; i < count; i++) {
      store<f32>(predictions + (<usize>i << 2), dot(scratch + <usize>i * rowBytes, x, f));
    }
    for (let sweep: u32 = 0; sweep < sweeps; sweep++) {
      for (let offset: u32 = 0; offset < f; offset += blockSize) {
        const d = min<u32>(blockSize, f - offset);
        const part = <usize>offset << 2;
        multiplyGramian(gramian, f, unobservedWeight, regularization, x, product);
        memory.copy(gradient, product + part, <usize>d << 2);
        startBlock(gramian, f, offset, d, unobservedWeight, regularization, matrix);
        addEntries(scratch, predictions, rowWeights, count, f, offset, d, gradient, matrix, block);
        if (!choleskySolve(matrix, gradient, d)) continue;
        addScaled(x + part, gradient, -1, d);
        for (let i: u32 = 0; i < count; i++) {
          const p = predictions + (<usize>i << 2);
          store<f32>(p, load<f32>(p) - dot(scratch + <usize>i * rowBytes + part, gradient, d));
        }
      }
    }
  }
}
