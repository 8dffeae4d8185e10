// All-pairs similarity from sparse rows: walk row r's columns, and for each the rows that share it, adding into a dense
// array of sums (Gustavson's sparse product, one row at a time). Two ways to read the sums back:
// - few additions: remember which rows were touched, visit only those;
// - many: no bookkeeping while adding, then scan all sums, four at a time, past the threshold.
//
// Scratch: sums, 2 rows float32, zero between calls | touched, rows uint32.
//   sums without overlap shrink: [W0 W1 W2 ..]          T = f32
//   sums with it:                [W0 c0 W1 c1 ..]       T = v128: one addition of [weight 1 0 0] a pair of entries

import { offer, thresholdOf, sortHeap, isFiniteScore } from './top-k-heap';

/** The scan reads 4 sums at once: it pays when the additions are more than a quarter of the rows. */
export const SCAN_SHARE: u32 = 4;

/** log2 of a sum's bytes. */
// @ts-ignore: decorator
@inline
function shiftOf<T>(): usize {
  return isVector<T>() ? 3 : 2;
}

// @ts-ignore: decorator
@inline
function weightOf(weights: usize, column: usize): f32 {
  return weights ? load<f32>(weights + column) : 1;
}

/** Amount that one shared column adds to a sum with a count. */
// @ts-ignore: decorator
@inline
function unitOf(weight: f32): v128 {
  return f32x4.replace_lane(f32x4(0, 1, 0, 0), 0, weight);
}

/** Adds a shared column to a row's sum. @returns whether the row had none before */
// @ts-ignore: decorator
@inline
function addShared<T>(sum: usize, weight: f32, unit: v128): bool {
  if (isVector<T>()) {
    const before = v128.load_zero<u64>(sum);
    v128.store_lane<u64>(sum, f32x4.add(before, unit), 0);
    return f32x4.extract_lane(before, 1) == 0;
  } else {
    const before = load<f32>(sum);
    store<f32>(sum, before + weight);
    return before == 0;
  }
}

function addDense<T>(columns: usize, start: usize, end: usize, other: usize, otherColumns: usize, weights: usize, sums: usize): void {
  for (let e = start; e < end; e += 4) {
    const column = <usize>load<u32>(columns + e) << 2;
    const weight = weightOf(weights, column);
    const unit = unitOf(weight);
    let at = otherColumns + (<usize>load<u32>(other + column) << 2);
    const last = otherColumns + (<usize>load<u32>(other + column, 4) << 2);
    for (; at < last; at += 4) addShared<T>(sums + (<usize>load<u32>(at) << shiftOf<T>()), weight, unit);
  }
}

/** Adds and lists each row when its sum leaves zero. @returns how many rows were touched. */
function addSparse<T>(
  columns: usize, start: usize, end: usize, other: usize, otherColumns: usize, weights: usize, sums: usize,
  touched: usize,
): u32 {
  let count: u32 = 0;
  for (let e = start; e < end; e += 4) {
    const column = <usize>load<u32>(columns + e) << 2;
    const weight = weightOf(weights, column);
    if (!isVector<T>() && weight == 0) continue;
    const unit = unitOf(weight);
    let at = otherColumns + (<usize>load<u32>(other + column) << 2);
    const last = otherColumns + (<usize>load<u32>(other + column, 4) << 2);
    for (; at < last; at += 4) {
      const row = load<u32>(at);
      if (addShared<T>(sums + (<usize>row << shiftOf<T>()), weight, unit)) {
        store<u32>(touched + (<usize>count << 2), row);
        count++;
      }
    }
  }
  return count;
}

/** Turns the sum of one row into a score, leaves the sum zero and offers the score. @returns the new count */
function offerRow<T>(
  sums: usize, row: u32, norm: f32, norms: usize, shrink: f32, overlapShrink: f32, k: u32,
  outRows: usize, outScores: usize, count: u32,
): u32 {
  const at = sums + (<usize>row << shiftOf<T>());
  let sum = load<f32>(at);
  if (isVector<T>()) {
    const shared = load<f32>(at, 4);
    sum *= shared / (shared + overlapShrink);
    store<u64>(at, 0);
  } else {
    store<f32>(at, 0);
  }
  const score = sum / (norm * (norms ? load<f32>(norms + (<usize>row << 2)) : 1) + shrink);
  if (!(score > 0) || !isFiniteScore(score)) return count;
  return offer<f32>(outRows, outScores, count, k, score, row);
}

