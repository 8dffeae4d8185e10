/**
 * Logistic regression by Newton's method (iteratively reweighted least squares; Hastie, Tibshirani, Friedman 2009,
 * section 4.4.1), with a ridge penalty on standardized features. For some thousand rows of a handful of features.
 */
import { FurzeError } from '../../domain/furze-error.ts';

/** p = 1 / (1 + exp(-(bias + weights · features))), over features as they come. */
export interface LogisticRegression {
  readonly bias: number;
  readonly weights: readonly number[];
}

export interface LogisticSample {
  readonly width: number;
  /** Rows one after the other, `width` numbers each, all finite. */
  readonly features: Float64Array;
  /** 1 or 0 for each row. */
  readonly labels: Uint8Array;
}

const ITERATIONS_MAX = 50;
const HALVINGS_MAX = 30;
/** The fit ends when a step lowers the mean loss by less than this. */
const TOLERANCE = 1e-9;
/**
 * Ridge on the standardized weights, in units of the mean loss; above 0, so that a feature that is constant or tells the
 * classes apart completely has a finite weight.
 */
const PENALTY = 1e-4;

/** @throws FurzeError INTERNAL when a feature is not finite or a class is missing */
export function fitLogistic(sample: LogisticSample): LogisticRegression {
  const { width, labels } = sample;
  const rows = labels.length;
  const positives = labels.reduce((sum, label) => sum + label, 0);
  if (positives === 0 || positives === rows) {
    throw new FurzeError('INTERNAL', 'a logistic regression needs examples of both classes');
  }
  const { means, deviations } = moments(sample);
  const standard = Float64Array.from(
    sample.features,
    (value, at) => (value - means[at % width]!) / deviations[at % width]!,
  );
  const weights = new Float64Array(width + 1);
  weights[0] = Math.log(positives / (rows - positives));
  let loss = meanLoss(standard, labels, weights);
  for (let iteration = 0; iteration < ITERATIONS_MAX; iteration++) {
    const step = newtonStep(standard, labels, weights);
    const next = descend(standard, labels, weights, step, loss);
    if (next === undefined || loss - next < TOLERANCE) break;
    loss = next;
  }
  const raw = Array.from(weights.subarray(1), (weight, at) => weight / deviations[at]!);
  return { bias: weights[0]! - raw.reduce((sum, weight, at) => sum + weight * means[at]!, 0), weights: raw };
}

/** A constant feature gets the deviation 1. */
function moments({ width, features, labels }: LogisticSample) {
  const means = new Float64Array(width);
  const deviations = new Float64Array(width);
  features.forEach((value, at) => {
    if (!Number.isFinite(value)) throw new FurzeError('INTERNAL', 'a feature of the ranking is not finite');
    means[at % width]! += value / labels.length;
  });
  features.forEach((value, at) => {
    deviations[at % width]! += (value - means[at % width]!) ** 2 / labels.length;
  });
  return { means, deviations: deviations.map((variance) => Math.sqrt(variance) || 1) };
}

function logitOf(features: Float64Array, row: number, weights: Float64Array): number {
  const width = weights.length - 1;
  let logit = weights[0]!;
  for (let at = 0; at < width; at++) logit += weights[at + 1]! * features[row * width + at]!;
  return logit;
}

function meanLoss(features: Float64Array, labels: Uint8Array, weights: Float64Array) {
  let loss = 0;
  for (let row = 0; row < labels.length; row++) {
    const logit = logitOf(features, row, weights);
    const margin = labels[row] === 1 ? logit : -logit;
    // log(1 + exp(-margin)) without overflow.
    loss += Math.max(0, -margin) + Math.log1p(Math.exp(-Math.abs(margin)));
  }
  const squares = weights.subarray(1).reduce((sum, weight) => sum + weight * weight, 0);
  return loss / labels.length + (PENALTY * squares) / 2;
}

/** Solves Hessian · step = -gradient. */
function newtonStep(features: Float64Array, labels: Uint8Array, weights: Float64Array) {
  const size = weights.length;
  const hessian = new Float64Array(size * size);
  const gradient = new Float64Array(size);
  const row = new Float64Array(size).fill(1);
  for (let at = 0; at < labels.length; at++) {
    row.set(features.subarray(at * (size - 1), (at + 1) * (size - 1)), 1);
    const probability = 1 / (1 + Math.exp(-logitOf(features, at, weights)));
    const curvature = (probability * (1 - probability)) / labels.length;
    const error = (labels[at]! - probability) / labels.length;
    for (let a = 0; a < size; a++) {
      gradient[a]! += error * row[a]!;
      for (let b = 0; b < size; b++) hessian[a * size + b]! += curvature * row[a]! * row[b]!;
    }
  }
  for (let a = 1; a < size; a++) gradient[a]! -= PENALTY * weights[a]!;
  // The bias has no penalty but a trace of one, for the case that every probability is 0 or 1.
  for (let a = 0; a < size; a++) hessian[a * size + a]! += a === 0 ? 1e-12 : PENALTY;
  return solveSymmetric(hessian, gradient);
}

/** Goes along `step`, halved until the loss falls. @returns the new loss, undefined when no length helps */
function descend(
  features: Float64Array,
  labels: Uint8Array,
  weights: Float64Array,
  step: Float64Array,
  loss: number,
): number | undefined {
  let scale = 1;
  for (let halving = 0; halving < HALVINGS_MAX; halving++, scale /= 2) {
    const tried = weights.map((weight, at) => weight + scale * step[at]!);
    const next = meanLoss(features, labels, tried);
    if (!(next < loss)) continue;
    weights.set(tried);
    return next;
  }
  return undefined;
}

/**
 * Solves A x = b for a symmetric positive definite A of b.length rows by Cholesky; A is replaced by its factor, b by x.
 * @returns b
 */
export function solveSymmetric(a: Float64Array, b: Float64Array): Float64Array {
  const size = b.length;
  for (let row = 0; row < size; row++) {
    for (let column = 0; column <= row; column++) {
      let sum = a[row * size + column]!;
      for (let k = 0; k < column; k++) sum -= a[row * size + k]! * a[column * size + k]!;
      a[row * size + column] = row === column ? Math.sqrt(sum) : sum / a[column * size + column]!;
    }
  }
  for (let row = 0; row < size; row++) {
    for (let k = 0; k < row; k++) b[row]! -= a[row * size + k]! * b[k]!;
    b[row]! /= a[row * size + row]!;
  }
  for (let row = size - 1; row >= 0; row--) {
    for (let k = row + 1; k < size; k++) b[row]! -= a[k * size + row]! * b[k]!;
    b[row]! /= a[row * size + row]!;
  }
  return b;
}
