import type { Kernels } from '../../kernel/kernels.ts';
import { BLOCK_RECORDS, layoutOf, type scratchAt, type TablePlace } from './vector-table.ts';

/** From this share on all are looked at, one after the other. */
const ALL_SHARE = 1 / 2;

/** Records from one place up to another. */
export type Range = readonly [from: number, end: number];

/** Share of a table's records that a search looks at. @param passing share of the rows that may be found */
export function probedShare({ share }: TablePlace, passing = 1): number {
  const wanted = share / Math.max(passing, share);
  return wanted >= ALL_SHARE ? 1 : wanted;
}

/** Bytes of records that a search looks at. @param passing share of the rows that may be found */
export function searchedBytes(place: TablePlace, passing = 1): number {
  const { starts, count } = place;
  const end = starts?.at(-1) ?? count;
  return (probedShare(place, passing) * end + count - end) * layoutOf(place).recordBytes;
}

/**
 * The records that a search looks at: all, or the lists whose centers are nearest the query, and those behind the lists that
 * came later. Where few rows may be found more lists are looked at.
 * @param scratch with the query packed in its first place
 */
export function probedRanges(
  place: TablePlace,
  kernels: Kernels,
  scratch: ReturnType<typeof scratchAt>,
  queryScale: number,
  passing: number,
): Range[] {
  const { starts, count } = place;
  const share = probedShare(place, passing);
  if (starts === undefined || share === 1) return [[0, count]];
  const [first, end] = [starts[0]!, starts[starts.length - 1]!];
  const order = listsByNearness(place, kernels, scratch, queryScale);
  const ranges: Range[] = [];
  let left = Math.ceil(share * (end - first));
  for (let at = 0; at < order.length && left > 0; at++) {
    const list = order[at]!;
    ranges.push([starts[list]!, starts[list + 1]!]);
    left -= starts[list + 1]! - starts[list]!;
  }
  return [...ranges, [end, count]];
}

/** The lists, that whose center is nearest the query first. @param scratch with the query packed in its first place */
export function listsByNearness(
  place: TablePlace,
  kernels: Kernels,
  { queries, ...out }: ReturnType<typeof scratchAt>,
  queryScale: number,
): number[] {
  const { length, records, recordBytes } = layoutOf(place);
  const scores = new Float32Array(place.starts!.length - 1);
  const threshold = Number.NEGATIVE_INFINITY;
  for (let first = 0; first < scores.length; first += BLOCK_RECORDS) {
    const count = Math.min(BLOCK_RECORDS, scores.length - first);
    const block = { records: records + first * recordBytes, count, length };
    kernels.scanBytes({ ...out, ...block, query: queries, queryScale, threshold });
    scores.set(new Float32Array(place.memory.buffer, out.outScores, count), first);
  }
  return Array.from(scores.keys()).sort((one, other) => scores[other]! - scores[one]! || one - other);
}
