// Sums of rows of a sparse table, dense and in float64: adding to one is a load, an addition and a store without a branch.
// Rows that nothing was added to are passed over, in clearing by lines of the cache, of 8 sums each, and in searching by blocks
// of 32: both cost what was added, not what there is.
//
// Behind `sums` lie, for `rows` rounded up to blocks:
//   sums, 32 float64 a block | of the blocks that were added to, in their order: the highest sum, float64, 0 where none is above |
//   the same of the rows allowed | their numbers, uint32 | touched, a byte a line, rounded up to 8 | how many, uint32 | counts by steps, 256 uint32

// Where rows are far more than what is added, sums stand in a hash table of 2^bits places instead, at most half of them in use, all
// of which stays in the cache (linear probing, multiplicative hashing: Knuth 1973, 6.4):
//   sums, float64 a place | the row of each place + 1, uint32, 0 for none | places in use, uint32, as they came | how many, uint32

import { offer } from './top-k-heap';

/** Rows of the table that are fetched together, and bytes of one line of the cache. */
const FETCHED_ROWS: u32 = 32;
const LINE_BYTES: usize = 64;
/** Steps of a thirty-second or less, by upper words, in which sums are counted down from the highest: eight times by half. */
const STEPS: u32 = 256;
const STEP_BITS: u32 = 15;

// @ts-ignore: decorator
@inline
function blocksOf(rows: u32): usize {
  return <usize>((rows + 31) >> 5);
}

// @ts-ignore: decorator
@inline
function peaksOf(sums: usize, blocks: usize): usize {
  return sums + (blocks << 8);
}

// @ts-ignore: decorator
@inline
function reachOf(sums: usize, blocks: usize): usize {
  return peaksOf(sums, blocks) + (blocks << 3);
}

// @ts-ignore: decorator
@inline
function numbersOf(sums: usize, blocks: usize): usize {
  return reachOf(sums, blocks) + (blocks << 3);
}

// @ts-ignore: decorator
@inline
function touchedOf(sums: usize, blocks: usize): usize {
  return numbersOf(sums, blocks) + (((blocks << 2) + 7) & ~7);
}

// @ts-ignore: decorator
@inline
function countOf(sums: usize, blocks: usize): usize {
  return touchedOf(sums, blocks) + (((blocks << 2) + 7) & ~7);
}

// @ts-ignore: decorator
@inline
function stepsOf(sums: usize, blocks: usize): usize {
  return countOf(sums, blocks) + 8;
}

/** The upper word of a number: those of numbers not below 0 are in the order of the numbers. */
// @ts-ignore: decorator
@inline
function upperWord(value: f64): u32 {
  return <u32>(reinterpret<u64>(value) >> 32);
}

function clearSums(sums: usize, blocks: usize): void {
  const touched = touchedOf(sums, blocks);
  const zero = i64x2.splat(0);
  const lines = blocks << 2;
  for (let eight: usize = 0; eight < lines; eight += 8) {
    const marks = load<u64>(touched + eight);
    if (!marks) continue;
    for (let left = marks; left; left &= left - 1) {
      const at = sums + ((eight + (<usize>ctz(left) >> 3)) << 6);
      v128.store(at, zero);
      v128.store(at, zero, 16);
      v128.store(at, zero, 32);
      v128.store(at, zero, 48);
    }
    store<u64>(touched + eight, 0);
  }
}

/**
 * Reads one entry of each line of the cache that will be needed, one right after the other, so that the memory is waited
 * for once and not for each row of the table: they lie anywhere in it.
 * @returns what keeps the reads from being optimized away
 */
function fetchRows(starts: usize, columns: usize, scores: usize, rows: u32, items: usize, from: u32, to: u32): u32 {
  let read: u32 = 0;
  for (let i = from; i < to; i++) {
    const item = load<u32>(items + (<usize>i << 2));
    if (item >= rows) continue;
    const start = <usize>load<u32>(starts + (<usize>item << 2)) << 2;
    const end = <usize>load<u32>(starts + (<usize>item << 2), 4) << 2;
    for (let at = start; at < end; at += LINE_BYTES) read |= load<u32>(columns + at) | load<u32>(scores + at);
  }
  return read;
}

