import { FurzeError } from '../../domain/errors.ts';
import { checkFmSettings, FM_DEFAULTS, type FmSettings } from './fm-settings.ts';

/**
 * How a click-through model is trained, beside how a factorization machine is. The learning rate falls in a straight line
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
