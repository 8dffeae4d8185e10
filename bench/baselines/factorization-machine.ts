/** A factorization machine (Rendle 2010) on rows of features as they come in a file, for the probability of a positive. */

import { FurzeError } from '../../src/domain/furze-error.ts';
import { createRandom, type Random } from '../../src/domain/random.ts';
import type { Kernels } from '../../src/kernel/kernels.ts';
import type { InstantiateKernels } from '../../src/kernel/scratch-sizes.ts';
import { ARENA_START, Arena, alignedBytes } from '../../src/memory/arena.ts';
import { createSharedMemory } from '../../src/memory/shared-memory.ts';
import { calibrate, sigmoid } from '../../src/model/click/calibration.ts';
import { during, type FmProgress, runEpochs } from '../../src/model/click/epochs-and-early-stopping.ts';
import {
  FactorizationMachine,
  type FmParameters,
  type PlacedRows,
} from '../../src/model/click/factorization-machine.ts';
import type { Calibration } from '../../src/model/click/model.ts';
import { checkFmSettings, FM_DEFAULTS, type FmSettings } from '../../src/model/click/settings.ts';
import { logLoss } from '../../src/model/evaluation/metrics.ts';
import type { FeatureRows } from '../data-sets/libfm.ts';

/** Rows between two yields: some 10 ms of training. */
const SLICE_ROWS = 16_384;

/** The parameters, and what turns a logit into a probability. */
export interface FittedMachine extends FmParameters {
  readonly featureCount: number;
  readonly factors: number;
  /** Fitted to the validation rows; slope 1 and offset 0 without them. */
  readonly calibration: Calibration;
  /** The epoch that these parameters come from, from 1. */
  readonly epoch: number;
}

/**
 * Trains in this thread; yields at least every 100 ms or so of work, with the progress of the last epoch.
 * @param featureCount at least those of `rows` and `validation`: features of later rows may be higher
 * @param validation rows that say when to stop, and calibrate; without them all epochs are run
 * @throws FurzeError BAD_REQUEST for settings out of range, INTERNAL when the training diverges
 */
export function* fitFactorizationMachine(
  rows: FeatureRows,
  featureCount: number,
  given: Partial<FmSettings>,
  instantiate: InstantiateKernels,
  validation: FeatureRows | null = null,
): Generator<FmProgress, FittedMachine> {
  const settings = { ...FM_DEFAULTS, ...given };
  checkFmSettings(settings);
  const bytes =
    ARENA_START +
    FactorizationMachine.bytes(featureCount, settings.factors) +
    rowBytes(rows) +
    (validation === null ? 0 : rowBytes(validation));
  const arena = new Arena(createSharedMemory(bytes));
  const machine = new FactorizationMachine(arena, instantiate(arena.memory), featureCount, settings);
  const placed = placeRows(arena, rows);
  const judged = validation === null ? null : { rows: validation, placed: placeRows(arena, validation) };
  const random = createRandom(settings.seed);
  const visits = arena.u32(placed.order, rows.targets.length);
  const start = { done: 0, total: settings.epochs, loss: Number.NaN, heldOutLoss: Number.NaN };
  yield* during(machine.initialize(random), start);
  const scores = () => {
    if (judged === null) return new Float32Array(0);
    machine.score(judged.placed);
    return arena.f32(judged.placed.outScores, judged.rows.targets.length);
  };
  const judge = function* (): Generator<void, number> {
    const logits = scores();
    yield;
    const { slope, offset } = calibrate(logits, judged!.rows.targets);
    return logLoss(
      Float64Array.from(logits, (logit) => sigmoid(slope * logit + offset)),
      judged!.rows.targets,
    );
  };
  const epoch = (_: number, learningRate: number) =>
    trainEpoch(machine, placed, visits, random, learningRate);
  const best = yield* runEpochs(machine, epoch, judged === null ? null : judge);
  machine.restore(best.parameters);
  const calibration = judged === null ? { slope: 1, offset: 0 } : calibrate(scores(), judged.rows.targets);
  return {
    ...best.parameters,
    featureCount,
    factors: settings.factors,
    calibration,
    epoch: best.epoch,
  };
}

function* trainEpoch(
  machine: FactorizationMachine,
  placed: PlacedRows,
  visits: Uint32Array,
  random: Random,
  learningRate: number,
): Generator<void, number> {
  shuffle(visits, random);
  let loss = 0;
  for (let firstRow = 0; firstRow < placed.endRow; firstRow += SLICE_ROWS) {
    const endRow = Math.min(placed.endRow, firstRow + SLICE_ROWS);
    loss += machine.train({ ...placed, firstRow, endRow }, learningRate);
    yield;
  }
  return loss / Math.max(1, placed.endRow);
}

/**
 * The probability of a positive answer for each row.
 * @throws FurzeError BAD_REQUEST when a row has a feature that the model does not know
 */
export function predictProbabilities(
  model: FittedMachine,
  rows: FeatureRows,
  instantiate: InstantiateKernels,
): Float32Array {
  if (rows.featureCount > model.featureCount) {
    throw new FurzeError(
      'BAD_REQUEST',
      `feature ${rows.featureCount - 1} of a model with ${model.featureCount}`,
    );
  }
  const settings = { ...FM_DEFAULTS, factors: model.factors };
  const bytes = ARENA_START + FactorizationMachine.bytes(model.featureCount, model.factors) + rowBytes(rows);
  const arena = new Arena(createSharedMemory(bytes));
  const kernels: Kernels = instantiate(arena.memory);
  const machine = new FactorizationMachine(arena, kernels, model.featureCount, settings);
  const placed = placeRows(arena, rows);
  machine.restore(model);
  machine.score(placed);
  const { slope, offset } = model.calibration;
  const logits = new Float32Array(arena.f32(placed.outScores, rows.targets.length));
  return logits.map((logit) => sigmoid(slope * logit + offset));
}

/** Bytes of rows placed in an arena, with an order and a score for each. */
function rowBytes(rows: FeatureRows): number {
  const { starts, features, values, targets } = rows;
  return [starts, features, values, targets, targets, targets].reduce(
    (sum, array) => sum + alignedBytes(array.byteLength),
    0,
  );
}

function placeRows(arena: Arena, rows: FeatureRows): PlacedRows {
  const rowCount = rows.targets.length;
  const offsets = {
    starts: arena.alloc(rows.starts.byteLength),
    features: arena.alloc(rows.features.byteLength),
    values: arena.alloc(rows.values.byteLength),
    targets: arena.alloc(rowCount * 4),
    order: arena.alloc(rowCount * 4),
    outScores: arena.alloc(rowCount * 4),
  };
  arena.u32(offsets.starts, rows.starts.length).set(rows.starts);
  arena.u32(offsets.features, rows.features.length).set(rows.features);
  arena.f32(offsets.values, rows.values.length).set(rows.values);
  arena.f32(offsets.targets, rowCount).set(rows.targets);
  const visits = arena.u32(offsets.order, rowCount);
  for (let at = 0; at < rowCount; at++) visits[at] = at;
  return { ...offsets, firstRow: 0, endRow: rowCount };
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
