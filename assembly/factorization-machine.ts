// Second-order factorization machine (Rendle 2010):
//   score = bias + Σ linear x + ½ Σ_k ((Σ v_k x)² - Σ (v_k x)²)
// in one pass over the row's features for every 16 factors (four sums stay in registers), then 4 at a time.

import { multiplyAdd, multiplySubtract } from './multiply-add';
import { sigmoid, softplus } from './sigmoid';
import { sumLanes } from './vector';

// @ts-ignore: decorator
@inline
function valueAt(values: usize, entry: usize): f32 {
  return values ? load<f32>(values + entry) : 1;
}

/** Scores the entries [start, end) (byte offsets); the sums Σ v_k x are left at `sums`. */
function scoreRow(
  features: usize, values: usize, start: usize, end: usize, bias: f32, linear: usize, factors: usize,
  rowBytes: usize, sums: usize,
): f32 {
  let score = bias;
  for (let e = start; e < end; e += 4) {
    score += valueAt(values, e) * load<f32>(linear + (<usize>load<u32>(features + e) << 2));
  }
  let pairs = f32x4.splat(0);
  let k: usize = 0;
  for (; k + 64 <= rowBytes; k += 64) {
    let s0 = f32x4.splat(0);
    let s1 = f32x4.splat(0);
    let s2 = f32x4.splat(0);
    let s3 = f32x4.splat(0);
    let squares = f32x4.splat(0);
    for (let e = start; e < end; e += 4) {
      const v = factors + <usize>load<u32>(features + e) * rowBytes + k;
      const x = f32x4.splat(valueAt(values, e));
      const t0 = f32x4.mul(x, v128.load(v));
      const t1 = f32x4.mul(x, v128.load(v, 16));
      const t2 = f32x4.mul(x, v128.load(v, 32));
      const t3 = f32x4.mul(x, v128.load(v, 48));
      s0 = f32x4.add(s0, t0);
      s1 = f32x4.add(s1, t1);
      s2 = f32x4.add(s2, t2);
      s3 = f32x4.add(s3, t3);
      const low = multiplyAdd(f32x4.mul(t0, t0), t1, t1);
      squares = f32x4.add(squares, f32x4.add(low, multiplyAdd(f32x4.mul(t2, t2), t3, t3)));
    }
    v128.store(sums + k, s0);
    v128.store(sums + k, s1, 16);
    v128.store(sums + k, s2, 32);
    v128.store(sums + k, s3, 48);
    const low = multiplyAdd(f32x4.mul(s0, s0), s1, s1);
    const all = f32x4.add(low, multiplyAdd(f32x4.mul(s2, s2), s3, s3));
    pairs = f32x4.add(pairs, f32x4.sub(all, squares));
  }
  for (; k < rowBytes; k += 16) {
    let s = f32x4.splat(0);
    let squares = f32x4.splat(0);
    for (let e = start; e < end; e += 4) {
      const v = factors + <usize>load<u32>(features + e) * rowBytes + k;
      const t = f32x4.mul(f32x4.splat(valueAt(values, e)), v128.load(v));
      s = f32x4.add(s, t);
      squares = multiplyAdd(squares, t, t);
    }
    v128.store(sums + k, s);
    pairs = f32x4.add(pairs, f32x4.sub(f32x4.mul(s, s), squares));
  }
  return score + <f32>0.5 * sumLanes(pairs);
}

export function fmScoreRows(
  starts: usize, features: usize, values: usize, firstRow: u32, endRow: u32, bias: usize, linear: usize,
  factors: usize, f: u32, outScores: usize, scratch: usize,
): void {
  assert((f & 3) == 0);
  const rowBytes = <usize>f << 2;
  const base = load<f32>(bias);
  for (let row = firstRow; row < endRow; row++) {
    const at = <usize>row << 2;
    const start = <usize>load<u32>(starts + at) << 2;
    const end = <usize>load<u32>(starts + at, 4) << 2;
    store<f32>(outScores + at, scoreRow(features, values, start, end, base, linear, factors, rowBytes, scratch));
  }
}

/** AdaGrad (Duchi, Hazan, Singer 2011) on one number. */
// @ts-ignore: decorator
@inline
function stepScalar(parameter: usize, squares: usize, gradient: f32, rate: f32): void {
  const square = load<f32>(squares) + gradient * gradient;
  store<f32>(squares, square);
  store<f32>(parameter, load<f32>(parameter) - (rate * gradient) / sqrt<f32>(square));
}

/** AdaGrad on a feature's factors: d score / d v_k = x (Σ v_k x - v_k x). */
// @ts-ignore: decorator
@inline
function stepFactors(
  v: usize, squares: usize, sums: usize, rowBytes: usize, slope: f32, x: f32, rate: f32, regularization: f32,
): void {
  const slopes = f32x4.splat(slope * x);
  const values = f32x4.splat(x);
  const rates = f32x4.splat(rate);
  const regularizations = f32x4.splat(regularization);
  for (let k: usize = 0; k < rowBytes; k += 16) {
    const old = v128.load(v + k);
    const others = multiplySubtract(v128.load(sums + k), values, old);
    const gradient = multiplyAdd(f32x4.mul(slopes, others), regularizations, old);
    const square = multiplyAdd(v128.load(squares + k), gradient, gradient);
    v128.store(squares + k, square);
    v128.store(v + k, f32x4.sub(old, f32x4.div(f32x4.mul(rates, gradient), f32x4.sqrt(square))));
  }
}

export function fmAdaGradRows(
  starts: usize, features: usize, values: usize, firstRow: u32, endRow: u32, bias: usize, linear: usize,
  factors: usize, f: u32, outScores: usize, scratch: usize, targets: usize, order: usize, biasSquares: usize,
  linearSquares: usize, factorSquares: usize, rate: f32, linearRegularization: f32, factorRegularization: f32,
): f64 {
  assert((f & 3) == 0);
  const rowBytes = <usize>f << 2;
  let loss: f64 = 0;
  for (let place = firstRow; place < endRow; place++) {
    const row = order ? load<u32>(order + (<usize>place << 2)) : place;
    const at = <usize>row << 2;
    const start = <usize>load<u32>(starts + at) << 2;
    const end = <usize>load<u32>(starts + at, 4) << 2;
    const score = scoreRow(features, values, start, end, load<f32>(bias), linear, factors, rowBytes, scratch);
    const target = load<f32>(targets + at);
    store<f32>(outScores + at, score);
    loss += softplus(score) - <f64>target * <f64>score;
    const slope = sigmoid(score) - target;
    stepScalar(bias, biasSquares, slope, rate);
    for (let e = start; e < end; e += 4) {
      const feature = <usize>load<u32>(features + e);
      const x = valueAt(values, e);
      const one = feature << 2;
      stepScalar(linear + one, linearSquares + one, slope * x + linearRegularization * load<f32>(linear + one), rate);
      const v = feature * rowBytes;
      stepFactors(factors + v, factorSquares + v, scratch, rowBytes, slope, x, rate, factorRegularization);
    }
  }
  return loss;
}
