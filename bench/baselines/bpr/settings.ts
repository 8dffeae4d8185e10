import { FurzeError } from '../../../src/domain/furze-error.ts';

export interface BprSettings {
  /** Length of a vector, 1 to 1,024. */
  readonly factors: number;
  /** Passes; each draws as many samples as there are pairs. 1 to 10,000. */
  readonly epochs: number;
  /** Above 0. */
  readonly learningRate: number;
  /** Decay of the factors at each step, 0 or more. */
  readonly regularization: number;
  readonly seed: number;
}

export const BPR_DEFAULTS: BprSettings = {
  factors: 64,
  epochs: 100,
  learningRate: 0.05,
  regularization: 0.01,
  seed: 1,
};

/** Completes settings with the defaults. @throws FurzeError BAD_REQUEST for a setting out of its range */
export function bprSettings(given: Partial<BprSettings> = {}): BprSettings {
  const settings = { ...BPR_DEFAULTS, ...given };
  const { factors, epochs, learningRate, regularization } = settings;
  const sound =
    Number.isInteger(factors) &&
    factors >= 1 &&
    factors <= 1024 &&
    Number.isInteger(epochs) &&
    epochs >= 1 &&
    epochs <= 10_000 &&
    learningRate > 0 &&
    learningRate < Number.POSITIVE_INFINITY &&
    regularization >= 0 &&
    regularization < Number.POSITIVE_INFINITY;
  if (!sound) {
    throw new FurzeError(
      'BAD_REQUEST',
      'BPR takes factors 1 to 1024, epochs 1 to 10000, a learningRate above 0 and a regularization from 0',
    );
  }
  return settings;
}
