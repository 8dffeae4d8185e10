// Many queries against items in the order of falling norm, by upper bounds. Factors are rotated to the eigenvectors of the
// items' Gramian, the largest first; an item's head is its first h - 1 numbers and the norm of all others, so that
//
//   x·y = head·head + rest·rest  <=  head·head + |rest of x| |rest of y|
//
// is an inner product of h numbers (Cauchy and Schwarz; as in LEMP, Teflioudi et al. 2015, and FEXIPRO, Li et al. 2017).
// Only items whose bound reaches the threshold are scored, by the same additions in the same order as without heads. The
// scan of a query ends where no norm that is left can reach its threshold. Items come in any order of rows, so that lists
// are heaps that compare (score, row).
//
// Heads: basis, f x f float32, columns by falling eigenvalue | norm of the first item of each block | rows in the order of
// norms, uint32 | panels of 8 heads. A block is 32 panels.
//
// Scratch: tile, 128 bytes | rotated queries, 64 rows of f | four rows | packed heads of queries, 64 of h | thresholds, 64
// float32 | for each of 64 queries: 8 rows that wait, their number, its norm.

import { multiplyAdd } from './multiply-add';
import { rotateRows } from './rotate-rows';
import { packQueries, scoreTile } from './score-tile';
import { isFiniteScore, offer, sortHeap, thresholdOf } from './top-k-heap';

const BLOCK_PANELS: u32 = 32;
/** Blocks scanned for every group of four before the next ones. */
const CHUNK_BLOCKS: u32 = 4;
const RECORD_BYTES: usize = 64;
/** Queries of other norms are left to the plain scan, whose products may overflow or vanish. */
const NORM_MIN: f64 = 1e-15;
const NORM_MAX: f64 = 1e18;
/** Larger than what vanishing products can add up to. */
const TINY: f32 = 1e-30;

/** Most that rounding of rotation, bound and score comes to, as a part of the product of norms. */
function roundingOf(f: u32): f32 {
  return <f32>(f + 64) / 1048576;
}

/** Scores 8 listed rows; lane i of the first four and of the last four. Four numbers of four rows are turned at a time. */
function scoreRows(query: usize, factors: usize, rowBytes: usize, rows: usize, scores: usize): void {
  const r0 = factors + <usize>load<u32>(rows) * rowBytes;
  const r1 = factors + <usize>load<u32>(rows, 4) * rowBytes;
  const r2 = factors + <usize>load<u32>(rows, 8) * rowBytes;
  const r3 = factors + <usize>load<u32>(rows, 12) * rowBytes;
  const r4 = factors + <usize>load<u32>(rows, 16) * rowBytes;
  const r5 = factors + <usize>load<u32>(rows, 20) * rowBytes;
  const r6 = factors + <usize>load<u32>(rows, 24) * rowBytes;
  const r7 = factors + <usize>load<u32>(rows, 28) * rowBytes;
  let a = f32x4.splat(0);
  let b = f32x4.splat(0);
  for (let at: usize = 0; at < rowBytes; at += 16) {
    const x0 = v128.load_splat<f32>(query + at);
    const x1 = v128.load_splat<f32>(query + at, 4);
    const x2 = v128.load_splat<f32>(query + at, 8);
    const x3 = v128.load_splat<f32>(query + at, 12);
    let u = v128.load(r0 + at);
    let v = v128.load(r1 + at);
    let w = v128.load(r2 + at);
    let z = v128.load(r3 + at);
    let uv = v128.shuffle<i32>(u, v, 0, 4, 1, 5);
    let wz = v128.shuffle<i32>(w, z, 0, 4, 1, 5);
    a = multiplyAdd(a, x0, v128.shuffle<i64>(uv, wz, 0, 2));
    a = multiplyAdd(a, x1, v128.shuffle<i64>(uv, wz, 1, 3));
    uv = v128.shuffle<i32>(u, v, 2, 6, 3, 7);
    wz = v128.shuffle<i32>(w, z, 2, 6, 3, 7);
    a = multiplyAdd(a, x2, v128.shuffle<i64>(uv, wz, 0, 2));
    a = multiplyAdd(a, x3, v128.shuffle<i64>(uv, wz, 1, 3));
    u = v128.load(r4 + at);
    v = v128.load(r5 + at);
    w = v128.load(r6 + at);
    z = v128.load(r7 + at);
    uv = v128.shuffle<i32>(u, v, 0, 4, 1, 5);
    wz = v128.shuffle<i32>(w, z, 0, 4, 1, 5);
    b = multiplyAdd(b, x0, v128.shuffle<i64>(uv, wz, 0, 2));
    b = multiplyAdd(b, x1, v128.shuffle<i64>(uv, wz, 1, 3));
    uv = v128.shuffle<i32>(u, v, 2, 6, 3, 7);
    wz = v128.shuffle<i32>(w, z, 2, 6, 3, 7);
    b = multiplyAdd(b, x2, v128.shuffle<i64>(uv, wz, 0, 2));
    b = multiplyAdd(b, x3, v128.shuffle<i64>(uv, wz, 1, 3));
  }
  v128.store(scores, a);
  v128.store(scores, b, 16);
}

