// What `prunedNeighborTopK` knows of a row while it looks for its neighbors, and of the rows that it meets: tables of the
// row's places, and records, which `pruned-neighbors.ts` tells the form of.

import { offer, isFiniteScore } from './top-k-heap';

/** A score offered, in additions of `neighborTopK`. */
const OFFER_COST: f64 = 15;

/** All that the search for one row's neighbors knows. */
@unmanaged
export class Search {
  records: usize;
  ranks: u32;
  bits: usize;
  touched: usize;
  touchedCount: u32;
  overlapShrink: f32;
  row: u32;
  norm: f32;
  k: u32;
  outRows: usize;
  outScores: usize;
  count: u32;
  /** Places in the row, those of the rarest columns first: `rareCount` whose lists are walked, then those with bitmaps. */
  placeCount: u32;
  rareCount: u32;
  /** The places that have bitmaps. */
  frequent: u32;
  work: f64;
  workMax: f64;
}

/** Rows of which records are read ahead, as many as a table has entries. */
export const FETCHED: u32 = 32;
const TABLES: usize = 128;
const TABLE_BYTES: usize = 128;

// @ts-ignore: decorator
@inline
function tableOf(search: Search, table: usize): usize {
  return changetype<usize>(search) + TABLES + table * TABLE_BYTES;
}

// @ts-ignore: decorator
@inline
export function weightAt(search: Search, place: u32): usize {
  return tableOf(search, 0) + (<usize>place << 2);
}

// @ts-ignore: decorator
@inline
export function bitmapAt(search: Search, place: u32): usize {
  return tableOf(search, 1) + (<usize>place << 2);
}

/** The places, those of rare columns first. */
// @ts-ignore: decorator
@inline
export function orderAt(search: Search, index: u32): usize {
  return tableOf(search, 2) + (<usize>index << 2);
}

/** Number of rows with the column. */
// @ts-ignore: decorator
@inline
export function lengthAt(search: Search, place: u32): usize {
  return tableOf(search, 3) + (<usize>place << 2);
}

/** Which bitmap the column has. */
// @ts-ignore: decorator
@inline
export function numberAt(search: Search, place: u32): usize {
  return tableOf(search, 4) + (<usize>place << 2);
}

// @ts-ignore: decorator
@inline
export function fetchedNormAt(search: Search, index: u32): usize {
  return tableOf(search, 5) + (<usize>index << 2);
}

// @ts-ignore: decorator
@inline
export function fetchedBitsAt(search: Search, index: u32): usize {
  return tableOf(search, 6) + (<usize>index << 2);
}

// @ts-ignore: decorator
@inline
export function fetchedRankAt(search: Search, index: u32): usize {
  return tableOf(search, 7) + (<usize>index << 2);
}

/** Reads what the loop after this one needs of a rank: reads that do not wait for each other take a fraction of the time. */
// @ts-ignore: decorator
@inline
export function fetch(search: Search, index: u32, rank: u32): void {
  store<f32>(fetchedNormAt(search, index), normOf(recordOf(search, rank)));
  store<u32>(fetchedBitsAt(search, index), load<u32>(search.bits + (<usize>rank << 2)));
}

/** The weight of shared places times their damping, added in the order of the columns as `neighborTopK` does. */
export function numeratorOf(search: Search, shared: u32): f32 {
  let sum: f32 = 0;
  for (let left = shared; left != 0; left &= left - 1) sum += load<f32>(weightAt(search, ctz(left)));
  const count = <f32>popcnt(shared);
  return search.overlapShrink > 0 ? sum * (count / (count + search.overlapShrink)) : sum;
}

/** True when a row of such a score or less can enter; equal scores may, by the lower row. */
// @ts-ignore: decorator
@inline
export function canEnter(search: Search, score: f32): bool {
  return search.count < search.k || score >= load<f32>(search.outScores);
}

// @ts-ignore: decorator
@inline
export function offerRow(search: Search, score: f32, row: u32): void {
  if (!(score > 0) || !isFiniteScore(score)) return;
  search.work += OFFER_COST;
  search.count = offer<f32>(search.outRows, search.outScores, search.count, search.k, score, row);
}

// @ts-ignore: decorator
@inline
export function recordOf(search: Search, rank: u32): usize {
  return search.records + (<usize>rank << 5);
}

// @ts-ignore: decorator
@inline
export function normOf(record: usize): f32 {
  return load<f32>(record);
}

// @ts-ignore: decorator
@inline
export function rowOf(record: usize): u32 {
  return load<u32>(record, 4);
}

/** Which of the frequent places a row has. */
// @ts-ignore: decorator
@inline
export function frequentOf(search: Search, record: usize): u32 {
  let shared: u32 = 0;
  for (let index = search.rareCount; index < search.placeCount; index++) {
    const place = load<u32>(orderAt(search, index));
    const bitmap = load<u32>(numberAt(search, place));
    shared |= ((load<u32>(record + <usize>((bitmap >> 5) << 2), 8) >> (bitmap & 31)) & 1) << place;
  }
  return shared;
}
