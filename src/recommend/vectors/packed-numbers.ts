import type { Similarity } from '../../domain/vector-space.ts';

const BYTE_MAX = 127;
const WORD_MAX = 32_767;

/** A record of a vector as `scanBytes` reads it. */
export interface PackedVector {
  readonly scale: number;
  readonly offset: number;
}

/**
 * Writes a vector as bytes, each number a multiple of a 127th of the largest.
 * @param bytes as long as the vector
 * @returns the scale and the offset by which sums with these bytes are scores that order vectors by the similarity
 */
export function packVector(vector: Float32Array, similarity: Similarity, bytes: Int8Array): PackedVector {
  const { largest, squares } = sizesOf(vector);
  const unit = largest / BYTE_MAX;
  for (let at = 0; at < vector.length; at++) bytes[at] = unit === 0 ? 0 : Math.round(vector[at]! / unit);
  if (similarity === 'cosine') return { scale: squares === 0 ? 0 : unit / Math.sqrt(squares), offset: 0 };
  // The order by -|q - v|² is that by 2 qv - |v|².
  return similarity === 'dot' ? { scale: unit, offset: 0 } : { scale: 2 * unit, offset: -squares };
}

/**
 * Writes a query as words of 16 bits.
 * @param words as long as a record's numbers; those behind the query are 0
 * @returns what the sums are multiplied by beside the scale of a record
 */
export function packQuery(query: Float32Array, words: Int16Array): number {
  const { largest } = sizesOf(query);
  const most = Math.min(WORD_MAX, Math.floor(2 ** 31 / (BYTE_MAX * words.length)) - 1);
  const unit = largest / most;
  words.fill(0);
  for (let at = 0; at < query.length; at++) words[at] = unit === 0 ? 0 : Math.round(query[at]! / unit);
  return unit;
}

/** In float64, so that no square of a number of 32 bits overflows or vanishes. */
function sizesOf(numbers: Float32Array): { readonly largest: number; readonly squares: number } {
  let largest = 0;
  let squares = 0;
  for (const number of numbers) {
    largest = Math.max(largest, Math.abs(number));
    squares += number * number;
  }
  return { largest, squares };
}

/** Compares vectors with one, in float64: by their numbers, and about, by what they score by bytes. */
export function comparisonWith(query: Float32Array, similarity: Similarity) {
  const squares = productOf(query, query);
  const length = Math.sqrt(squares);
  /** The cosine, the inner product, or 1 / (1 + d²) for a distance of d; 0 for the cosine of zeros. */
  const byNumbers = (vector: Float32Array) => {
    if (similarity === 'dot') return productOf(query, vector);
    if (similarity === 'euclidean')
      return 1 / (1 + vector.reduce((sum, number, at) => sum + (query[at]! - number) ** 2, 0));
    const others = productOf(vector, vector);
    return squares * others === 0 ? 0 : productOf(query, vector) / length / Math.sqrt(others);
  };
  const byScore = (score: number) => {
    if (similarity === 'dot') return score;
    return similarity === 'cosine' ? score / length : 1 / (1 + Math.max(0, squares - score));
  };
  return { byNumbers, byScore };
}

/** In four sums at once: each addition of one alone would wait for the one before. */
export function productOf<T extends Float32Array | Float64Array>(a: T, b: T): number {
  let [one, two, three, four] = [0, 0, 0, 0];
  const whole = a.length & ~3;
  for (let at = 0; at < whole; at += 4) {
    one += a[at]! * b[at]!;
    two += a[at + 1]! * b[at + 1]!;
    three += a[at + 2]! * b[at + 2]!;
    four += a[at + 3]! * b[at + 3]!;
  }
  for (let at = whole; at < a.length; at++) one += a[at]! * b[at]!;
  return one + two + (three + four);
}