/** True when an ascending list has the item. */
function hasItem(list: usize, low: u32, high: u32, item: u32): bool {
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = load<u32>(list + (<usize>middle << 2));
    if (other == item) return true;
    if (other < item) low = middle + 1;
    else high = middle;
  }
  return false;
}

/** Scores the rows that wait in a query's record and offers them to its list. */
function offerRows(
  query: usize, record: usize, factors: usize, f: u32, k: u32, readItems: usize, readStart: u32, readEnd: u32,
  items: usize, scores: usize, outCount: usize, tile: usize,
): void {
  const waiting = load<u32>(record, 32);
  // A place without a row repeats the first, whose score is not looked at.
  for (let i = waiting; i < 8; i++) store<u32>(record + (<usize>i << 2), load<u32>(record));
  scoreRows(query, factors, <usize>f << 2, record, tile);
  store<u32>(record, 0, 32);
  let count = load<u32>(outCount);
  for (let i: u32 = 0; i < waiting; i++) {
    const score = load<f32>(tile + (<usize>i << 2));
    const row = load<u32>(record + (<usize>i << 2));
    if (!(score >= thresholdOf(scores, count, k)) || !isFiniteScore(score)) continue;
    if (!hasItem(readItems, readStart, readEnd, row)) count = offer<f32>(items, scores, count, k, score, row);
  }
  store<u32>(outCount, count);
}

/**
 * Writes for each of four queries what a bound must exceed in a block.
 * @returns false when no item from there on can reach any list
 */
function setThresholds(
  records: usize, norm: f32, rounding: f32, k: u32, outScores: usize, outCounts: usize, thresholds: usize,
): bool {
  let isOpen = false;
  for (let u: usize = 0; u < 4; u++) {
    const queryNorm = load<f32>(records + u * RECORD_BYTES, 36);
    const most: f32 = queryNorm * norm;
    const slack: f32 = most * rounding + TINY;
    let limit: f32 = Infinity;
    // A place without a query has a negative norm.
    if (queryNorm >= 0) {
      const worst = thresholdOf(outScores + u * (<usize>k << 2), load<u32>(outCounts + (u << 2)), k);
      if (most + slack >= worst) limit = worst - slack;
    }
    isOpen = isOpen || limit < Infinity;
    store<f32>(thresholds + (u << 2), limit);
  }
  return isOpen;
}

/** Scans blocks [first, end) for the 4 queries from `u`. @returns how many items were scored, or -1 when none can be any more */
function scanGroup(
  u: u32, count: u32, first: u32, end: u32, queries: usize, factors: usize, items: u32, f: u32, k: u32,
  readStarts: usize, readItems: usize, outItems: usize, outScores: usize, outCounts: usize, tile: usize,
  allowedBits: usize, norms: usize, h: u32, packed: usize, thresholds: usize, records: usize,
): i64 {
  const panelCount = (items + 7) >> 3;
  const rowAt = norms + (<usize>((panelCount + BLOCK_PANELS - 1) / BLOCK_PANELS) << 2);
  const panels = rowAt + (<usize>items << 2);
  const lists = <usize>u * (<usize>k << 2);
  const group = records + <usize>u * RECORD_BYTES;
  let scored: i64 = 0;
  let block = first;
  for (; block < end; block++) {
    const norm = load<f32>(norms + (<usize>block << 2));
    const counts = outCounts + (<usize>u << 2);
    if (!setThresholds(group, norm, roundingOf(f), k, outScores + lists, counts, thresholds)) break;
    const endPanel = min<u32>(panelCount, (block + 1) * BLOCK_PANELS);
    for (let panel = block * BLOCK_PANELS; panel < endPanel; panel++) {
      let hits = scoreTile(packed, panels + <usize>panel * (<usize>h << 5), h, thresholds, tile);
      for (; hits; hits &= hits - 1) {
        const bit = ctz<u32>(hits);
        const place = (panel << 3) + (bit & 7);
        if (place >= items) continue;
        const row = load<u32>(rowAt + (<usize>place << 2));
        if (allowedBits && !(load<u8>(allowedBits + <usize>(row >> 3)) & (1 << (row & 7)))) continue;
        const record = group + <usize>(bit >> 3) * RECORD_BYTES;
        const waiting = load<u32>(record, 32);
        store<u32>(record + (<usize>waiting << 2), row);
        store<u32>(record, waiting + 1, 32);
        scored++;
        if (waiting < 7) continue;
        offerWaiting(
          u + (bit >> 3), queries, records, factors, f, k, readStarts, readItems, outItems, outScores, outCounts, tile,
        );
      }
    }
  }
  for (let v = u; v < min<u32>(count, u + 4); v++) {
    offerWaiting(v, queries, records, factors, f, k, readStarts, readItems, outItems, outScores, outCounts, tile);
  }
  return block == first ? -1 : scored;
}