/** Visits all sums, leaves them zero. @returns the count of neighbors */
function scanSums<T>(
  sums: usize, rows: u32, norm: f32, norms: usize, shrink: f32, overlapShrink: f32, k: u32,
  outRows: usize, outScores: usize,
): u32 {
  const shrinks = f32x4.splat(shrink);
  const overlapShrinks = f32x4.splat(overlapShrink);
  const rowNorms = f32x4.splat(norm);
  const zero = f32x4.splat(0);
  let count: u32 = 0;
  let row: u32 = 0;
  for (; row + 4 <= rows; row += 4) {
    const at = sums + (<usize>row << shiftOf<T>());
    let four = v128.load(at);
    if (isVector<T>()) {
      const high = v128.load(at, 16);
      if (!v128.any_true(v128.or(four, high))) continue;
      const shared = v128.shuffle<f32>(four, high, 1, 3, 5, 7);
      four = v128.shuffle<f32>(four, high, 0, 2, 4, 6);
      four = f32x4.mul(four, f32x4.div(shared, f32x4.add(shared, overlapShrinks)));
    } else if (!v128.any_true(four)) continue;
    const others = norms ? v128.load(norms + (<usize>row << 2)) : f32x4.splat(1);
    const scores = f32x4.div(four, f32x4.add(f32x4.mul(rowNorms, others), shrinks));
    const threshold = f32x4.splat(max<f32>(0, thresholdOf(outScores, count, k)));
    const hits = i32x4.bitmask(f32x4.gt(scores, threshold));
    for (let lane: u32 = 0; hits >> lane != 0; lane++) {
      if (!((hits >> lane) & 1)) continue;
      count = offerRow<T>(sums, row + lane, norm, norms, shrink, overlapShrink, k, outRows, outScores, count);
    }
    v128.store(at, zero);
    if (isVector<T>()) v128.store(at, zero, 16);
  }
  for (; row < rows; row++) {
    count = offerRow<T>(sums, row, norm, norms, shrink, overlapShrink, k, outRows, outScores, count);
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

function neighborsOfRows<T>(
  starts: usize, columns: usize, other: usize, otherColumns: usize, weights: usize, norms: usize, shrink: f32,
  overlapShrink: f32, rows: u32, firstRow: u32, endRow: u32, k: u32, outRows: usize,
  outScores: usize, outCounts: usize, scratch: usize,
): void {
  const sums = scratch;
  const touched = scratch + (<usize>rows << 3);
  const enough = rows / SCAN_SHARE;
  for (let row = firstRow; row < endRow; row++) {
    const at = <usize>row << 2;
    const own = sums + (<usize>row << shiftOf<T>());
    const start = <usize>load<u32>(starts + at) << 2;
    const end = <usize>load<u32>(starts + at, 4) << 2;
    const norm: f32 = norms ? load<f32>(norms + at) : 1;
    const place = <usize>(row - firstRow);
    const toRows = outRows + ((place * k) << 2);
    const toScores = outScores + ((place * k) << 2);
    let count: u32 = 0;
    if (countAdditions(columns, start, end, other, enough) >= enough) {
      addDense<T>(columns, start, end, other, otherColumns, weights, sums);
      memory.fill(own, 0, 1 << shiftOf<T>());
      count = scanSums<T>(sums, rows, norm, norms, shrink, overlapShrink, k, toRows, toScores);
    } else {
      const found = addSparse<T>(columns, start, end, other, otherColumns, weights, sums, touched);
      memory.fill(own, 0, 1 << shiftOf<T>());
      for (let i: u32 = 0; i < found; i++) {
        const neighbor = load<u32>(touched + (<usize>i << 2));
        count = offerRow<T>(
          sums, neighbor, norm, norms, shrink, overlapShrink, k, toRows, toScores, count,
        );
      }
    }
    sortHeap(toRows, toScores, count);
    store<u32>(outCounts + (place << 2), count);
  }
}

export function neighborTopK(
  starts: usize, columns: usize, other: usize, otherColumns: usize, weights: usize, norms: usize, shrink: f32,
  overlapShrink: f32, rows: u32, firstRow: u32, endRow: u32, k: u32, outRows: usize,
  outScores: usize, outCounts: usize, scratch: usize,
): void {
  if (overlapShrink > 0) {
    neighborsOfRows<v128>(
      starts, columns, other, otherColumns, weights, norms, shrink, overlapShrink, rows, firstRow, endRow, k,
      outRows, outScores, outCounts, scratch,
    );
  } else {
    neighborsOfRows<f32>(
      starts, columns, other, otherColumns, weights, norms, shrink, 0, rows, firstRow, endRow, k,
      outRows, outScores, outCounts, scratch,
    );
  }
}

/** One row compared with all. @returns the additions that it takes */
export function neighborsOfOneRow(
  starts: usize, columns: usize, other: usize, otherColumns: usize, weights: usize, norms: usize,
  overlapShrink: f32, rows: u32, row: u32, k: u32, outRows: usize, outScores: usize, outCount: usize, scratch: usize,
): f64 {
  neighborTopK(
    starts, columns, other, otherColumns, weights, norms, 0, overlapShrink, rows, row, row + 1, k, outRows,
    outScores, outCount, scratch,
  );
  const start = <usize>load<u32>(starts + (<usize>row << 2)) << 2;
  const end = <usize>load<u32>(starts + (<usize>row << 2), 4) << 2;
  return <f64>countAdditions(columns, start, end, other, u32.MAX_VALUE);
}
