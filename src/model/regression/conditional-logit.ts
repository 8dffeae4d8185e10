/**
 * Conditional logit (McFadden 1974), by Newton's method with a ridge penalty on standardized features: what somebody
 * chose out of a set, explained by a linear score. The chance of an alternative is its exp(score) among those of the
 * whole set, so whatever is equal for a set's alternatives explains nothing, and each set weighs the same however many
 * alternatives were chosen. Its loss bounds NDCG from above (Bruch et al. 2019), which that of a regression over all
 * alternatives does not.
 */
import { FurzeError } from '../../domain/furze-error.ts';
import { solveSymmetric } from './logistic-regression.ts';

/** Sets of alternatives, as columns. */
export interface ChoiceSample {
  readonly width: number;
  /** Alternatives one after the other, `width` numbers each, all finite. */
  readonly features: Float64Array;
  /** 1 for an alternative that was chosen, else 0. */
  readonly labels: Uint8Array;
  /** Alternatives like this one that it stands for, above 0: one that was sampled stands for several. */
  readonly multiples: Float64Array;
  /** Set i has the alternatives from starts[i] to starts[i + 1] - 1; one at least is chosen. */
  readonly starts: readonly number[];
}

/** Knowledge of a fit beside the sample, a number a feature each. */
export interface FitOptions {
  /**
   * A feature that varies by less inside the sets is penalized as if it varied so much. What few small differences tell by
   * chance then makes no weight that a large difference would be ranked by.
   */
  readonly leastDeviations?: readonly number[];
  /** Weights to begin at, such as those of a sample that is much the same; they tell only how soon it ends. */
  readonly start?: readonly number[];
  /** Weights that the ridge draws to, in place of 0; a feature that does not vary keeps its own. */
  readonly prior?: readonly number[];
}

const ITERATIONS_MAX = 30;
const HALVINGS_MAX = 20;
/** The fit ends when a step lowers the mean loss by less than this. */
const TOLERANCE = 1e-5;
/** Share of a sum of squares that may be rounding. */
const ROUNDING = 1e-18;

/**
 * The weights of the features under which the penalized loss is least, those of `nonNegative` not below zero: by projected
 * Newton steps (Bertsekas 1982, "Projected Newton methods for optimization problems with simple constraints").
 * @param penalty ridge on the standardized weights, in units of the mean loss; above 0
 * @throws FurzeError INTERNAL when a feature is not finite
 */
export function fitChoices(
  sample: ChoiceSample,
  nonNegative: readonly number[],
  penalty: number,
  { leastDeviations = [], start = [], prior = [] }: FitOptions = {},
): readonly number[] {
  const { width } = sample;
  const deviations = deviationsOf(sample).map((deviation, at) =>
    Math.max(deviation, leastDeviations[at] ?? 0),
  );
  const features = new Float64Array(sample.features.length);
  for (let row = 0; row < features.length; row += width)
    for (let of = 0; of < width; of++) features[row + of] = sample.features[row + of]! / deviations[of]!;
  // A feature that does not vary has the deviation Infinity.
  const standardized = (raw: readonly number[]) =>
    deviations.map((deviation, at) => (raw[at] && Number.isFinite(deviation) ? raw[at] * deviation : 0));
  const centre = standardized(prior);
  const begin = standardized(start.length > 0 ? start : prior);
  for (const at of nonNegative) begin[at] = Math.max(0, begin[at]!);
  const weights = newton({ ...sample, features }, { penalty, centre, nonNegative }, begin);
  return Array.from(weights, (weight, at) =>
    Number.isFinite(deviations[at]) ? weight / deviations[at]! : (prior[at] ?? 0),
  );
}

