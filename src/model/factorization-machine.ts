/**
 * Second-order factorisation machine (Rendle 2010) for the probability of a positive answer: logistic loss by
 * AdaGrad (Duchi et al. 2011). With 0 factors of influence it is logistic regression, which `linearOnly` gives.
 */
import type { FeatureRows } from '../dataset/readers/libfm.ts';
import { FurzeError } from '../domain/errors.ts';
import { createRandom, type Random } from '../domain/random.ts';
import type { Kernels } from '../kernel/kernels.ts';
import { fmScratchBytes, type InstantiateKernels, paddedFactors } from '../kernel/scratch.ts';
import { ARENA_START, Arena, alignedBytes } from '../memory/arena.ts';
import { createSharedMemory } from '../memory/shared-memory.ts';
import type { Progress } from './als.ts';

export interface FmSettings {
  /** Length of a feature's vector, 1 to 256. */
  readonly factors: number;
  readonly epochs: number;
  readonly learningRate: number;
  /** Decay of the vectors and of the linear weights. */
  readonly regularization: number;
  readonly linearRegularization: number;
  /** Leaves the vectors at zero: logistic regression on the same features. */
  readonly linearOnly: boolean;
  readonly seed: number;
}

export const FM_DEFAULTS: FmSettings = {
  factors: 16,
  epochs: 20,
  learningRate: 0.05,
  regularization: 1e-4,
  linearRegularization: 1e-5,
  linearOnly: false,
  seed: 1,
};

const INITIAL_DEVIATION = 0.05;
/** Sums of squared gradients begin here, so that the first steps are not longer than the learning rate allows. */
const INITIAL_SQUARES = 1;

/** The parameters: one bias, a weight and a vector of `paddedFactors(factors)` a feature. */
export interface FactorizationMachine {
  readonly featureCount: number;
  readonly factors: number;
  readonly bias: number;
  readonly linear: Float32Array;
  readonly vectors: Float32Array;
}

interface PlacedRows {
  readonly starts: number;
  readonly features: number;
  readonly values: number;
  readonly rowCount: number;
}

/** Bytes of rows placed in an arena, with a score for each. */
function rowBytes(rows: FeatureRows): number {
  return [rows.starts, rows.features, rows.values, rows.targets].reduce(
    (sum, array) => sum + alignedBytes(array.byteLength),
    0,
  );
}

function placeRows(arena: Arena, rows: FeatureRows): PlacedRows {
  const starts = arena.alloc(rows.starts.byteLength);
  const features = arena.alloc(rows.features.byteLength);
  const values = arena.alloc(rows.values.byteLength);
  arena.u32(starts, rows.starts.length).set(rows.starts);
  arena.u32(features, rows.features.length).set(rows.features);
  arena.f32(values, rows.values.length).set(rows.values);
  return { starts, features, values, rowCount: rows.targets.length };
}

/**
 * Trains in this thread and yields after each epoch.
 * @param featureCount at least `rows.featureCount`: features of later rows may be higher
 * @throws FurzeError BAD_REQUEST for settings out of range, INTERNAL when a parameter is not finite at the end
 */