// @ts-ignore: decorator
@inline
function addEntry(sums: usize, touched: usize, row: usize, value: f64): void {
  const sum = sums + (row << 3);
  store<u8>(touched + (row >> 3), 1);
  store<f64>(sum, load<f64>(sum) + value);
}

function addRow(columns: usize, scores: usize, count: u32, weight: f64, sums: usize, touched: usize): void {
  const end4 = columns + (<usize>(count & ~3) << 2);
  for (; columns < end4; columns += 16, scores += 16) {
    addEntry(sums, touched, <usize>load<u32>(columns), weight * <f64>load<f32>(scores));
    addEntry(sums, touched, <usize>load<u32>(columns, 4), weight * <f64>load<f32>(scores, 4));
    addEntry(sums, touched, <usize>load<u32>(columns, 8), weight * <f64>load<f32>(scores, 8));
    addEntry(sums, touched, <usize>load<u32>(columns, 12), weight * <f64>load<f32>(scores, 12));
  }
  for (let i: u32 = 0; i < (count & 3); i++, columns += 4, scores += 4) {
    addEntry(sums, touched, <usize>load<u32>(columns), weight * <f64>load<f32>(scores));
  }
}

/** The blocks that were added to, with the highest sum of each. @returns the highest of all */
function findPeaks(sums: usize, blocks: usize): f64 {
  const touched = touchedOf(sums, blocks);
  const peaks = peaksOf(sums, blocks);
  const numbers = numbersOf(sums, blocks);
  let count: usize = 0;
  let all: f64 = 0;
  for (let two: usize = 0; two < blocks; two += 2) {
    if (!load<u64>(touched + (two << 2))) continue;
    for (let block = two; block < two + 2; block++) {
      const marks = load<u32>(touched + (block << 2));
      if (!marks) continue;
      let a = f64x2.splat(0);
      let b = f64x2.splat(0);
      for (let left = marks; left; left &= left - 1) {
        const at = sums + (block << 8) + ((<usize>ctz(left) >> 3) << 6);
        a = f64x2.pmax(a, f64x2.pmax(v128.load(at), v128.load(at, 16)));
        b = f64x2.pmax(b, f64x2.pmax(v128.load(at, 32), v128.load(at, 48)));
      }
      a = f64x2.pmax(a, b);
      const peak = max<f64>(f64x2.extract_lane(a, 0), f64x2.extract_lane(a, 1));
      store<f64>(peaks + (count << 3), peak);
      store<u32>(numbers + (count << 2), <u32>block);
      count++;
      all = max<f64>(all, peak);
    }
  }
  store<u32>(countOf(sums, blocks), <u32>count);
  return all;
}

// @ts-ignore: decorator
@inline
function keysOf(sums: usize, bits: u32): usize {
  return sums + (<usize>8 << bits);
}

// @ts-ignore: decorator
@inline
function usedOf(sums: usize, bits: u32): usize {
  return keysOf(sums, bits) + (<usize>4 << bits);
}

// @ts-ignore: decorator
@inline
function usedCountOf(sums: usize, bits: u32): usize {
  return usedOf(sums, bits) + (<usize>2 << bits);
}

function clearPlaces(sums: usize, bits: u32): void {
  const keys = keysOf(sums, bits);
  const used = usedOf(sums, bits);
  const count = load<u32>(usedCountOf(sums, bits));
  for (let at: u32 = 0; at < count; at++) {
    const place = <usize>load<u32>(used + (<usize>at << 2));
    store<u32>(keys + (place << 2), 0);
    store<f64>(sums + (place << 3), 0);
  }
}