/**
 * `batchTopK` for at most 64 queries by heads.
 * @returns false when this would take longer than the plain scan, which then overwrites the lists
 */
export function scanHeads(
  queries: usize, count: u32, factors: usize, items: u32, f: u32, k: u32, readStarts: usize, readItems: usize,
  outItems: usize, outScores: usize, outCounts: usize, scratch: usize, allowedBits: usize, heads: usize, h: u32,
): bool {
  const rowBytes = <usize>f << 2;
  const blocks = (items + 8 * BLOCK_PANELS - 1) / (8 * BLOCK_PANELS);
  const packed = scratch + 128 + 68 * rowBytes;
  const thresholds = packed + 64 * (<usize>h << 2);
  const records = thresholds + 256;
  if (items / 384 < k || (allowedBits && isSparse(allowedBits, (items + 7) >> 3))) return false;
  if (!packHeads(queries, count, f, h, heads, scratch, packed, records)) return false;
  for (let u: usize = 0; u < <usize>count; u++) store<u32>(outCounts + (u << 2), 0);
  let scored: i64 = 0;
  for (let first: u32 = 0; first < blocks; first += CHUNK_BLOCKS) {
    const end = min<u32>(blocks, first + CHUNK_BLOCKS);
    let isOpen = false;
    for (let u: u32 = 0; u < count; u += 4) {
      const found = scanGroup(
        u, count, first, end, queries, factors, items, f, k, readStarts, readItems, outItems, outScores, outCounts,
        scratch, allowedBits, heads + <usize>f * rowBytes, h, packed + <usize>u * (<usize>h << 2),
        thresholds + (<usize>u << 2), records,
      );
      isOpen = isOpen || found >= 0;
      scored += max<i64>(0, found);
    }
    if (!isOpen) break;
    // Where an eighth and more has to be scored, the plain scan is faster; the longest, which come first, are not judged by.
    const scanned = <i64>end * (8 * BLOCK_PANELS);
    if (end < blocks && scored > <i64>count * (<i64>(items >> 6) + (scanned >> 3))) return false;
  }
  for (let u: usize = 0; u < <usize>count; u++) {
    const list = u * (<usize>k << 2);
    sortHeap(outItems + list, outScores + list, load<u32>(outCounts + (u << 2)));
  }
  return true;
}

function offerWaiting(
  u: u32, queries: usize, records: usize, factors: usize, f: u32, k: u32, readStarts: usize, readItems: usize,
  outItems: usize, outScores: usize, outCounts: usize, tile: usize,
): void {
  const record = records + <usize>u * RECORD_BYTES;
  if (load<u32>(record, 32) == 0) return;
  const list = <usize>u * (<usize>k << 2);
  const starts = readStarts + (<usize>u << 2);
  offerRows(
    queries + <usize>u * (<usize>f << 2), record, factors, f, k, readItems, readStarts ? load<u32>(starts) : 0,
    readStarts ? load<u32>(starts, 4) : 0, outItems + list, outScores + list, outCounts + (<usize>u << 2), tile,
  );
}

/** True when the plain scan, which passes over panels without an allowed item, has fewer than a quarter of them to score. */
function isSparse(bits: usize, panels: u32): bool {
  let filled: u32 = 0;
  for (let at: u32 = 0; at < panels; at += 4) {
    const four = load<u32>(bits + <usize>at);
    filled += popcnt<u32>((((four & 0x7f7f7f7f) + 0x7f7f7f7f) | four) & 0x80808080);
  }
  return filled < panels >> 2;
}

/** Rotates the queries and packs their heads. @returns false when a norm is out of bounds */
function packHeads(
  queries: usize, count: u32, f: u32, h: u32, basis: usize, scratch: usize, packed: usize, records: usize,
): bool {
  const rowBytes = <usize>f << 2;
  const rotated = scratch + 128;
  memory.copy(rotated, queries, <usize>count * rowBytes);
  rotateRows(rotated, count, f, basis, rotated + 64 * rowBytes);
  for (let u: u32 = 0; u < 64; u++) {
    const row = rotated + <usize>u * rowBytes;
    const record = records + <usize>u * RECORD_BYTES;
    store<u32>(record, 0, 32);
    store<f32>(record, -1, 36);
    if (u >= count) continue;
    let rest: f64 = 0;
    let norm: f64 = 0;
    for (let k: u32 = f; k-- > 0; ) {
      const value = <f64>load<f32>(row + (<usize>k << 2));
      norm += value * value;
      if (k == h - 1) rest = norm;
    }
    norm = sqrt(norm);
    if (!(norm == 0 || (norm > NORM_MIN && norm < NORM_MAX))) return false;
    store<f32>(record, <f32>(norm * 1.000001), 36);
    store<f32>(row + (<usize>(h - 1) << 2), <f32>sqrt(rest));
  }
  packQueries(rotated, count, h, packed, f);
  return true;
}
