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

/**
 * The similarity of two vectors, in float64: the cosine, the inner product, or 1 / (1 + d²) for a distance of d; 0 for the
 * cosine of zeros.
 */
export function similarityOf(a: Float32Array, b: Float32Array, similarity: Similarity): number {
  if (similarity === 'dot') return productOf(a, b);
  if (similarity === 'euclidean') {
    let apart = 0;
    for (let at = 0; at < a.length; at++) apart += (a[at]! - b[at]!) ** 2;
    return 1 / (1 + apart);
  }
  const [squaresA, squaresB] = [productOf(a, a), productOf(b, b)];
  return squaresA * squaresB === 0 ? 0 : productOf(a, b) / Math.sqrt(squaresA) / Math.sqrt(squaresB);
}

/** In four sums at once: each addition of one alone would wait for the one before. */
function productOf(a: Float32Array, b: Float32Array): number {
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
