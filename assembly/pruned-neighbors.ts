// The best neighbors of a row without adding up all rows that share a column with it: the lists, to the bit, that
// `neighborTopK` finds. Bounds decide what is looked at (MaxScore: Turtle and Flood 1995, "Query evaluation: strategies
// and optimizations"), and what a row shares is told by the places of its columns in the row at hand, a bit each:
// - the lists of rare columns are walked, and each row met collects its bits ("touched");
// - frequent columns have bitmaps of the rows that have them, in the order of the rows' norms ("ranks"). Rows that share
//   frequent columns alone are found by the intersections of bitmaps, of those only whose rows can still enter. The norm
//   of a row that shares columns of weight W is at least sqrt(W), and along the ranks scores of the same columns fall: so
//   an intersection is scanned from there to where nothing can enter;
// - what else is needed of a row lies side by side in half a line of the cache, its record, since rows are looked at
//   anywhere in memory, and that is what the search waits for.
// A score rises with what is shared and falls with the norm in float32 too, since each operation rounds monotonously: a
// bound worked out as the score is holds exactly.
//
// Record: [norm float32 | row uint32 | its bits in 192 bitmaps]
// Scratch: bits, rows uint32, zero between calls | rows unused | touched, rows + 1 uint32 | Search | tables of 32 places.

import { sortHeap } from './top-k-heap';
import { neighborsOfOneRow, SCAN_SHARE } from './neighbor-top-k';
import {
  Search, FETCHED, weightAt, bitmapAt, orderAt, lengthAt, numberAt, fetchedNormAt, fetchedBitsAt,
  fetchedRankAt, fetch, numeratorOf, canEnter, offerRow, recordOf, normOf, rowOf, frequentOf,
} from './pruned-search';

/** Columns of a row that are told apart; a row with more is compared in full. */
const PLACES_MAX: u32 = 32;
/** An intersection that is thought to have fewer rows than this share is not divided further. */
const VISIT_SHARE: f64 = 1.0 / 8192;
/** Mark in the table of bitmaps of a column without one. */
const NO_BITMAP: u32 = u32.MAX_VALUE;
/** Ranks that are scanned before the bound is looked at again. */
const SCAN_RANKS: u32 = 2048;
/** Norms are rounded roots of sums of weights. */
const NORM_MARGIN: f32 = 0.99999;
/**
 * In additions of `neighborTopK`, measured with a million rows: a row met in a list, 128 ranks scanned, a row visited by its
 * rank, a node of the search for intersections, and a row's own part; a score offered is OFFER_COST.
 */
const TOUCH_COST: f64 = 6;
const SCAN_COST: f64 = 1;
const VISIT_COST: f64 = 6;
const NODE_COST: f64 = 50;
const ROW_COST: f64 = 1000;
/** In full, an addition of a row whose sums are not scanned but visited where they lie. */
const SPARSE_COST: f64 = 4;

/** Notes in each row of the rare columns' lists which of them it shares. */
function walkRare(search: Search, columns: usize, other: usize, rankLists: usize): void {
  let touched: u32 = 0;
  for (let index: u32 = 0; index < search.rareCount; index++) {
    const place = load<u32>(orderAt(search, index));
    const bit: u32 = 1 << place;
    const column = <usize>load<u32>(columns + (<usize>place << 2)) << 2;
    let at = rankLists + (<usize>load<u32>(other + column) << 2);
    const last = rankLists + (<usize>load<u32>(other + column, 4) << 2);
    for (; at < last; at += 4) {
      const rank = load<u32>(at);
      const sharedAt = search.bits + (<usize>rank << 2);
      const shared = load<u32>(sharedAt);
      store<u32>(sharedAt, shared | bit);
      // Written each time, counted only for a row not met before: cheaper than to branch.
      store<u32>(search.touched + (<usize>touched << 2), rank);
      touched += <u32>(shared == 0);
    }
  }
  search.touchedCount = touched;
}

