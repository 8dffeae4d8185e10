/** A trained factorization machine for click-through prediction as data, and its self-describing form as bytes. */
import { paddedFactors } from '../../kernel/scratch-sizes.ts';
import { decodeNested, encodeNested, type FrameKind, refuseModel } from '../part/model-bytes-and-checksum.ts';
import { type FeatureLayout, featureBlocks } from './features.ts';

/** "FRZC". */
const KIND: FrameKind = {
  magic: 0x435a5246,
  version: 4,
  name: 'click-through model',
};

/** Turns a logit into a probability, sigma(slope * logit + offset) (Platt 1999); the slope is above 0. */
export interface Calibration {
  readonly slope: number;
  readonly offset: number;
}

/** Description of a model beside its parameters and the names of its labels. */
export interface FmSummary {
  /** Length of a feature's vector before padding. */
  readonly factors: number;
  readonly userCount: number;
  readonly itemCount: number;
  /** Passes over the data that it took. */
  readonly epochs: number;
  /** Part of every score. */
  readonly bias: number;
  readonly calibration: Calibration;
  /**
   * Base of the probabilities: records of which this share is positive. It is the share among all feedback when
   * `negativesPerPositive` is 0, else that many items drawn at random stand beside each positive.
   */
  readonly positiveRate: number;
  /** Sampled negatives for each positive of the training; 0 when all negatives were feedback. */
  readonly negativesPerPositive: number;
  readonly seed: number;
  /** Hash of the training data. */
  readonly fingerprint: number;
  /** Measures on held-out records by name, `AUC` and `LogLoss`; empty when none were held out. */
  readonly quality: Readonly<Record<string, number>>;
}

/** Which rows of the store the rows of a model are; those of users and items that were not trained on are not there. */
export interface FmRows {
  /** Ascending. */
  readonly users: Uint32Array;
  readonly items: Uint32Array;
  /** Rows of items that there are. */
  readonly itemRowCount: number;
}

/** A summary with the names behind the features; see `featureBlocks` for their order. */
export interface FmHeader extends FmSummary, FeatureLayout {}

/** Vectors are row-major with `paddedFactors(factors)` numbers a feature, the columns added being zero. */
export interface FmModel extends FmHeader {
  /** One number a feature. */
  readonly linear: Float32Array;
  readonly vectors: Float32Array;
  /** The rows are the store's own when absent. */
  readonly rows?: FmRows;
}

export function encodeFm(model: FmModel): Uint8Array {
  return encodeNested(KIND, model);
}

/**
 * Reads what `encodeFm` wrote.
 * @throws FurzeError INTERNAL when the bytes are no such model, of another version, cut short or damaged
 */
export function decodeFm(bytes: Uint8Array): FmModel {
  const model = decodeNested(KIND, bytes) as FmModel;
  checkHeader(model);
  checkShape(model);
  const { rows, userCount, itemCount } = model;
  if (rows !== undefined && (rows.users.length !== userCount || rows.items.length !== itemCount))
    refuseModel(KIND, 'its rows do not fit its shape');
  return model;
}

/** @throws FurzeError INTERNAL when a parameter is missing, NaN or infinite */
export function assertSound(model: FmModel): void {
  checkShape(model);
  for (const numbers of [model.linear, model.vectors]) {
    for (let at = 0; at < numbers.length; at++) {
      if (!Number.isFinite(numbers[at])) refuseModel(KIND, 'it holds parameters that are not finite');
    }
  }
}

function checkShape(model: FmModel): void {
  const { featureCount } = featureBlocks(model);
  const { linear, vectors, factors } = model;
  if (linear?.length !== featureCount || vectors?.length !== featureCount * paddedFactors(factors))
    refuseModel(KIND, 'its parameters do not fit the shape that it states');
}

function checkHeader(model: FmModel): void {
  const { factors, epochs, userCount, itemCount, seed, fingerprint, calibration } = model;
  const counts = [factors, epochs, userCount, itemCount, seed, fingerprint, model.rows?.itemRowCount ?? 0];
  const reals = [calibration?.slope, calibration?.offset, model.bias, model.positiveRate];
  const sound =
    counts.every(Number.isInteger) &&
    [...reals, model.negativesPerPositive].every(Number.isFinite) &&
    factors >= 1 &&
    userCount >= 0 &&
    itemCount >= 0 &&
    calibration.slope > 0 &&
    isNames(model.userLabels) &&
    isNames(model.itemLabels) &&
    typeof model.quality === 'object';
  if (!sound) refuseModel(KIND, 'its description is incomplete');
}

function isNames(names: unknown): boolean {
  return Array.isArray(names) && names.every((name) => typeof name === 'string');
}
