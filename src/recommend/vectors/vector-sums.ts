import { countBits, hasBit } from '../../memory/bits.ts';
import { TopK } from '../../memory/top-k.ts';
import type { VectorReader } from './vector-reader.ts';
import { QUERIES_MAX } from './vector-table.ts';

/** The latest likes that count, and after how many a like counts half. */
const LIKES_MAX = 50;
const HALF_LIKES = 10;
/** A like nearer an interest than this is part of it: the cosine of vectors less their mean. */
const SAME_INTEREST_MIN = 0.4;
/** Exponent by which nearer items count more. */
const SHARPNESS = 4;
/** Where all vectors are alike none is nearer than others. */
const LEAST_RANGE = 1e-3;
/** Beyond so many bytes a space is searched for the strongest interest alone. */
const SEARCHED_BYTES = 4 * 2 ** 20;

/** Likes that are alike. */
interface Interest {
  /** Of their vectors, each at length 1 and as often as it counts. */
  readonly sum: Float64Array;
  weight: number;
}

/** An interest as items are compared with it. */
interface Query {
  readonly packed: ReturnType<VectorReader['pack']>;
  /** Share of all that counts. */
  readonly share: number;
  /** Cosine of the query with the mean of all vectors: nearer than that speaks for an item. */
  readonly base: number;
}

/**
 * Sums over a user's likes by vectors: how near an item is to what the user likes, in up to five interests where likes differ,
 * as in Pal and others 2020, "PinnerSage: Multi-modal user embedding framework". An item farther from all than the mean of all
 * items has none.
 */
export class VectorSums {
  /** The score of an item that is the strongest interest itself. */
  largest = 0;
  private reader: VectorReader | undefined;
  private queries: readonly Query[] = [];

  /**
   * Sums up for a user.
   * @param liked item rows, the latest first
   * @returns false where no like has a vector
   */
  sumUp(reader: VectorReader, liked: readonly number[]): boolean {
    const interests = interestsOf(reader, liked);
    const whole = interests.reduce((sum, { weight }) => sum + weight, 0);
    this.reader = reader;
    this.queries = interests.map(({ sum, weight }) => {
      const query = ofLengthOne(sum);
      return { packed: reader.pack(query), share: weight / whole, base: product(query, reader.place.mean) };
    });
    this.largest = this.queries[0]?.share ?? 0;
    return this.largest > 0;
  }

  get(row: number): number {
    const [out] = [new Float64Array(1)];
    this.copy([row], out);
    return out[0]!;
  }

  copy(rows: ArrayLike<number>, out: Float64Array): void {
    const { queries, reader } = this;
    out.fill(0, 0, rows.length);
    const packed = queries.map((query) => query.packed);
    reader?.cosines(packed, rows, (at, number, cosine) => {
      const { share, base } = queries[number]!;
      const near = (cosine - base) / Math.max(1 - base, LEAST_RANGE);
      if (near > 0) out[at]! += share * near ** SHARPNESS;
    });
  }

  /** The rows with the largest sums that pass, at most k, in no order, out of those nearest each interest. */
  topRows(
    k: number,
    { allowed }: { readonly allowed?: Uint32Array | undefined },
    accept: (row: number) => boolean,
  ): Uint32Array {
    const { reader } = this;
    if (reader === undefined) return new Uint32Array(0);
    const passes = (row: number) => (allowed === undefined || hasBit(allowed, row)) && accept(row);
    const rows = new Set<number>();
    const passing =
      allowed === undefined ? 1 : Math.min(1, countBits(allowed) / Math.max(1, reader.place.size));
    const searched = reader.bytes > SEARCHED_BYTES ? this.queries.slice(0, 1) : this.queries;
    for (const { packed } of searched)
      for (const row of reader.nearest(packed, k, passes, passing)) rows.add(row);
    const found = [...rows];
    const sums = new Float64Array(found.length);
    this.copy(found, sums);
    const best = new TopK(k);
    for (const [at, row] of found.entries()) if (sums[at]! > 0) best.push(row, sums[at]!);
    return best.rows();
  }
}

/** The strongest first. */
function interestsOf(reader: VectorReader, liked: readonly number[]): Interest[] {
  const { dimensions, mean } = reader.place;
  const interests: Interest[] = [];
  for (let at = 0; at < Math.min(liked.length, LIKES_MAX); at++) {
    const own = new Float64Array(dimensions);
    if (!reader.addTo(own, liked[at]!)) continue;
    const weight = 2 ** (-at / HALF_LIKES);
    const near = interests.map((interest) => cosineLess(own, interest, mean));
    const nearest = near.indexOf(Math.max(...near));
    if (nearest >= 0 && (near[nearest]! >= SAME_INTEREST_MIN || interests.length === QUERIES_MAX)) {
      const interest = interests[nearest]!;
      for (let number = 0; number < dimensions; number++) interest.sum[number]! += weight * own[number]!;
      interest.weight += weight;
    } else {
      interests.push({ sum: own.map((number) => weight * number), weight });
    }
  }
  return interests.sort((one, other) => other.weight - one.weight);
}

/** The cosine of a vector with the mean of an interest, both less the mean of all. */
function cosineLess(own: Float64Array, { sum, weight }: Interest, mean: Float32Array): number {
  let both = 0;
  let ownSquares = 0;
  let otherSquares = 0;
  for (let at = 0; at < own.length; at++) {
    const [x, y] = [own[at]! - mean[at]!, sum[at]! / weight - mean[at]!];
    both += x * y;
    ownSquares += x * x;
    otherSquares += y * y;
  }
  return both / Math.sqrt(ownSquares * otherSquares || 1);
}

function ofLengthOne(sum: Float64Array): Float32Array {
  const length = Math.sqrt(sum.reduce((squares, number) => squares + number * number, 0)) || 1;
  return Float32Array.from(sum, (number) => number / length);
}

function product(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, number, at) => sum + number * other[at]!, 0);
}
