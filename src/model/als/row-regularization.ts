import type { AlsSettings } from './settings.ts';

/**
 * Regularization of a row, scaled by how often it occurs (Rendle et al. 2021, section 3.3):
 * regularization * (count + unobservedWeight * otherCount) ^ regularizationExponent.
 * @param count entries of the row
 * @param otherCount rows of the other side
 */
export function rowRegularization(
  settings: Pick<AlsSettings, 'regularization' | 'unobservedWeight' | 'regularizationExponent'>,
  count: number,
  otherCount: number,
): number {
  const { regularization, unobservedWeight, regularizationExponent } = settings;
  return regularization * (count + unobservedWeight * otherCount) ** regularizationExponent;
}