/** Deviation of each feature inside the sets; Infinity for one that does not but for rounding, which then counts 0. */
function deviationsOf({ width, features, starts }: ChoiceSample): Float64Array {
  const squares = new Float64Array(width);
  const sizes = new Float64Array(width);
  const means = new Float64Array(width);
  let count = 0;
  for (let set = 0; set + 1 < starts.length; set++) {
    const [from, to] = [starts[set]!, starts[set + 1]!];
    means.fill(0);
    for (let row = from * width; row < to * width; row += width) {
      for (let of = 0; of < width; of++) {
        if (!Number.isFinite(features[row + of]))
          throw new FurzeError('INTERNAL', 'a feature of the ranking is not finite');
        means[of]! += features[row + of]! / (to - from);
      }
    }
    for (let row = from * width; row < to * width; row += width) {
      for (let of = 0; of < width; of++) {
        const value = features[row + of]!;
        const above = value - means[of]!;
        squares[of]! += above * above;
        sizes[of]! += value * value;
      }
    }
    count += to - from;
  }
  return squares.map((sum, at) =>
    sum > ROUNDING * sizes[at]! ? Math.sqrt(sum / count) : Number.POSITIVE_INFINITY,
  );
}

/** A penalty on the squared distance of the weights from others, and the weights that are not below 0. */
interface Ridge {
  readonly penalty: number;
  readonly centre: Float64Array;
  readonly nonNegative: readonly number[];
}

/** @param start weights to begin at, within the bounds; which ones tells only how soon it ends */
function newton(sample: ChoiceSample, ridge: Ridge, start: Float64Array<ArrayBuffer>) {
  let weights = start;
  let state = evaluate(sample, weights, ridge);
  for (let iteration = 0; iteration < ITERATIONS_MAX; iteration++) {
    const step = newtonStep(sample, weights, state.chances, ridge);
    const from = state;
    for (let halving = 0, scale = 1; halving < HALVINGS_MAX; halving++, scale /= 2) {
      const tried = weights.map((weight, at) => weight + scale * step[at]!);
      const next = evaluate(sample, tried, ridge);
      if (!(next.loss < from.loss)) continue;
      weights = tried;
      state = next;
      break;
    }
    if (from.loss - state.loss < TOLERANCE) break;
  }
  return weights;
}

/** The chances of a set's alternatives under the weights, into their places in `chances`; returns the set's loss. */
function chancesOf(
  { width, features, labels, multiples, starts }: ChoiceSample,
  set: number,
  weights: ArrayLike<number>,
  chances: Float64Array,
): number {
  const [from, to] = [starts[set]!, starts[set + 1]!];
  let highest = Number.NEGATIVE_INFINITY;
  let chosen = 0;
  let chosenScore = 0;
  for (let at = from; at < to; at++) {
    let score = 0;
    for (let feature = 0; feature < width; feature++)
      score += weights[feature]! * features[at * width + feature]!;
    chances[at] = score;
    highest = Math.max(highest, score);
    if (labels[at] === 1) {
      chosen++;
      chosenScore += score;
    }
  }
  let sum = 0;
  for (let at = from; at < to; at++) sum += chances[at] = multiples[at]! * Math.exp(chances[at]! - highest);
  for (let at = from; at < to; at++) chances[at]! /= sum;
  return highest + Math.log(sum) - chosenScore / chosen;
}

/** The mean loss under the weights, and the chances of all alternatives. */
function evaluate(sample: ChoiceSample, weights: Float64Array, { penalty, centre }: Ridge) {
  const { loss, chances } = lossOf(sample, weights);
  const squares = weights.reduce((sum, weight, at) => sum + (weight - centre[at]!) ** 2, 0);
  return { loss: loss + (penalty * squares) / 2, chances };
}

/** The step to where the loss would be least within the bounds if it were quadratic. */
function newtonStep(
  sample: ChoiceSample,
  weights: Float64Array,
  chances: Float64Array,
  { penalty, centre, nonNegative }: Ridge,
): Float64Array {
  const { width } = sample;
  const { gradient, hessian } = momentsOf(sample, chances);
  for (let a = 0; a < width; a++) {
    gradient[a]! -= penalty * (weights[a]! - centre[a]!);
    hessian[a * width + a]! += penalty;
  }
  return boundedStep(hessian, gradient, weights, nonNegative);
}

/**
 * The step d that minimizes d'Hd/2 - g'd with no weight of `nonNegative` below 0: the primal active set method (Nocedal and
 * Wright 2006, "Numerical Optimization", algorithm 16.3).
 * @param weights within the bounds
 */
