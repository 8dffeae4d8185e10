import type { Timeline } from './timeline.ts';

/** Items that are looked at: the most liked of late. The work grows with their cube. */
const ITEMS_MAX = 1500;
const REGULARIZATION = 500;

/**
 * The linear model in closed form (Steck 2019) over the most liked items: with P the inverse of G + 500 I, where G counts the
 * people who like two items, item j scores minus the sum of P_ij over the liked items i, divided by P_jj.
 */
export class Ease {
  /** The place of each item among those looked at; -1 for any other. */
  private readonly placeOf: Int32Array;
  private readonly items: readonly number[];
  /** The inverse of the Cholesky factor of G + 500 I, lower triangle by rows. */
  private readonly inverse: Float64Array;
  /** P_jj. */
  private readonly diagonal: Float64Array;

  /**
   * Learns from the likes before an index.
   * @param popularity of each item, by which those looked at are chosen; minus infinity for one without likes
   */
  constructor(timeline: Timeline, popularity: Float64Array, before: number) {
    const liked = Array.from(popularity.keys()).filter(
      (item) => popularity[item]! > Number.NEGATIVE_INFINITY,
    );
    this.items = liked.sort((a, b) => popularity[b]! - popularity[a]! || a - b).slice(0, ITEMS_MAX);
    this.placeOf = new Int32Array(popularity.length).fill(-1);
    this.items.forEach((item, place) => {
      this.placeOf[item] = place;
    });
    const factor = this.countPairs(timeline, before);
    factorize(factor, this.items.length);
    this.inverse = invertLower(factor, this.items.length);
    this.diagonal = columnSquares(this.inverse, this.items.length);
  }

  /** Writes what the likes speak for; minus infinity for an item that is not looked at. */
  score(items: Iterable<number>, scores: Float64Array): void {
    const { inverse, diagonal, placeOf } = this;
    const n = this.items.length;
    const [half, sums] = [new Float64Array(n), new Float64Array(n)];
    for (const item of items) {
      const place = placeOf[item]!;
      for (let row = place; place >= 0 && row < n; row++) half[row]! += inverse[row * n + place]!;
    }
    for (let row = 0; row < n; row++) {
      const weight = half[row]!;
      if (weight !== 0) for (let at = 0; at <= row; at++) sums[at]! += weight * inverse[row * n + at]!;
    }
    scores.fill(Number.NEGATIVE_INFINITY);
    this.items.forEach((item, place) => {
      scores[item] = -sums[place]! / diagonal[place]!;
    });
  }

  private countPairs(timeline: Timeline, before: number): Float64Array {
    const n = this.items.length;
    const matrix = new Float64Array(n * n);
    for (let user = 0; user < timeline.past.userIds.length; user++) {
      const likes = timeline.likesOf(user, before);
      const places = Array.from(likes, (at) => this.placeOf[timeline.itemRows[at]!]!).filter((at) => at >= 0);
      for (const one of places) for (const other of places) matrix[one * n + other]!++;
    }
    for (let at = 0; at < n; at++) matrix[at * n + at]! += REGULARIZATION;
    return matrix;
  }
}

/** Puts the Cholesky factor in the place of the lower triangle. */
function factorize(matrix: Float64Array, n: number): void {
  for (let row = 0; row < n; row++) {
    for (let column = 0; column <= row; column++) {
      const rest = matrix[row * n + column]! - dot(matrix, row * n, column * n, column);
      matrix[row * n + column] = row === column ? Math.sqrt(rest) : rest / matrix[column * n + column]!;
    }
  }
}

/** The product of the beginnings of two rows, in four sums that the processor adds side by side. */
function dot(matrix: Float64Array, one: number, other: number, length: number): number {
  let [a, b, c, d] = [0, 0, 0, 0];
  let at = 0;
  for (; at + 3 < length; at += 4) {
    a += matrix[one + at]! * matrix[other + at]!;
    b += matrix[one + at + 1]! * matrix[other + at + 1]!;
    c += matrix[one + at + 2]! * matrix[other + at + 2]!;
    d += matrix[one + at + 3]! * matrix[other + at + 3]!;
  }
  for (; at < length; at++) a += matrix[one + at]! * matrix[other + at]!;
  return a + b + c + d;
}

function invertLower(lower: Float64Array, n: number): Float64Array {
  const inverse = new Float64Array(n * n);
  for (let row = 0; row < n; row++) {
    const target = inverse.subarray(row * n, row * n + n);
    target[row] = 1;
    for (let other = 0; other < row; other++) {
      const weight = lower[row * n + other]!;
      if (weight !== 0) subtractRow(target, inverse, other * n, weight, other + 1);
    }
    const scale = 1 / lower[row * n + row]!;
    for (let column = 0; column <= row; column++) target[column]! *= scale;
  }
  return inverse;
}

function subtractRow(
  target: Float64Array,
  matrix: Float64Array,
  start: number,
  weight: number,
  length: number,
): void {
  for (let at = 0; at < length; at++) target[at]! -= weight * matrix[start + at]!;
}

function columnSquares(lower: Float64Array, n: number): Float64Array {
  const sums = new Float64Array(n);
  for (let row = 0; row < n; row++)
    for (let column = 0; column <= row; column++) sums[column]! += lower[row * n + column]! ** 2;
  return sums;
}
