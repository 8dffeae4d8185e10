import { FurzeError } from '../../domain/furze-error.ts';

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

/**
 * Settings of a click-through model, beside those of a factorization machine. The learning rate falls in a straight line
 * to nothing over the epochs.
 */
export interface ClickSettings extends FmSettings {
  /**
   * Negatives drawn beside each positive where the feedback has no negatives, 0 to 100. Where it has some, fewer are
   * drawn, and none when there are as many as positives.
   */
  readonly negativesPerPositive: number;
  /** Items are drawn as negatives by the number of their records to this power, 0 (all alike) to 1. */
  readonly popularityExponent: number;
  /** Positives, and negatives, that are learned from at most; of more, so many are chosen at random. */
  readonly examplesMax: number;
}

export const CLICK_DEFAULTS: ClickSettings = {
  ...FM_DEFAULTS,
  factors: 16,
  epochs: 12,
  learningRate: 0.3,
  regularization: 0.03,
  linearRegularization: 0.01,
  negativesPerPositive: 5,
  popularityExponent: 0.5,
  examplesMax: 5_000_000,
};

/** @throws FurzeError BAD_REQUEST for a setting out of range */
export function checkClickSettings(settings: ClickSettings): void {
  checkFmSettings(settings);
  const { negativesPerPositive, popularityExponent, examplesMax } = settings;
  const sound =
    negativesPerPositive >= 0 &&
    negativesPerPositive <= 100 &&
    popularityExponent >= 0 &&
    popularityExponent <= 1 &&
    Number.isInteger(examplesMax) &&
    examplesMax >= 1;
  if (!sound) {
    throw new FurzeError(
      'BAD_REQUEST',
      'a click-through model takes negativesPerPositive 0 to 100, popularityExponent 0 to 1 and examplesMax from 1',
    );
  }
}
