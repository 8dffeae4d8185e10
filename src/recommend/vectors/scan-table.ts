import type { Kernels } from '../../kernel/kernels.ts';
import { hasBit } from '../../memory/bits.ts';
import type { Ranked } from '../../memory/ranked-rows.ts';
import { TopK } from '../../memory/top-k.ts';
import { packQuery } from './packed-numbers.ts';
import { BLOCK_RECORDS, layoutOf, NO_ROW, scratchAt, type TablePlace } from './vector-table.ts';

/** One search through all vectors of a space. */
export interface TableQuery {
  readonly query: Float32Array;
  /** Vectors wanted, 1 or more. */
  readonly k: number;
  /** Bits of the rows that may be found. */
  readonly allowed: Uint32Array;
  /** Which scratch region is this thread's. */
  readonly scratch: number;
}

/**
 * The rows whose packed vectors score best, at most k, with their scores by bytes; pauses after each block. Their order is
 * nearly that of the vectors as they were given, so that who wants those takes some more and compares again.
 * @param kernels over the table's memory
 */
export function* scanTable(
  { memory, dimensions, count }: TablePlace,
  kernels: Kernels,
  { query, k, allowed, scratch }: TableQuery,
): Generator<undefined, Ranked> {
  const { length, recordBytes, records } = layoutOf(dimensions);
  const places = scratchAt(length, scratch);
  const { buffer } = memory;
  const words = new Int16Array(buffer, places.query, length);
  const packed = new Int16Array(length);
  const queryScale = packQuery(query, packed);
  const outPlaces = new Uint32Array(buffer, places.outPlaces, BLOCK_RECORDS);
  const outScores = new Float32Array(buffer, places.outScores, BLOCK_RECORDS);
  const rows = new Uint32Array(buffer);
  const best = new TopK(k);
  for (let first = 0; first < count; first += BLOCK_RECORDS) {
    // Others search with the same region between two blocks.
    words.set(packed);
    const block = records + first * recordBytes;
    const blockCount = Math.min(BLOCK_RECORDS, count - first);
    const job = { ...places, length, queryScale, records: block, count: blockCount };
    // Of equal scores the lower row stands first, wherever its record is: those of the least score are looked at, too.
    const found = kernels.scanBytes({ ...job, threshold: below(best.scoreMin) });
    for (let at = 0; at < found; at++) {
      const row = rows[(block + outPlaces[at]! * recordBytes + length + 8) >>> 2]!;
      if (row !== NO_ROW && hasBit(allowed, row) && Number.isFinite(outScores[at]!))
        best.push(row, outScores[at]!);
    }
    yield;
  }
  return best.sorted();
}

/** The least number of 32 bits above 0. */
const LEAST = 2 ** -149;

/** A number of 32 bits below that score, or -Infinity. */
function below(score: number): number {
  return Math.fround(score - Math.abs(score) * 2 ** -22 - LEAST);
}
