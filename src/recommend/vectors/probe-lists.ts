import type { Kernels } from '../../kernel/kernels.ts';
import { TopK } from '../../memory/top-k.ts';
import { BLOCK_RECORDS, layoutOf, type scratchAt, type TablePlace } from './vector-table.ts';

/** From this share on all are looked at, one after the other. */
const ALL_SHARE = 1 / 2;
/** More than twice, for farther ones lie among other topics. */
const BEYOND = 2.5;

/** Lists of which the centers are kept in order at first, for each that a search is thought to look at. */
const SPARE = 2;

/** Records from one place up to another. */
export type Range = readonly [from: number, end: number];

/**
 * Share of a table's records that a search looks at, beyond those that were measured `BEYOND` times as much for half as many.
 * @param passing share of the rows that may be found
 */
export function probedShare({ shares }: TablePlace, passing = 1): number {
  const last = shares.length - 1;
  const halvings = -Math.log2(Math.min(1, Math.max(passing, Number.MIN_VALUE)));
  const at = Math.min(Math.floor(halvings), last);
  const [share, next] = [shares[at]!, shares[at + 1] ?? 0];
  const between = at === last ? share : share + (halvings - at) * (next - share);
  const wanted = between * BEYOND ** Math.max(0, halvings - last);
  return wanted >= ALL_SHARE ? 1 : wanted;
}

/** Bytes of records that a search looks at, centers among them. @param passing share of the rows that may be found */
export function searchedBytes(place: TablePlace, passing = 1): number {
  const { starts, count } = place;
  const end = starts?.at(-1) ?? count;
  const share = probedShare(place, passing);
  const centers = share === 1 ? 0 : starts![0]!;
  return (centers + share * (end - centers) + count - end) * layoutOf(place).recordBytes;
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
  const lists = starts.length - 1;
  for (let k = Math.ceil(SPARE * share * lists); ; k *= SPARE) {
    const ranges: Range[] = [];
    let left = Math.ceil(share * (end - first));
    for (const list of nearestLists(place, kernels, scratch, queryScale, k)) {
      if (left <= 0) break;
      ranges.push([starts[list]!, starts[list + 1]!]);
      left -= starts[list + 1]! - starts[list]!;
    }
    if (left <= 0 || k >= lists) return [...ranges, [end, count]];
  }
}

/** At most `k` lists, that whose center is nearest the query first. @param scratch with the query packed in its first place */
export function nearestLists(
  place: TablePlace,
  kernels: Kernels,
  { queries: query, outPlaces, outScores }: ReturnType<typeof scratchAt>,
  queryScale: number,
  k: number,
): number[] {
  const { length, records, recordBytes } = layoutOf(place);
  const lists = place.starts!.length - 1;
  const best = new TopK(k);
  const places = new Uint32Array(place.memory.buffer, outPlaces, BLOCK_RECORDS);
  const scores = new Float32Array(place.memory.buffer, outScores, BLOCK_RECORDS);
  for (let first = 0; first < lists; first += BLOCK_RECORDS) {
    const count = Math.min(BLOCK_RECORDS, lists - first);
    const threshold = best.scoreMin;
    const block = records + first * recordBytes;
    const found = kernels.scanBytes({
      records: block,
      count,
      length,
      query,
      queryScale,
      threshold,
      outPlaces,
      outScores,
    });
    for (let at = 0; at < found; at++) best.push(first + places[at]!, scores[at]!);
  }
  return best.sorted().rows;
}
