/**
 * Regularization of a row, scaled by how often it occurs (Rendle et al. 2021, section 3.3):
 * regularization * (count + unobservedWeight * otherCount) ^ exponent.
 * @param count entries of the row
 * @param otherCount rows of the other side
 * @param exponent 0 for the classic form, 1 for full scaling
 */
export function rowRegularization(
  regularization: number,
  count: number,
  unobservedWeight: number,
  otherCount: number,
  exponent: number,
): number {
  return regularization * (count + unobservedWeight * otherCount) ** exponent;
}