/** Offers the rows that share a rare column. */
function offerTouched(search: Search): void {
  let shared: u32 = 0;
  let most: f32 = 0;
  for (let first: u32 = 0; first < search.touchedCount; first += FETCHED) {
    const end = min(search.touchedCount, first + FETCHED);
    for (let index = first; index < end; index++) {
      fetch(search, index - first, load<u32>(search.touched + (<usize>index << 2)));
    }
    for (let index = first; index < end; index++) {
      const at = index - first;
      const own = load<u32>(fetchedBitsAt(search, at));
      if (own != shared) {
        shared = own;
        most = numeratorOf(search, shared | search.frequent);
      }
      const norm = search.norm * load<f32>(fetchedNormAt(search, at));
      if (!canEnter(search, most / norm)) continue;
      const record = recordOf(search, load<u32>(search.touched + (<usize>index << 2)));
      const row = rowOf(record);
      if (row == search.row) continue;
      const all = own | frequentOf(search, record);
      offerRow(search, numeratorOf(search, all) / norm, row);
    }
  }
}

/** The first rank whose row can have columns of such a weight, by its norm. */
function firstRank(search: Search, shared: u32): u32 {
  let sum: f32 = 0;
  for (let left = shared; left != 0; left &= left - 1) sum += load<f32>(weightAt(search, ctz(left)));
  const least = sqrt<f32>(sum) * NORM_MARGIN;
  let low: u32 = 0;
  let high = search.ranks;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (normOf(recordOf(search, middle)) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first rank from `from` on that is in all four bitmaps, or `end`. */
function nextRank(map0: usize, map1: usize, map2: usize, map3: usize, from: u32, end: u32): u32 {
  let word = from >> 6;
  let mask: u64 = ~(<u64>0) << (from & 63);
  const words = (end + 63) >> 6;
  while (word < words) {
    const at = <usize>word << 3;
    if (mask == ~(<u64>0) && !(word & 1)) {
      const low = v128.and(v128.load(map0 + at), v128.load(map1 + at));
      const high = v128.and(v128.load(map2 + at), v128.load(map3 + at));
      if (!v128.any_true(v128.and(low, high))) {
        word += 2;
        continue;
      }
    }
    const hits = load<u64>(map0 + at) & load<u64>(map1 + at) & load<u64>(map2 + at) & load<u64>(map3 + at) & mask;
    if (hits != 0) return min(end, (word << 6) + <u32>ctz(hits));
    mask = ~(<u64>0);
    word++;
  }
  return end;
}

/** The rank after those with the norm of `rank`. */
function endOfNorm(search: Search, rank: u32): u32 {
  const norm = normOf(recordOf(search, rank));
  let low = rank + 1;
  let high = search.ranks;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (normOf(recordOf(search, middle)) > norm) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Offers the rows from rank `from` on that have the places of `shared` and, of those in `told`, no others, and share no rare
 * column. @param most what they share at the most
 */
function visitIntersection(search: Search, shared: u32, told: u32, most: u32, from: u32): void {
  // Four bitmaps are intersected; what further places there are is seen when a row is looked at.
  const map0 = <usize>load<u32>(bitmapAt(search, ctz(shared)));
  let left = shared & (shared - 1);
  const map1 = left != 0 ? <usize>load<u32>(bitmapAt(search, ctz(left))) : map0;
  left &= left - 1;
  const map2 = left != 0 ? <usize>load<u32>(bitmapAt(search, ctz(left))) : map0;
  left &= left - 1;
  const map3 = left != 0 ? <usize>load<u32>(bitmapAt(search, ctz(left))) : map1;
  const bound = numeratorOf(search, most);
  let rank = from;
  while (rank < search.ranks) {
    if (!canEnter(search, bound / (search.norm * normOf(recordOf(search, rank))))) break;
    const end = min(search.ranks, rank + SCAN_RANKS);
    const scanned = rank;
    let count: u32 = 0;
    while (count < FETCHED) {
      rank = nextRank(map0, map1, map2, map3, rank, end);
      if (rank == end) break;
      store<u32>(fetchedRankAt(search, count), rank);
      fetch(search, count++, rank++);
    }
    search.work += SCAN_COST / 128 * <f64>(rank - scanned) + VISIT_COST * <f64>count;
    rank = max(rank, visitRanks(search, count, shared, told, most, bound));
  }
}

/** Offers rows whose records were fetched. @returns the rank before which no further row can enter */
function visitRanks(search: Search, count: u32, shared: u32, told: u32, most: u32, bound: f32): u32 {
  let from: u32 = 0;
  for (let index: u32 = 0; index < count; index++) {
    const rank = load<u32>(fetchedRankAt(search, index));
    if (rank < from || load<u32>(fetchedBitsAt(search, index)) != 0) continue;
    const norm = search.norm * load<f32>(fetchedNormAt(search, index));
    if (!canEnter(search, bound / norm)) return search.ranks;
    const record = recordOf(search, rank);
    const all = frequentOf(search, record);
    const row = rowOf(record);
    if ((all & told) != shared || row == search.row) continue;
    const score = (all == most ? bound : numeratorOf(search, all)) / norm;
    // Among rows alike in norm and in what they share the lower stand first: after one that ties in vain, all do.
    if (
      shared == most && search.count == search.k && score == load<f32>(search.outScores) &&
      row > load<u32>(search.outRows)
    ) {
      from = endOfNorm(search, rank);
      continue;
    }
    offerRow(search, score, row);
  }
  return from;
}

/**
 * Finds rows that have the frequent places of `shared` and none of the others before `next`, a number in the order of
 * places. @param rows how many have `shared`, if columns are met independently of each other
 */
function descend(search: Search, shared: u32, next: u32, rows: f64): void {
  search.work += NODE_COST;
  if (search.work > search.workMax) return;
  let rest: u32 = 0;
  for (let index = next; index < search.placeCount; index++) rest |= 1 << load<u32>(orderAt(search, index));
  let from: u32 = 0;
  if (shared != 0) {
    from = firstRank(search, shared);
    if (from == search.ranks) return;
    const norm = search.norm * normOf(recordOf(search, from));
    if (!canEnter(search, numeratorOf(search, shared | rest) / norm)) return;
    if (rest == 0 || rows <= VISIT_SHARE * <f64>search.ranks) {
      visitIntersection(search, shared, search.frequent & ~rest, shared | rest, from);
      return;
    }
  }
  for (let index = next; index < search.placeCount; index++) {
    const place = load<u32>(orderAt(search, index));
    const share = <f64>load<u32>(lengthAt(search, place)) / <f64>search.ranks;
    descend(search, shared | (1 << place), index + 1, rows * share);
  }
  if (shared == 0) return;
  const norm = search.norm * normOf(recordOf(search, from));
  if (!canEnter(search, numeratorOf(search, shared) / norm)) return;
  visitIntersection(search, shared, search.frequent, shared, from);
}

/** Cost of comparing a row of so many additions in full. */
function costInFull(search: Search, additions: f64): f64 {
  return additions < <f64>search.ranks / SCAN_SHARE ? SPARSE_COST * additions : additions;
}

/** Tells the places of a row, and what walking its rare lists takes. @returns what comparing the row in full takes */
function readPlaces(
  search: Search, columns: usize, other: usize, weights: usize, bitmapOf: usize, bitmaps: usize,
): f64 {
  const bitmapBytes = <usize>((search.ranks + 127) >> 7) << 4;
  let additions: f64 = 0;
  search.work = ROW_COST;
  let rareCount: u32 = 0;
  search.frequent = 0;
  for (let place: u32 = 0; place < search.placeCount; place++) {
    const column = <usize>load<u32>(columns + (<usize>place << 2)) << 2;
    const length = load<u32>(other + column, 4) - load<u32>(other + column);
    const number = load<u32>(bitmapOf + column);
    const bitmap: usize = number == NO_BITMAP ? <usize>0 : bitmaps + <usize>number * bitmapBytes;
    additions += <f64>length;
    store<f32>(weightAt(search, place), load<f32>(weights + column));
    store<u32>(bitmapAt(search, place), <u32>bitmap);
    store<u32>(numberAt(search, place), number);
    store<u32>(lengthAt(search, place), length);
    if (bitmap != 0) search.frequent |= 1 << place;
    else {
      rareCount++;
      search.work += TOUCH_COST * <f64>length;
    }
    // Columns without a bitmap first, then by length.
    let index = place;
    for (; index > 0; index--) {
      const before = load<u32>(orderAt(search, index - 1));
      const isBehind =
        (bitmap == 0 && load<u32>(bitmapAt(search, before)) != 0) ||
        ((bitmap == 0) == (load<u32>(bitmapAt(search, before)) == 0) &&
          length < load<u32>(lengthAt(search, before)));
      if (!isBehind) break;
      store<u32>(orderAt(search, index), before);
    }
    store<u32>(orderAt(search, index), place);
  }
  search.rareCount = rareCount;
  return costInFull(search, additions);
}

/** @returns false when it would take more than `workMax`; what was found is then of no use */
function searchRow(search: Search, columns: usize, other: usize, rankLists: usize): bool {
  if (search.work > search.workMax) return false;
  search.count = 0;
  walkRare(search, columns, other, rankLists);
  offerTouched(search);
  if (search.frequent != 0) descend(search, 0, search.rareCount, <f64>search.ranks);
  for (let index: u32 = 0; index < search.touchedCount; index++) {
    store<u32>(search.bits + (<usize>load<u32>(search.touched + (<usize>index << 2)) << 2), 0);
  }
  return search.work <= search.workMax;
}

export function prunedNeighborTopK(
  starts: usize, columns: usize, other: usize, otherColumns: usize, weights: usize, norms: usize,
  overlapShrink: f32, rows: u32, firstRow: u32, endRow: u32, k: u32, outRows: usize,
  outScores: usize, outCounts: usize, scratch: usize, records: usize, ranks: u32, rankLists: usize, bitmapOf: usize,
  bitmaps: usize, workShare: f64,
): f64 {
  const search = changetype<Search>((scratch + <usize>rows * 12 + 4 + 63) & ~63);
  search.records = records;
  search.ranks = ranks;
  search.bits = scratch;
  search.touched = scratch + (<usize>rows << 3);
  search.overlapShrink = overlapShrink;
  search.k = k;
  let work: f64 = 0;
  for (let row = firstRow; row < endRow; row++) {
    const start = load<u32>(starts + (<usize>row << 2));
    const own = columns + (<usize>start << 2);
    const place = <usize>(row - firstRow);
    search.row = row;
    search.norm = load<f32>(norms + (<usize>row << 2));
    search.outRows = outRows + ((place * k) << 2);
    search.outScores = outScores + ((place * k) << 2);
    search.placeCount = load<u32>(starts + (<usize>row << 2), 4) - start;
    if (search.placeCount <= PLACES_MAX) {
      search.workMax = workShare * readPlaces(search, own, other, weights, bitmapOf, bitmaps);
      const isFound = searchRow(search, own, other, rankLists);
      if (isFound) {
        work += search.work;
        sortHeap(search.outRows, search.outScores, search.count);
        store<u32>(outCounts + (place << 2), search.count);
        continue;
      }
    }
    const additions = neighborsOfOneRow(
      starts, columns, other, otherColumns, weights, norms, overlapShrink, rows, row, k, search.outRows,
      search.outScores, outCounts + (place << 2), scratch,
    );
    work += costInFull(search, additions);
  }
  return work;
}
