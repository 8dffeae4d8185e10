/** A trained factorization machine for click-through prediction as data, and its self-describing form as bytes. */
import { paddedFactors } from '../../kernel/scratch-sizes.ts';
import { decodeFrame, encodeFrame, type FrameKind, refuseModel } from '../part/model-bytes-and-checksum.ts';
import { type FeatureLayout, featureBlocks } from './features.ts';

/** "FRZC". */
const KIND: FrameKind = {
  magic: 0x435a5246,
  version: 3,
  name: 'click-through model',
  coversDescription: true,
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

/** The model as bytes: its header as the description, then linear weights and vectors. */
export function encodeFm(model: FmModel): Uint8Array {
  const { linear, vectors, rows, ...header } = model;
  if (rows === undefined) return encodeFrame(KIND, header, [linear, vectors]);
  const { itemRowCount } = rows;
  return encodeFrame(KIND, { ...header, itemRowCount }, [linear, vectors, rows.users, rows.items]);
}

/**
 * Reads what `encodeFm` wrote.
 * @throws FurzeError INTERNAL when the bytes are no such model, of another version, cut short or damaged
 */
export function decodeFm(bytes: Uint8Array): FmModel {
  const { description, floats } = decodeFrame(KIND, bytes);
  const header = checkHeader(description);
  const { itemRowCount, ...summary } = header;
  const features = featureBlocks(header).featureCount;
  const numbers = features * (1 + paddedFactors(header.factors));
  const rowNumbers = itemRowCount === undefined ? 0 : header.userCount + header.itemCount;
  if (floats.length !== numbers + rowNumbers) refuseModel(KIND, 'its size does not fit its shape');
  const words = new Uint32Array(floats.buffer, floats.byteOffset + numbers * 4, rowNumbers);
  return {
    ...summary,
    linear: floats.subarray(0, features),
    vectors: floats.subarray(features, numbers),
    ...(itemRowCount !== undefined && {
      rows: {
        users: words.subarray(0, header.userCount),
        items: words.subarray(header.userCount),
        itemRowCount,
      },
    }),
  };
}

/** @throws FurzeError INTERNAL when a parameter is missing, NaN or infinite */
export function assertSound(model: FmModel): void {
  const { featureCount } = featureBlocks(model);
  if (
    model.linear.length !== featureCount ||
    model.vectors.length !== featureCount * paddedFactors(model.factors)
  ) {
    refuseModel(KIND, 'its parameters do not fit the shape that it states');
  }
  for (const numbers of [model.linear, model.vectors]) {
    for (let at = 0; at < numbers.length; at++) {
      if (!Number.isFinite(numbers[at])) refuseModel(KIND, 'it holds parameters that are not finite');
    }
  }
}

function checkHeader(description: unknown): FmHeader & { readonly itemRowCount?: number } {
  const header = (description ?? {}) as FmHeader & { readonly itemRowCount?: number };
  const { factors, epochs, userCount, itemCount, seed, fingerprint } = header;
  const counts = [factors, epochs, userCount, itemCount, seed, fingerprint];
  const reals = [
    header.bias,
    header.calibration?.slope,
    header.calibration?.offset,
    header.positiveRate,
    header.negativesPerPositive,
  ];
  const sound =
    counts.every(Number.isInteger) &&
    reals.every(Number.isFinite) &&
    factors >= 1 &&
    userCount >= 0 &&
    itemCount >= 0 &&
    Number.isInteger(header.itemRowCount ?? 0) &&
    header.calibration.slope > 0 &&
    isNames(header.userLabels) &&
    isNames(header.itemLabels) &&
    typeof header.quality === 'object';
  if (!sound) refuseModel(KIND, 'its description is incomplete');
  return header;
}

function isNames(names: unknown): boolean {
  return Array.isArray(names) && names.every((name) => typeof name === 'string');
}
