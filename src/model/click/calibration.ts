/**
 * Platt scaling (Platt 1999) by Newton's method with a line search (Lin, Lin and Weng 2007): the slope and offset that
 * make sigma(slope * logit + offset) most likely for the targets. They are smoothed as Platt proposes, (n + 1) / (n + 2)
 * for the positives and 1 / (n + 2) for the negatives, so that few records do not make it certain.
 */
import type { Calibration } from './model.ts';

const STEPS_MAX = 100;
const HALVINGS_MAX = 20;
/** Keeps the Hessian positive definite. */
const RIDGE = 1e-12;
const ENOUGH = 1e-9;
/** A step that promises to lower the loss by less than this share of it would be lost in rounding. */
const GAIN_MIN = 1e-13;
/** A model whose order is no better than chance keeps its order, almost flat. */
const SLOPE_MIN = 0.01;

/** @param targets 1 for positive, 0 for negative; without both kinds nothing is changed (slope 1, offset 0) */
export function calibrate(logits: ArrayLike<number>, targets: ArrayLike<number>): Calibration {
  const count = logits.length;
  let positives = 0;
  for (let at = 0; at < count; at++) positives += targets[at]!;
  if (positives === 0 || positives === count) return { slope: 1, offset: 0 };
  const high = (positives + 1) / (positives + 2);
  const low = 1 / (count - positives + 2);
  const goals = Float64Array.from({ length: count }, (_, at) => (targets[at] === 1 ? high : low));
  const free = climb(logits, goals, { slope: 1, offset: Math.log(positives / (count - positives)) }, true);
  if (free.slope >= SLOPE_MIN) return free;
  return climb(logits, goals, { slope: SLOPE_MIN, offset: free.offset }, false);
}

/** Minimizes the loss from `start`, the slope too when `fitsSlope`. */
function climb(
  logits: ArrayLike<number>,
  goals: Float64Array,
  start: Calibration,
  fitsSlope: boolean,
): Calibration {
  let present = start;
  let loss = lossOf(logits, goals, present);
  for (let step = 0; step < STEPS_MAX; step++) {
    const move = newtonStep(logits, goals, present, fitsSlope);
    if (Math.abs(move.slope) + Math.abs(move.offset) < ENOUGH || move.gain < GAIN_MIN * loss) break;
    let length = 1;
    let found = false;
    for (let halving = 0; halving < HALVINGS_MAX && !found; halving++, length /= 2) {
      const next = {
        slope: present.slope + length * move.slope,
        offset: present.offset + length * move.offset,
      };
      const nextLoss = lossOf(logits, goals, next);
      found = nextLoss < loss;
      if (found) [present, loss] = [next, nextLoss];
    }
    if (!found) break;
  }
  return present;
}

/** @returns the step, and by how much it would lower the loss if that were quadratic */
function newtonStep(
  logits: ArrayLike<number>,
  goals: Float64Array,
  { slope, offset }: Calibration,
  fitsSlope: boolean,
): Calibration & { readonly gain: number } {
  let slopeGradient = 0;
  let offsetGradient = 0;
  let slopes = RIDGE;
  let mixed = 0;
  let offsets = RIDGE;
  for (let at = 0; at < goals.length; at++) {
    const logit = logits[at]!;
    const probability = sigmoid(slope * logit + offset);
    const weight = probability * (1 - probability);
    const error = probability - goals[at]!;
    slopeGradient += error * logit;
    offsetGradient += error;
    slopes += weight * logit * logit;
    mixed += weight * logit;
    offsets += weight;
  }
  const determinant = slopes * offsets - mixed * mixed;
  const isFlat = !fitsSlope || !(determinant > 0);
  const slopeMove = isFlat ? 0 : -(offsets * slopeGradient - mixed * offsetGradient) / determinant;
  const offsetMove = isFlat
    ? -offsetGradient / offsets
    : -(slopes * offsetGradient - mixed * slopeGradient) / determinant;
  const gain = -(slopeGradient * slopeMove + offsetGradient * offsetMove) / 2;
  return { slope: slopeMove, offset: offsetMove, gain };
}

function lossOf(logits: ArrayLike<number>, goals: Float64Array, { slope, offset }: Calibration): number {
  let sum = 0;
  for (let at = 0; at < goals.length; at++) {
    const x = slope * logits[at]! + offset;
    sum += Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x))) - goals[at]! * x;
  }
  return sum;
}

export function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}