/** Adds a row of the table to sums by places. @returns places in use */
function addToPlaces(columns: usize, scores: usize, length: u32, weight: f64, sums: usize, bits: u32, used: u32): u32 {
  const keys = keysOf(sums, bits);
  const numbers = usedOf(sums, bits);
  const last: u32 = (1 << bits) - 1;
  for (let entry: usize = 0; entry < length; entry++) {
    const key = load<u32>(columns + (entry << 2)) + 1;
    let place = ((key - 1) * 0x9e3779b1) >> (32 - bits);
    let found = load<u32>(keys + (<usize>place << 2));
    while (found != key && found != 0) {
      place = (place + 1) & last;
      found = load<u32>(keys + (<usize>place << 2));
    }
    if (!found) {
      assert(used <= last >> 1);
      store<u32>(keys + (<usize>place << 2), key);
      store<u32>(numbers + (<usize>used << 2), place);
      used++;
    }
    const sum = sums + (<usize>place << 3);
    store<f64>(sum, load<f64>(sum) + weight * <f64>load<f32>(scores + (entry << 2)));
  }
  return used;
}

/** The highest sum by places, 0 where none is above. */
function highestPlace(sums: usize, bits: u32, count: u32): f64 {
  const used = usedOf(sums, bits);
  let highest: f64 = 0;
  for (let at: u32 = 0; at < count; at++) {
    const sum = load<f64>(sums + (<usize>load<u32>(used + (<usize>at << 2)) << 3));
    highest = sum > highest ? sum : highest;
  }
  return highest;
}

export function sumRows(
  starts: usize, columns: usize, scores: usize, rows: u32, items: usize, weights: usize, count: u32, sums: usize,
  bits: u32,
): f64 {
  assert(!(sums & 15));
  const blocks = blocksOf(rows);
  const touched = touchedOf(sums, blocks);
  if (bits) clearPlaces(sums, bits);
  else clearSums(sums, blocks);
  let read: u32 = 0;
  let used: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    if (i % FETCHED_ROWS == 0) {
      read |= fetchRows(starts, columns, scores, rows, items, i, min<u32>(count, i + FETCHED_ROWS));
    }
    const item = load<u32>(items + (<usize>i << 2));
    if (item >= rows) continue;
    const start = load<u32>(starts + (<usize>item << 2));
    const at = <usize>start << 2;
    const length = load<u32>(starts + (<usize>item << 2), 4) - start;
    const weight = load<f64>(weights + (<usize>i << 3));
    if (bits) used = addToPlaces(columns + at, scores + at, length, weight, sums, bits, used);
    else addRow(columns + at, scores + at, length, weight, sums, touched);
  }
  // The read words are kept where they are written over, so that reading them is not left out.
  if (!bits) {
    store<u32>(stepsOf(sums, blocks), read);
    return findPeaks(sums, blocks);
  }
  store<u32>(usedCountOf(sums, bits), used);
  store<u32>(usedCountOf(sums, bits), read, 4);
  return highestPlace(sums, bits, used);
}

/** The highest sum above 0 of a block's rows whose bits are set. */
function allowedPeak(sums: usize, allowed: u32): f64 {
  let peak: f64 = 0;
  for (; allowed; allowed &= allowed - 1) {
    const sum = load<f64>(sums + (<usize>ctz(allowed) << 3));
    peak = sum > peak ? sum : peak;
  }
  return peak;
}

/** Writes the highest sum that each block added to has among the rows allowed. @returns the highest of all */
function findReach(sums: usize, blocks: usize, allowedBits: usize): f64 {
  const peaks = peaksOf(sums, blocks);
  const reach = reachOf(sums, blocks);
  const numbers = numbersOf(sums, blocks);
  const added = <usize>load<u32>(countOf(sums, blocks));
  let most: f64 = 0;
  for (let at: usize = 0; at < added; at++) {
    let peak = load<f64>(peaks + (at << 3));
    if (peak > 0 && allowedBits) {
      const block = <usize>load<u32>(numbers + (at << 2));
      const allowed = load<u32>(allowedBits + (block << 2));
      if (allowed != 0xffffffff) peak = allowedPeak(sums + (block << 8), allowed);
    }
    store<f64>(reach + (at << 3), peak);
    most = peak > most ? peak : most;
  }
  return most;
}

/**
 * A number that the best of at least k blocks reach, and those of few more: counts of blocks by steps, down from the highest
 * best, tell at which step k are reached. 0 where there are not so many.
 */
