// All-pairs similarity from sparse rows: walk row r's columns, and for each the rows that share it, adding into a dense
// array of sums (Gustavson's sparse product, one row at a time). Two ways to read the sums back:
// - few additions: remember which rows were touched, visit only those;
// - many: no bookkeeping while adding, then scan all sums, four at a time, past the threshold.
//
// Scratch: sums, rows float32, zero between calls | touched, rows uint32.

import { offer, thresholdOf, sortHeap, isFiniteScore } from './heap';

/** The scan reads 4 sums at once: it pays when the additions are more than a quarter of the rows. */
const SCAN_SHARE: u32 = 4;

function addDense(columns: usize, start: usize, end: usize, other: usize, otherColumns: usize, weights: usize, sums: usize): void {
  for (let e = start; e < end; e += 4) {
    const column = <usize>load<u32>(columns + e) << 2;
    const weight: f32 = weights ? load<f32>(weights + column) : 1;
    let at = otherColumns + (<usize>load<u32>(other + column) << 2);
    const last = otherColumns + (<usize>load<u32>(other + column, 4) << 2);
    for (; at < last; at += 4) {
      const sum = sums + (<usize>load<u32>(at) << 2);
      store<f32>(sum, load<f32>(sum) + weight);
    }
  }
}

/** Adds and lists each row when its sum leaves zero. @returns how many rows were touched. */
function addSparse(
  columns: usize, start: usize, end: usize, other: usize, otherColumns: usize, weights: usize, sums: usize,
  touched: usize,
): u32 {
  let count: u32 = 0;
  for (let e = start; e < end; e += 4) {
    const column = <usize>load<u32>(columns + e) << 2;
    const weight: f32 = weights ? load<f32>(weights + column) : 1;
    if (weight == 0) continue;
    let at = otherColumns + (<usize>load<u32>(other + column) << 2);
    const last = otherColumns + (<usize>load<u32>(other + column, 4) << 2);
    for (; at < last; at += 4) {
      const row = load<u32>(at);
      const sum = sums + (<usize>row << 2);
      const before = load<f32>(sum);
      if (before == 0) {
        store<u32>(touched + (<usize>count << 2), row);
        count++;
      }
      store<f32>(sum, before + weight);
    }
  }
  return count;
}

// @ts-ignore: decorator
@inline
function isAllowed(bits: usize, row: u32): bool {
  return !bits || ((load<u32>(bits + (<usize>(row >> 5) << 2)) >> (row & 31)) & 1) == 1;
}

/** Turns the sum of one row into a score and offers it. @returns the new count */
function offerRow(
  sum: f32, row: u32, norm: f32, norms: usize, shrink: f32, allowedBits: usize, k: u32, outRows: usize,
  outScores: usize, count: u32,
): u32 {
  const score = sum / (norm * (norms ? load<f32>(norms + (<usize>row << 2)) : 1) + shrink);
  if (!(score > 0) || !isFiniteScore(score) || !isAllowed(allowedBits, row)) return count;
  return offer(outRows, outScores, count, k, score, row);
}

/** Visits all sums, leaves them zero. @returns the count of neighbors */
function scanSums(
  sums: usize, rows: u32, norm: f32, norms: usize, shrink: f32, allowedBits: usize, k: u32, outRows: usize,
  outScores: usize,
): u32 {
  const shrinks = f32x4.splat(shrink);
  const rowNorms = f32x4.splat(norm);
  const zero = f32x4.splat(0);
  let count: u32 = 0;
  let row: u32 = 0;
  for (; row + 4 <= rows; row += 4) {
    const at = <usize>row << 2;
    const four = v128.load(sums + at);
    if (!v128.any_true(four)) continue;
    const others = norms ? v128.load(norms + at) : f32x4.splat(1);
    const scores = f32x4.div(four, f32x4.add(f32x4.mul(rowNorms, others), shrinks));
    const threshold = f32x4.splat(max<f32>(0, thresholdOf(outScores, count, k)));
    const hits = i32x4.bitmask(f32x4.gt(scores, threshold));
    for (let lane: u32 = 0; hits >> lane != 0; lane++) {
      if (!((hits >> lane) & 1)) continue;
      const sum = load<f32>(sums + at + (<usize>lane << 2));
      count = offerRow(sum, row + lane, norm, norms, shrink, allowedBits, k, outRows, outScores, count);
    }
    v128.store(sums + at, zero);
  }
  for (; row < rows; row++) {
    const at = sums + (<usize>row << 2);
    count = offerRow(load<f32>(at), row, norm, norms, shrink, allowedBits, k, outRows, outScores, count);
    store<f32>(at, 0);
  }
  return count;
}

function countAdditions(columns: usize, start: usize, end: usize, other: usize, enough: u32): u32 {
  let total: u32 = 0;
  for (let e = start; e < end && total < enough; e += 4) {
    const column = <usize>load<u32>(columns + e) << 2;
    total += load<u32>(other + column, 4) - load<u32>(other + column);
  }
  return total;
}

export function neighborTopK(
  starts: usize, columns: usize, other: usize, otherColumns: usize, weights: usize, norms: usize, shrink: f32,
  rows: u32, firstRow: u32, endRow: u32, k: u32, allowedBits: usize, outRows: usize, outScores: usize,
  outCounts: usize, scratch: usize,
): void {
  const sums = scratch;
  const touched = scratch + (<usize>rows << 2);
  const enough = rows / SCAN_SHARE;
  for (let row = firstRow; row < endRow; row++) {
    const at = <usize>row << 2;
    const start = <usize>load<u32>(starts + at) << 2;
    const end = <usize>load<u32>(starts + at, 4) << 2;
    const norm: f32 = norms ? load<f32>(norms + at) : 1;
    const place = <usize>(row - firstRow);
    const toRows = outRows + ((place * k) << 2);
    const toScores = outScores + ((place * k) << 2);
    let count: u32 = 0;
    if (countAdditions(columns, start, end, other, enough) >= enough) {
      addDense(columns, start, end, other, otherColumns, weights, sums);
      store<f32>(sums + at, 0);
      count = scanSums(sums, rows, norm, norms, shrink, allowedBits, k, toRows, toScores);
    } else {
      const found = addSparse(columns, start, end, other, otherColumns, weights, sums, touched);
      store<f32>(sums + at, 0);
      for (let i: u32 = 0; i < found; i++) {
        const neighbor = load<u32>(touched + (<usize>i << 2));
        const sum = sums + (<usize>neighbor << 2);
        count = offerRow(load<f32>(sum), neighbor, norm, norms, shrink, allowedBits, k, toRows, toScores, count);
        store<f32>(sum, 0);
      }
    }
    sortHeap(toRows, toScores, count);
    store<u32>(outCounts + (place << 2), count);
  }
}
