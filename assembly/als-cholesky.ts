// Implicit ALS rows solved exactly by Cholesky.

import { choleskySolve } from './cholesky';
import { addWeightedRows, startMatrix } from './normal-matrix';
import { addScaled } from './vector';

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