function boundOfBlocks(reach: usize, added: usize, steps: usize, mostWord: u32, k: u32): f64 {
  memory.fill(steps, 0, STEPS << 2);
  for (let each: usize = 0; each < added; each++) {
    const word = load<u32>(reach + (each << 3), 4);
    const step = (mostWord - word) >> STEP_BITS;
    if (word == 0 || step >= STEPS) continue;
    const at = steps + (<usize>step << 2);
    store<u32>(at, load<u32>(at) + 1);
  }
  for (let step: u32 = 0, found: u32 = 0; step < STEPS; step++) {
    found += load<u32>(steps + (<usize>step << 2));
    if (found < k) continue;
    const below = (step + 1) << STEP_BITS;
    return mostWord < below ? 0 : reinterpret<f64>(<u64>(mostWord - below + 1) << 32);
  }
  return 0;
}

/** Bits of the four sums at an address that are above a limit. */
// @ts-ignore: decorator
@inline
function hitsAt(at: usize, limit: f64): u32 {
  const limits = f64x2.splat(limit);
  const low = f64x2.gt(v128.load(at), limits);
  const high = f64x2.gt(v128.load(at, 16), limits);
  return <u32>i64x2.bitmask(low) | (<u32>i64x2.bitmask(high) << 2);
}

/** The number before a bound, which only what reaches the bound is above; 0 for none. */
// @ts-ignore: decorator
@inline
function before(bound: f64): f64 {
  return bound > 0 ? reinterpret<f64>(reinterpret<u64>(bound) - 1) : 0;
}

function topPlaces(sums: usize, bits: u32, k: u32, allowedBits: usize, outRows: usize, outScores: usize): u32 {
  const keys = keysOf(sums, bits);
  const used = usedOf(sums, bits);
  const places = load<u32>(usedCountOf(sums, bits));
  let limit: f64 = 0;
  let count: u32 = 0;
  for (let at: u32 = 0; at < places; at++) {
    const place = <usize>load<u32>(used + (<usize>at << 2));
    const sum = load<f64>(sums + (place << 3));
    if (!(sum > 0) || sum < limit) continue;
    const row = load<u32>(keys + (place << 2)) - 1;
    if (allowedBits && !((load<u32>(allowedBits + (<usize>(row >> 5) << 2)) >> (row & 31)) & 1)) continue;
    count = offer<f64>(outRows, outScores, count, k, sum, row);
    if (count == k) limit = load<f64>(outScores);
  }
  return count;
}

export function topSums(
  sums: usize, rows: u32, bits: u32, k: u32, allowedBits: usize, outRows: usize, outScores: usize,
): u32 {
  assert(k > 0 && !(outScores & 7));
  if (bits) return topPlaces(sums, bits, k, allowedBits, outRows, outScores);
  const blocks = blocksOf(rows);
  const reach = reachOf(sums, blocks);
  const numbers = numbersOf(sums, blocks);
  const added = <usize>load<u32>(countOf(sums, blocks));
  const mostWord = upperWord(findReach(sums, blocks, allowedBits));
  let limit = before(boundOfBlocks(reach, added, stepsOf(sums, blocks), mostWord, k));
  let count: u32 = 0;
  for (let each: usize = 0; each < added; each++) {
    if (!(load<f64>(reach + (each << 3)) > limit)) continue;
    const block = <usize>load<u32>(numbers + (each << 2));
    const allowed: u32 = allowedBits ? load<u32>(allowedBits + (block << 2)) : 0xffffffff;
    for (let lane: u32 = 0; lane < 32; lane += 4) {
      const at = sums + (block << 8) + (<usize>lane << 3);
      for (let hits = hitsAt(at, limit) & (allowed >> lane); hits; hits &= hits - 1) {
        const hit = ctz(hits);
        const sum = load<f64>(at + (<usize>hit << 3));
        if (!(sum > limit)) continue;
        count = offer<f64>(outRows, outScores, count, k, sum, (<u32>block << 5) + lane + hit);
        if (count == k) limit = load<f64>(outScores);
      }
    }
  }
  return count;
}
