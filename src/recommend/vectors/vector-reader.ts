import type { Kernels } from '../../kernel/kernels.ts';
import { atOnce } from '../../platform/concurrency/event-loop-turns.ts';
import { packQuery } from './packed-numbers.ts';
import { searchedBytes } from './probe-lists.ts';
import { scanTable } from './scan-table.ts';
import { layoutOf, scratchAt, type TableLayout, type TablePlace } from './vector-table.ts';

/** A query as it is packed. */
interface Packed {
  readonly numbers: Float32Array;
  readonly words: Int16Array;
  readonly scale: number;
}

/** One thread's view of a vector space: finds nearest neighbors by cosine. */
export class VectorReader {
  readonly place: TablePlace;
  private readonly kernels: Kernels;
  private readonly scratch: number;
  private readonly layout: TableLayout;
  /** All of the memory: to make an array of a part takes longer than to read it. */
  private bytesSeen: Int8Array<ArrayBufferLike> = new Int8Array(0);

  /** Bytes of records up to which this thread searches the table. */
  private readonly searchedBytes: number;

  /**
   * @param kernels over the table's memory
   * @param scratch which region is this thread's
   * @param searchedBytes see there
   */
  constructor(
    place: TablePlace,
    kernels: Kernels,
    scratch: number,
    searchedBytes = Number.POSITIVE_INFINITY,
  ) {
    this.searchedBytes = searchedBytes;
    this.place = place;
    this.kernels = kernels;
    this.scratch = scratch;
    this.layout = layoutOf(place);
  }

  /** Bytes of records that a search looks at. */
  get bytes(): number {
    return searchedBytes(this.place);
  }

  /** Adds the vector of an item, at length 1, so many times. @returns false for an item without */
  addTo(sum: Float64Array, row: number, times = 1): boolean {
    const at = this.offsetOf(row);
    if (at === undefined) return false;
    const { memory, dimensions } = this.place;
    // The memory may have grown.
    if (at + this.layout.recordBytes > this.bytesSeen.length) this.bytesSeen = new Int8Array(memory.buffer);
    const bytes = this.bytesSeen;
    const [scale] = new Float32Array(bytes.buffer, at + this.layout.length, 1);
    for (let number = 0; number < dimensions; number++) sum[number]! += times * scale! * bytes[at + number]!;
    return true;
  }

  pack(query: Float32Array): Packed {
    const words = new Int16Array(this.layout.length);
    return { numbers: query, words, scale: packQuery(query, words) };
  }

  /**
   * The cosines of items with each of at most `QUERIES_MAX` queries of length 1.
   * @param visit takes the place of the item among `rows`, that of the query, and the cosine; not for items without a vector
   */
  cosines(
    queries: readonly Packed[],
    rows: ArrayLike<number>,
    visit: (at: number, query: number, cosine: number) => void,
  ): void {
    const { length } = this.layout;
    const { buffer } = this.place.memory;
    const { queries: first, outPlaces, outScores } = scratchAt(length, this.scratch);
    for (const [number, { words }] of queries.entries())
      new Int16Array(buffer, first + number * 2 * length, length).set(words);
    const score = new Float32Array(buffer, outScores, 1);
    const threshold = Number.NEGATIVE_INFINITY;
    for (let at = 0; at < rows.length; at++) {
      const records = this.offsetOf(rows[at]!);
      if (records === undefined) continue;
      for (let number = 0; number < queries.length; number++) {
        const query = first + number * 2 * length;
        const queryScale = queries[number]!.scale;
        // Written out: an object that is spread from another costs more than the comparison.
        const job = { records, count: 1, length, query, queryScale, threshold, outPlaces, outScores };
        this.kernels.scanBytes(job);
        visit(at, number, score[0]!);
      }
    }
  }

  /**
   * The rows whose vectors are nearest a query, at most k, best first; none in a table that is too large for this thread.
   * @param passing share of the rows that may be found, about
   */
  nearest(
    { numbers }: Packed,
    k: number,
    accept: (row: number) => boolean,
    passing: number,
  ): readonly number[] {
    const { place, kernels, scratch } = this;
    if (searchedBytes(place, passing) > this.searchedBytes) return [];
    return atOnce(scanTable(place, kernels, { query: numbers, k, accept, passing, scratch })).rows;
  }

  private offsetOf(row: number): number | undefined {
    const place = this.place.places[row] ?? 0;
    return place === 0 ? undefined : this.layout.records + (place - 1) * this.layout.recordBytes;
  }
}
