/**
 * Solves the half of a user who has no feature of its own, or whose feedback has changed, from the items that it likes:
 * the most likely vector and weight of its one-hot feature with all else fixed, by Newton's method on the logistic
 * loss. The liked items stand against the background items as positives against negatives in the training, and the
 * prior is what the trained users look like (normal around the average user, with their variance).
 */
import type { FmSide } from './sides.ts';

/** Newton steps; more change nothing that shows. */
const STEPS = 3;

/** What holds for every fold-in of a model. */
export interface FoldInTerms {
  /** Rows of items as drawn for negatives. */
  readonly background: readonly number[];
  /** Negatives for each positive. */
  readonly negativesWeight: number;
  /** One over the variance of the trained users' vectors, and of their weights. */
  readonly vectorPrecision: number;
  readonly weightPrecision: number;
}

/** The items' halves: `width` numbers a row, the vector first, then the constant. */
export interface ItemHalves {
  readonly halves: Float32Array;
  readonly width: number;
}

/**
 * @param user the half without the feature that is solved
 * @param likedRows distinct rows of known items, at least one
 */
export function foldInSide(
  user: FmSide,
  likedRows: readonly number[],
  items: ItemHalves,
  terms: FoldInTerms,
): FmSide {
  const factors = user.vector.length;
  const size = factors + 1;
  const liked = new Set(likedRows);
  const others = terms.background.filter((row) => !liked.has(row));
  const otherWeight = (terms.negativesWeight * likedRows.length) / Math.max(1, others.length);
  const found = new Float64Array(size);
  const gradient = new Float64Array(size);
  const hessian = new Float64Array(size * size);
  for (let step = 0; step < STEPS; step++) {
    for (let k = 0; k < size; k++) {
      const precision = k < factors ? terms.vectorPrecision : terms.weightPrecision;
      gradient[k] = precision * found[k]!;
      hessian.fill(0, k * size, (k + 1) * size);
      hessian[k * size + k] = precision;
    }
    for (const row of likedRows) addRow(user, found, items, row, 1, 1, gradient, hessian);
    for (const row of others) addRow(user, found, items, row, 0, otherWeight, gradient, hessian);
    solve(hessian, gradient, size);
    for (let k = 0; k < size; k++) found[k]! -= gradient[k]!;
  }
  return {
    constant: user.constant + found[factors]!,
    vector: user.vector.map((value, k) => value + found[k]!),
  };
}

/** Adds one item's part of the gradient and of the lower triangle of the Hessian. */
function addRow(
  user: FmSide,
  found: Float64Array,
  { halves, width }: ItemHalves,
  row: number,
  target: number,
  weight: number,
  gradient: Float64Array,
  hessian: Float64Array,
): void {
  const factors = user.vector.length;
  const at = row * width;
  let logit = user.constant + halves[at + factors]! + found[factors]!;
  for (let k = 0; k < factors; k++) logit += (user.vector[k]! + found[k]!) * halves[at + k]!;
  const probability = 1 / (1 + Math.exp(-logit));
  const slope = weight * (probability - target);
  const curvature = weight * probability * (1 - probability);
  for (let a = 0; a <= factors; a++) {
    const xa = a < factors ? halves[at + a]! : 1;
    gradient[a]! += slope * xa;
    const bent = curvature * xa;
    // The last column of the lower triangle is the weight's own.
    for (let b = 0; b <= a && b < factors; b++) hessian[a * (factors + 1) + b]! += bent * halves[at + b]!;
  }
  hessian[factors * (factors + 1) + factors]! += curvature;
}

/** Solves A x = b in place by Cholesky; A is positive definite, its lower triangle is read and overwritten. */
function solve(a: Float64Array, b: Float64Array, size: number): void {
  for (let row = 0; row < size; row++) {
    let sum = b[row]!;
    for (let column = 0; column <= row; column++) {
      let value = a[row * size + column]!;
      for (let k = 0; k < column; k++) value -= a[row * size + k]! * a[column * size + k]!;
      a[row * size + column] = column === row ? Math.sqrt(value) : value / a[column * size + column]!;
      if (column < row) sum -= a[row * size + column]! * b[column]!;
    }
    b[row] = sum / a[row * size + row]!;
  }
  for (let row = size - 1; row >= 0; row--) {
    let sum = b[row]!;
    for (let k = row + 1; k < size; k++) sum -= a[k * size + row]! * b[k]!;
    b[row] = sum / a[row * size + row]!;
  }
}
