/** A mean over users with the half width of its 95 % confidence interval (normal approximation). */
export interface Estimate {
  readonly mean: number;
  readonly halfWidth: number;
}

/** The mean of a sample and 1.96 standard errors; a sample of fewer than 2 has no width. */
export function estimate(values: readonly number[]): Estimate {
  const count = values.length;
  if (count === 0) return { mean: 0, halfWidth: 0 };
  let mean = 0;
  for (const value of values) mean += value / count;
  if (count === 1) return { mean, halfWidth: 0 };
  let squares = 0;
  for (const value of values) squares += (value - mean) ** 2;
  return { mean, halfWidth: 1.96 * Math.sqrt(squares / (count - 1) / count) };
}
