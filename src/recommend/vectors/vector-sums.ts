import { countBits, hasBit } from '../../memory/bits.ts';
import { TopK } from '../../memory/top-k.ts';
import { productOf } from './packed-numbers.ts';
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
  /** Of their vectors, each at length 1 less the mean of all, and as often as it counts. */
  readonly sum: Float64Array;
  /** The sum's with itself. */
  squares: number;
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
    const { mean } = reader.place;
    this.queries = interests.map(({ sum, weight }) => {
      for (let number = 0; number < sum.length; number++) sum[number]! += weight * mean[number]!;
      const query = ofLengthOne(sum);
      return { packed: reader.pack(query), share: weight / whole, base: productOf(query, mean) };
    });
    this.largest = this.queries[0]?.share ?? 0;
    return this.largest > 0;
  }

  get(row: number): number {
    const out = new Float64Array(1);
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
  const { mean } = reader.place;
  const interests: Interest[] = [];
  const own = new Float64Array(mean.length);
  for (let at = 0; at < Math.min(liked.length, LIKES_MAX); at++) {
    for (let number = 0; number < own.length; number++) own[number] = -mean[number]!;
    if (!reader.addTo(own, liked[at]!)) continue;
    const weight = 2 ** (-at / HALF_LIKES);
    const squares = productOf(own, own);
    const near = interests.map(
      ({ sum, squares: others }) => productOf(own, sum) / Math.sqrt(squares * others || 1),
    );
    let nearest = near.indexOf(Math.max(...near));
    if (nearest < 0 || (near[nearest]! < SAME_INTEREST_MIN && interests.length < QUERIES_MAX))
      nearest = interests.push({ sum: new Float64Array(own.length), squares: 0, weight: 0 }) - 1;
    const interest = interests[nearest]!;
    for (let number = 0; number < own.length; number++) interest.sum[number]! += weight * own[number]!;
    interest.squares = productOf(interest.sum, interest.sum);
    interest.weight += weight;
  }
  return interests.sort((one, other) => other.weight - one.weight);
}

function ofLengthOne(sum: Float64Array): Float32Array {
  const length = Math.sqrt(productOf(sum, sum)) || 1;
  const query = new Float32Array(sum.length);
  for (let number = 0; number < sum.length; number++) query[number] = sum[number]! / length;
  return query;
}