export function* fitFactorizationMachine(
  rows: FeatureRows,
  featureCount: number,
  given: Partial<FmSettings>,
  instantiate: InstantiateKernels,
): Generator<Progress & { readonly loss: number }, FactorizationMachine> {
  const settings = { ...FM_DEFAULTS, ...given };
  checkSettings(settings);
  const f = paddedFactors(settings.factors);
  const rowCount = rows.targets.length;
  const parameterBytes = [4, featureCount * 4, featureCount * f * 4];
  const sizes = [
    ...parameterBytes,
    ...parameterBytes,
    rowCount * 4,
    rowCount * 4,
    rowCount * 4,
    fmScratchBytes(f),
  ];
  const bytes = sizes.reduce((sum, size) => sum + alignedBytes(size), ARENA_START + rowBytes(rows));
  const arena = new Arena(createSharedMemory(bytes));
  const kernels = instantiate(arena.memory);
  const placed = placeRows(arena, rows);
  const offsets = sizes.map((size) => arena.alloc(size)) as [...Ten];
  const [
    bias,
    linear,
    factors,
    biasSquares,
    linearSquares,
    factorSquares,
    targets,
    order,
    outScores,
    scratch,
  ] = offsets;
  arena.f32(targets, rowCount).set(rows.targets);
  arena.f32(biasSquares, 1).fill(INITIAL_SQUARES);
  arena.f32(linearSquares, featureCount).fill(INITIAL_SQUARES);
  arena.f32(factorSquares, featureCount * f).fill(INITIAL_SQUARES);
  const random = createRandom(settings.seed);
  const vectors = arena.f32(factors, featureCount * f);
  // Vectors that are all zero have zero gradients: they stay, which is the linear model.
  for (let at = 0; at < vectors.length && !settings.linearOnly; at++) {
    if (at % f < settings.factors) vectors[at] = INITIAL_DEVIATION * random.normal();
  }
  const visits = arena.u32(order, rowCount);
  for (let at = 0; at < rowCount; at++) visits[at] = at;
  const job = { ...placed, firstRow: 0, endRow: rowCount, bias, linear, factors, f, outScores, scratch };
  for (let epoch = 0; epoch < settings.epochs; epoch++) {
    shuffle(visits, random);
    const loss = kernels.fmAdaGradRows({
      ...job,
      targets,
      order,
      biasSquares,
      linearSquares,
      factorSquares,
      learningRate: settings.learningRate,
      linearRegularization: settings.linearRegularization,
      factorRegularization: settings.regularization,
    });
    yield { done: epoch + 1, total: settings.epochs, loss: loss / Math.max(1, rowCount) };
  }
  if (kernels.countNonFinite(linear, featureCount) + kernels.countNonFinite(factors, featureCount * f) > 0) {
    throw new FurzeError('INTERNAL', 'the factorisation machine diverged; a lower learning rate may help');
  }
  return {
    featureCount,
    factors: settings.factors,
    bias: arena.f32(bias, 1)[0]!,
    linear: new Float32Array(arena.f32(linear, featureCount)),
    vectors: new Float32Array(vectors),
  };
}

type Ten = [number, number, number, number, number, number, number, number, number, number];

/**
 * The probability of a positive answer for each row.
 * @throws FurzeError BAD_REQUEST when a row has a feature that the model does not know
 */
export function predictProbabilities(
  model: FactorizationMachine,
  rows: FeatureRows,
  instantiate: InstantiateKernels,
): Float32Array {
  if (rows.featureCount > model.featureCount) {
    throw new FurzeError(
      'BAD_REQUEST',
      `feature ${rows.featureCount - 1} of a model with ${model.featureCount}`,
    );
  }
  const f = paddedFactors(model.factors);
  const rowCount = rows.targets.length;
  const sizes = [4, model.linear.byteLength, model.vectors.byteLength, rowCount * 4, fmScratchBytes(f)];
  const bytes = sizes.reduce((sum, size) => sum + alignedBytes(size), ARENA_START + rowBytes(rows));
  const arena = new Arena(createSharedMemory(bytes));
  const kernels: Kernels = instantiate(arena.memory);
  const placed = placeRows(arena, rows);
  const offsets = sizes.map((size) => arena.alloc(size)) as [number, number, number, number, number];
  const [bias, linear, factors, outScores, scratch] = offsets;
  arena.f32(bias, 1)[0] = model.bias;
  arena.f32(linear, model.linear.length).set(model.linear);
  arena.f32(factors, model.vectors.length).set(model.vectors);
  kernels.fmScoreRows({
    ...placed,
    firstRow: 0,
    endRow: rowCount,
    bias,
    linear,
    factors,
    f,
    outScores,
    scratch,
  });
  return new Float32Array(arena.f32(outScores, rowCount)).map((score) => 1 / (1 + Math.exp(-score)));
}

/** Fisher and Yates. */
function shuffle(values: Uint32Array, random: Random): void {
  for (let at = values.length - 1; at > 0; at--) {
    const other = random.below(at + 1);
    const held = values[at]!;
    values[at] = values[other]!;
    values[other] = held;
  }
}

function checkSettings({
  factors,
  epochs,
  learningRate,
  regularization,
  linearRegularization,
}: FmSettings): void {
  const within = (value: number, least: number, most: number) => value >= least && value <= most;
  const whole =
    Number.isInteger(factors) &&
    within(factors, 1, 256) &&
    Number.isInteger(epochs) &&
    within(epochs, 1, 1000);
  const real =
    learningRate > 0 &&
    within(learningRate, 0, 10) &&
    within(regularization, 0, 10) &&
    within(linearRegularization, 0, 10);
  if (!(whole && real)) {
    throw new FurzeError(
      'BAD_REQUEST',
      'a factorisation machine takes factors 1 to 256, epochs 1 to 1000, a learningRate above 0, regularizations from 0, all at most 10',
    );
  }
}
