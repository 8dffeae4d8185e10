/**
 * Similarity of two rows, items by their users or labels and users by their items or labels: with w(x) = max(0.001,
 * ln(N / N_x)) for an element that N_x of N rows have, and c the number of elements in common,
 * score(a, b) = (sum of w over the common) * c / (c + SHRINK) / (sqrt(sum of w over a) * sqrt(sum of w over b)).
 * The same for what a fit compares ahead (`similarity-search.ts`, with `assembly/neighbor-top-k.ts`) and for what is compared when
 * it is asked for.
 */
import type { CompressedMatrix } from '../../dataset/interactions.ts';

/** Shrinks the score of a small overlap: c elements in common count c / (c + SHRINK). */
export const SHRINK = 100;
/** The weight of an element that all rows share, so that it still tells a neighbor from a stranger. */
const WEIGHT_MIN = 1e-3;

/** w(x) = ln(N / N_x) of an element that N_x of N rows have, at least a small positive value. */
export function elementWeight(rowCount: number, rowsWithElement: number): number {
  return Math.max(WEIGHT_MIN, Math.log(rowCount / rowsWithElement));
}

/**
 * The score of two rows.
 * @param weight the sum of w over the elements in common, `count` of them
 * @param own the sum of w over all elements of one row, `theirs` over those of the other
 */
export function similarity(weight: number, count: number, own: number, theirs: number): number {
  return (weight * count) / (count + SHRINK) / (Math.sqrt(own) * Math.sqrt(theirs));
}

/** Weights N_x ^ -elementExponent of elements, and norms (sum of a row's weights) ^ rowExponent. */
export interface Weighting {
  readonly elementExponent: number;
  readonly rowExponent: number;
}

/** Writes the weight of each element that any row has, by how many have it: w(x) = ln(N / N_x), N the population. */
export function placeWeights(
  weights: Float32Array,
  elements: CompressedMatrix,
  population: number,
  weighting?: Weighting,
): void {
  const weightOf = weighting
    ? (count: number) => count ** -weighting.elementExponent
    : (count: number) => elementWeight(population, count);
  for (let element = 0; element < elements.rowCount; element++) {
    const rows = elements.indptr[element + 1]! - elements.indptr[element]!;
    if (rows > 0) weights[element] = weightOf(rows);
  }
}

/** Writes each row's norm: the sum of its weights to an exponent, the root; 1 for a row without elements, which meets no other. */
export function placeNorms(
  norms: Float32Array,
  rows: CompressedMatrix,
  weights: Float32Array,
  weighting?: Weighting,
): void {
  const exponent = weighting?.rowExponent ?? 0.5;
  norms.fill(1);
  for (let row = 0; row < rows.rowCount; row++) {
    let sum = 0;
    for (let at = rows.indptr[row]!; at < rows.indptr[row + 1]!; at++) sum += weights[rows.indices[at]!]!;
    if (sum > 0) norms[row] = exponent === 0.5 ? Math.sqrt(sum) : sum ** exponent;
  }
}
