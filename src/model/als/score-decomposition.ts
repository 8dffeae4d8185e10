import { paddedFactors } from '../../kernel/scratch-sizes.ts';
import { viewOf } from '../../memory/memory-layout.ts';
import { solveSymmetric } from '../regression/logistic-regression.ts';
import type { PlacedModel } from './mf-scorer.ts';
import { rowRegularization } from './row-regularization.ts';

/** A predicted score as the sum of what each of the user's items adds to it. */
export interface ScoreDecomposition {
  readonly score: number;
  /** One for each item that the model knows, in the order given; they add up to `score`. */
  readonly parts: readonly { readonly itemRow: number; readonly score: number }[];
}

/**
 * Decomposes the score of an item for a user who is folded in from `likedItemRows` (Hu, Koren, Volinsky 2008,
 * section 5): with the user's vector x = A^-1 sum of y_i, the score y_t x is the sum of y_t A^-1 y_i, where
 * A = unobservedWeight * Gramian + sum of y_i y_i^T + regularization * I.
 * Cost: f^3 / 3 + likes * f^2 operations, in plain numbers of 64 bits; pauses at each of the likes, twice.
 * @returns undefined when the model knows neither the item nor any of the user's
 */
export function* decomposeScore(
  placed: PlacedModel,
  likedItemRows: readonly number[],
  targetRow: number,
): Generator<undefined, ScoreDecomposition | undefined> {
  const { header, memory, layout } = placed;
  const f = paddedFactors(header.factors);
  const rows = [...new Set(likedItemRows)].filter((row) => row < header.itemCount);
  if (rows.length === 0 || targetRow >= header.itemCount) return undefined;
  const factors = viewOf(memory, layout, 'itemFactors', 'f32');
  const vectorOf = (row: number) => Float64Array.from(factors.subarray(row * f, (row + 1) * f));
  const { unobservedWeight, trainedItems = header.itemCount } = header;
  const matrix = Float64Array.from(
    viewOf(memory, layout, 'gramian', 'f32'),
    (value) => value * unobservedWeight,
  );
  const diagonal = rowRegularization(header, rows.length, trainedItems);
  for (let at = 0; at < f; at++) matrix[at * f + at]! += diagonal;
  for (const row of rows) {
    addOuterProduct(matrix, vectorOf(row));
    yield;
  }
  const pull = solveSymmetric(matrix, vectorOf(targetRow));
  const parts: { itemRow: number; score: number }[] = [];
  let score = 0;
  for (const itemRow of rows) {
    yield;
    const part = dot(pull, factors, itemRow * f);
    parts.push({ itemRow, score: part });
    score += part;
  }
  return { score, parts };
}

/** A += v v^T, both triangles. */
function addOuterProduct(matrix: Float64Array, vector: Float64Array): void {
  const f = vector.length;
  for (let row = 0; row < f; row++) {
    for (let column = 0; column < f; column++) matrix[row * f + column]! += vector[row]! * vector[column]!;
  }
}

/** The inner product with as many numbers of `b` from `from` on. */
function dot(a: Float64Array, b: Float32Array, from: number): number {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += a[at]! * b[from + at]!;
  return sum;
}
