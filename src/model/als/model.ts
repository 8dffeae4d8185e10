/** A trained matrix factorization as data, and its self-describing form as bytes. */
import { FurzeError } from '../../domain/furze-error.ts';
import { paddedFactors } from '../../kernel/scratch-sizes.ts';
import { decodeNested, encodeNested, type FrameKind, refuseModel } from '../part/model-bytes-and-checksum.ts';

/** "FRZF". */
const KIND: FrameKind = {
  magic: 0x465a5246,
  version: 3,
  name: 'matrix factorization',
};

/** Description of a model beside its factors. */
export interface MatrixFactorizationHeader {
  /** Length of a vector before padding. */
  readonly factors: number;
  /** Users that it was trained on. */
  readonly userCount: number;
  /** Rows of items: those of the store, of which some have nothing to learn from and zeros for a vector. */
  readonly itemCount: number;
  /** Items that it was trained on; all of them when absent. */
  readonly trainedItems?: number;
  /** With these a user is folded in as it was trained; see `AlsSettings`. */
  readonly regularization: number;
  readonly unobservedWeight: number;
  readonly regularizationExponent: number;
  readonly seed: number;
  /** Hash of the training data, see `fingerprint`. */
  readonly fingerprint: number;
  /** Measures on held-out data by name, such as `NDCG@10`; empty when none were taken. */
  readonly quality: Readonly<Record<string, number>>;
}

/** Factors are row-major with `paddedFactors(factors)` numbers a row, the columns added being zero. */
export interface MatrixFactorization extends MatrixFactorizationHeader {
  /** Empty in what is saved and served: a user's vector is worked out of what the user likes by then. */
  readonly userFactors: Float32Array;
  readonly itemFactors: Float32Array;
}

/** @throws FurzeError INTERNAL when a factor is NaN or infinite */
export function assertFinite(model: MatrixFactorization): void {
  for (const factors of [model.userFactors, model.itemFactors]) {
    for (let at = 0; at < factors.length; at++) {
      if (!Number.isFinite(factors[at])) {
        throw new FurzeError('INTERNAL', 'the matrix factorization holds factors that are not finite');
      }
    }
  }
}

/** The model as bytes, without vectors of users. */
export function encodeModel({ userFactors: _notSaved, ...model }: MatrixFactorization): Uint8Array {
  return encodeNested(KIND, model);
}

/**
 * Reads what `encodeModel` wrote.
 * @throws FurzeError INTERNAL when the bytes are no model, of another version, cut short or damaged
 */
export function decodeModel(bytes: Uint8Array): MatrixFactorization {
  const model = decodeNested(KIND, bytes) as Omit<MatrixFactorization, 'userFactors'>;
  const { factors, userCount, itemCount, trainedItems = itemCount, seed, fingerprint } = model;
  const numbers = [factors, userCount, itemCount, trainedItems, seed, fingerprint];
  const reals = [model.regularization, model.unobservedWeight, model.regularizationExponent];
  const sound = numbers.every(Number.isInteger) && reals.every(Number.isFinite) && factors >= 1;
  if (!sound || typeof model.quality !== 'object') refuseModel(KIND, 'its description is incomplete');
  if (model.itemFactors?.length !== itemCount * paddedFactors(factors))
    refuseModel(KIND, 'its size does not fit its shape');
  return { ...model, userFactors: new Float32Array(0) };
}
