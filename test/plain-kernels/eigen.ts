import type { Kernels } from '../../src/kernel/kernels.ts';
import type { Words } from './words.ts';

const SWEEPS_MAX = 60;
/** A matrix whose squares off the diagonal add up to less than this part of all is taken as diagonal. */
const TINY = 1e-26;

/** One rotation that zeroes a[p][q], applied to the matrix and to the basis (Golub and Van Loan, section 8.5.2). */
function rotate(a: Float64Array, basis: Float64Array, n: number, p: number, q: number): void {
  const off = a[p * n + q]!;
  if (off === 0) return;
  const ratio = (a[q * n + q]! - a[p * n + p]!) / (2 * off);
  const t = (ratio < 0 ? -1 : 1) / (Math.abs(ratio) + Math.hypot(ratio, 1));
  const c = 1 / Math.hypot(t, 1);
  const s = t * c;
  const turn = (values: Float64Array, at: number, other: number) => {
    const x = values[at]!;
    const y = values[other]!;
    values[at] = c * x - s * y;
    values[other] = s * x + c * y;
  };
  for (let k = 0; k < n; k++) turn(a, k * n + p, k * n + q);
  for (let k = 0; k < n; k++) turn(a, p * n + k, q * n + k);
  for (let k = 0; k < n; k++) turn(basis, k * n + p, k * n + q);
}

/** @returns how much of the matrix's squares stands off the diagonal; NaN when it is not finite */
function offDiagonalShare(a: Float64Array, n: number): number {
  let off = 0;
  let all = 0;
  a.forEach((value, at) => {
    all += value * value;
    if (at % (n + 1) !== 0) off += value * value;
  });
  return all === 0 ? 0 : off / all;
}

export function plainEigenKernels({ floats }: Words): Pick<Kernels, 'symmetricEigen' | 'rotateRows'> {
  return {
    symmetricEigen(matrix, f, values, vectors) {
      const a = Float64Array.from(floats.subarray(matrix >>> 2, (matrix >>> 2) + f * f));
      const basis = new Float64Array(f * f);
      for (let i = 0; i < f; i++) basis[i * f + i] = 1;
      for (let sweep = 0; sweep < SWEEPS_MAX; sweep++) {
        const share = offDiagonalShare(a, f);
        if (!Number.isFinite(share)) return 0;
        if (share < TINY) break;
        for (let p = 0; p < f; p++) for (let q = p + 1; q < f; q++) rotate(a, basis, f, p, q);
      }
      for (let i = 0; i < f; i++) floats[(values >>> 2) + i] = Math.max(0, a[i * f + i]!);
      floats.set(basis, vectors >>> 2);
      return 1;
    },
    rotateRows(factors, rows, f, basis) {
      for (let row = factors >>> 2; row < (factors >>> 2) + rows * f; row += f) {
        const out = new Float64Array(f);
        for (let k = 0; k < f; k++) {
          const from = (basis >>> 2) + k * f;
          for (let j = 0; j < f; j++) out[j]! += floats[row + k]! * floats[from + j]!;
        }
        floats.set(out, row);
      }
    },
  };
}
