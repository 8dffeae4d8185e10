import { FurzeError } from '../../domain/errors.ts';

export interface FmSettings {
  /** Length of a feature's vector, 1 to 256. */
  readonly factors: number;
  /** Passes at most, 1 to 1,000. */
  readonly epochs: number;
  /** Epochs without a better result on held-out records after which training ends, 1 or more. */
  readonly patience: number;
  readonly learningRate: number;
  /** Decay of the vectors and of the linear weights. */
  readonly regularization: number;
  readonly linearRegularization: number;
  /** Standard deviation of the vectors at the start. */
  readonly initialDeviation: number;
  /** Leaves the vectors at zero: logistic regression on the same features. */
  readonly linearOnly: boolean;
  readonly seed: number;
}

/** For rows of a few dozen features that come with validation rows; `CLICK_DEFAULTS` are those for feedback. */
export const FM_DEFAULTS: FmSettings = {
  factors: 32,
  epochs: 100,
  patience: 3,
  learningRate: 0.2,
  regularization: 0.01,
  linearRegularization: 1e-5,
  initialDeviation: 0.05,
  linearOnly: false,
  seed: 1,
};

/** @throws FurzeError BAD_REQUEST for a setting out of range */
export function checkFmSettings(settings: FmSettings): void {
  const within = (value: number, least: number, most: number) => value >= least && value <= most;
  const { factors, epochs, patience } = settings;
  const whole =
    [factors, epochs, patience].every(Number.isInteger) &&
    within(factors, 1, 256) &&
    within(epochs, 1, 1000) &&
    patience >= 1;
  const real =
    settings.learningRate > 0 &&
    within(settings.learningRate, 0, 10) &&
    within(settings.regularization, 0, 10) &&
    within(settings.linearRegularization, 0, 10) &&
    within(settings.initialDeviation, 0, 10);
  if (!(whole && real)) {
    throw new FurzeError(
      'BAD_REQUEST',
      'a factorization machine takes factors 1 to 256, epochs 1 to 1000, patience from 1, a learningRate above 0, regularizations and initialDeviation from 0, all at most 10',
    );
  }
}
