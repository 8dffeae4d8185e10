import type { Random } from '../src/domain/random.ts';
import { firstAbove } from '../src/memory/binary-search.ts';

/** Draws places in proportion to weights. */
export function drawer(weights: ArrayLike<number>): (random: Random) => number {
  const sums = new Float64Array(weights.length);
  let sum = 0;
  for (let at = 0; at < sums.length; at++) sums[at] = sum += weights[at]!;
  return (random) => firstAbove(sums, random.float() * sum);
}
