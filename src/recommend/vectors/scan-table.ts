import type { Kernels } from '../../kernel/kernels.ts';
import type { Ranked } from '../../memory/ranked-rows.ts';
import { TopK } from '../../memory/top-k.ts';
import { packQuery } from './packed-numbers.ts';
import { probedRanges, type Range } from './probe-lists.ts';
import { BLOCK_RECORDS, layoutOf, NO_ROW, scratchAt, type TablePlace } from './vector-table.ts';

/** One search through all vectors of a space. */
export interface TableQuery {
  readonly query: Float32Array;
  /** Vectors wanted, 1 or more. */
  readonly k: number;
  /** The rows that may be found. */
  readonly accept: (row: number) => boolean;
  /** Share of the rows that may be found, about; all when absent. */
  readonly passing?: number;
  /** Which scratch region is this thread's. */
  readonly scratch: number;
}

/**
 * The rows whose packed vectors score best, at most k, with their scores by bytes; pauses after each block. In a table with
 * lists those in the lists that are nearest: of the best some may be missing. Their order is
 * nearly that of the vectors as they were given, so that who wants those takes some more and compares again.
 * @param kernels over the table's memory
 */
export function* scanTable(
  place: TablePlace,
  kernels: Kernels,
  { query, k, accept, passing = 1, scratch }: TableQuery,
): Generator<undefined, Ranked> {
  const { length, recordBytes, records } = layoutOf(place);
  const region = scratchAt(length, scratch);
  const { queries: queryAt, outPlaces, outScores } = region;
  const { buffer } = place.memory;
  const words = new Int16Array(buffer, queryAt, length);
  const packed = new Int16Array(length);
  const queryScale = packQuery(query, packed);
  const foundPlaces = new Uint32Array(buffer, outPlaces, BLOCK_RECORDS);
  const foundScores = new Float32Array(buffer, outScores, BLOCK_RECORDS);
  const rows = new Uint32Array(buffer);
  const best = new TopK(k);
  words.set(packed);
  const ranges = probedRanges(place, kernels, region, queryScale, passing);
  for (const [first, count] of blocksOf(ranges)) {
    // Others search with the same region between two blocks.
    words.set(packed);
    const block = records + first * recordBytes;
    // Of equal scores the lower row stands first, wherever its record is: those of the least score are looked at, too.
    const threshold = below(best.scoreMin);
    const job = {
      records: block,
      count,
      length,
      query: queryAt,
      queryScale,
      threshold,
      outPlaces,
      outScores,
    };
    const found = kernels.scanBytes(job);
    for (let at = 0; at < found; at++) {
      const row = rows[(block + foundPlaces[at]! * recordBytes + length + 8) >>> 2]!;
      const score = foundScores[at]!;
      if (row !== NO_ROW && best.takes(row, score) && Number.isFinite(score) && accept(row))
        best.push(row, score);
    }
    yield;
  }
  return best.sorted();
}

/** The records of ranges, some at a time: a place and how many from there on. */
function* blocksOf(ranges: readonly Range[]): Generator<readonly [first: number, count: number]> {
  for (const [from, end] of ranges)
    for (let first = from; first < end; first += BLOCK_RECORDS)
      yield [first, Math.min(BLOCK_RECORDS, end - first)];
}

/** The least number of 32 bits above 0. */
const LEAST = 2 ** -149;

/** A number of 32 bits below that score, or -Infinity. */
function below(score: number): number {
  return Math.fround(score - Math.abs(score) * 2 ** -22 - LEAST);
}