function boundedStep(
  hessian: Float64Array,
  gradient: Float64Array,
  weights: Float64Array,
  nonNegative: readonly number[],
): Float64Array {
  const width = weights.length;
  const held = new Set<number>();
  let step: Float64Array = new Float64Array(width);
  // Each round holds or lets go of one weight; rounding could make it go on for ever.
  for (let round = 0; round < 4 * width; round++) {
    const best = stepWithout(held, hessian, gradient, weights);
    const [nearest] = nonNegative
      .filter((at) => !held.has(at) && weights[at]! + best[at]! < 0)
      .map((at) => ({ at, share: (weights[at]! + step[at]!) / (step[at]! - best[at]!) }))
      .sort((a, b) => a.share - b.share);
    if (nearest) {
      step = step.map((value, at) => value + nearest.share * (best[at]! - value));
      held.add(nearest.at);
      continue;
    }
    step = best;
    // What the loss would fall by where a held weight rose.
    const [freed] = [...held]
      .map((at) => ({ at, fall: gradient[at]! - productOfRow(hessian, at, step) }))
      .filter(({ fall }) => fall > 0)
      .sort((a, b) => b.fall - a.fall);
    if (!freed) break;
    held.delete(freed.at);
  }
  return step;
}

/** The least of d'Hd/2 - g'd where the held weights come to 0. */
function stepWithout(
  held: ReadonlySet<number>,
  hessian: Float64Array,
  gradient: Float64Array,
  weights: Float64Array,
): Float64Array {
  const width = weights.length;
  const fixed = weights.map((weight, at) => (held.has(at) ? -weight : 0));
  const right = gradient.map((value, at) =>
    held.has(at) ? fixed[at]! : value - productOfRow(hessian, at, fixed),
  );
  const left = hessian.map((value, at) => {
    const [row, column] = [Math.floor(at / width), at % width];
    return held.has(row) || held.has(column) ? Number(row === column) : value;
  });
  return solveSymmetric(left, right);
}

function productOfRow(matrix: Float64Array, row: number, vector: Float64Array): number {
  return vector.reduce((sum, value, at) => sum + matrix[row * vector.length + at]! * value, 0);
}

/** The mean loss of a sample, in nats, its gradient and its curvature. */
export interface ChoiceMoments {
  readonly loss: number;
  /** Minus its gradient: the way to lower loss. */
  readonly gradient: Float64Array<ArrayBuffer>;
  /** Row by row. */
  readonly hessian: Float64Array<ArrayBuffer>;
}

/** The mean loss of a sample at these weights, its gradient and its curvature. */
export function choiceMoments(sample: ChoiceSample, weights: Float64Array): ChoiceMoments {
  const { loss, chances } = lossOf(sample, weights);
  return { loss, ...momentsOf(sample, chances) };
}

/** The mean loss of a sample at these weights, in nats, and the chances of all alternatives. */
export function lossOf(sample: ChoiceSample, weights: ArrayLike<number>) {
  const sets = sample.starts.length - 1;
  const chances = new Float64Array(sample.labels.length);
  let loss = 0;
  for (let set = 0; set < sets; set++) loss += chancesOf(sample, set, weights, chances);
  return { loss: loss / sets, chances };
}

function momentsOf({ width, features, labels, starts }: ChoiceSample, chances: Float64Array) {
  const sets = starts.length - 1;
  const gradient = new Float64Array(width);
  const hessian = new Float64Array(width * width);
  const mean = new Float64Array(width);
  for (let set = 0; set < sets; set++) {
    const [from, to] = [starts[set]!, starts[set + 1]!];
    let chosen = 0;
    for (let at = from; at < to; at++) chosen += labels[at]!;
    mean.fill(0);
    for (let at = from; at < to; at++) {
      const chance = chances[at]!;
      const pull = (labels[at]! / chosen - chance) / sets;
      const row = at * width;
      for (let a = 0; a < width; a++) {
        const value = features[row + a]!;
        if (value === 0) continue;
        mean[a]! += chance * value;
        gradient[a]! += pull * value;
        const share = (chance * value) / sets;
        for (let b = 0; b <= a; b++) hessian[a * width + b]! += share * features[row + b]!;
      }
    }
    for (let a = 0; a < width; a++)
      for (let b = 0; b <= a; b++) hessian[a * width + b]! -= (mean[a]! * mean[b]!) / sets;
  }
  for (let a = 0; a < width; a++)
    for (let b = 0; b < a; b++) hessian[b * width + a] = hessian[a * width + b]!;
  return { gradient, hessian };
}
