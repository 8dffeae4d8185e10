/**
 * Moves what all users, and all items, have in common out of their one-hot features, so that a user or an item without
 * one (who came after the training) counts as the average user or item instead of as one of weight zero. No score of a
 * known user and item changes: with m the mean of the block's vectors, <v, x> = <v - m, x> + <m, x>, and <m, x> is
 * linear in the other features.
 */

/** Parameters that are changed in place. */
export interface MutableParameters {
  bias: number;
  readonly linear: Float32Array;
  readonly vectors: Float32Array;
}

/**
 * Centers the features [start, end), of which each row has exactly one of value 1.
 * @param seen 1 where feature start + r was trained; the others become the average, which is zero
 */
export function centreBlock(
  parameters: MutableParameters,
  f: number,
  featureCount: number,
  [start, end]: readonly [number, number],
  seen: Uint8Array,
): void {
  const { linear, vectors } = parameters;
  const mean = new Float64Array(f);
  let meanWeight = 0;
  let count = 0;
  for (let feature = start; feature < end; feature++) {
    if (seen[feature - start] === 0) continue;
    count++;
    meanWeight += linear[feature]!;
    for (let k = 0; k < f; k++) mean[k]! += vectors[feature * f + k]!;
  }
  if (count > 0) {
    meanWeight /= count;
    for (let k = 0; k < f; k++) mean[k]! /= count;
  }
  parameters.bias += meanWeight;
  for (let feature = 0; feature < featureCount; feature++) {
    const isInside = feature >= start && feature < end;
    let pull = 0;
    for (let k = 0; k < f; k++) {
      const at = feature * f + k;
      if (isInside) vectors[at] = seen[feature - start] === 1 ? vectors[at]! - mean[k]! : 0;
      else pull += mean[k]! * vectors[at]!;
    }
    if (isInside) linear[feature] = seen[feature - start] === 1 ? linear[feature]! - meanWeight : 0;
    else linear[feature]! += pull;
  }
}
