import { paddedFactors } from '../../kernel/scratch-sizes.ts';
import { viewOf } from '../../memory/layout-builder.ts';
import type { ServedItems } from '../part/served-items.ts';
import type { AlsOutcome } from './epochs-and-early-stopping.ts';
import { assertFinite, type MatrixFactorization } from './model.ts';
import type { AlsTask } from './training-task.ts';
import { UserFactors } from './user-factors.ts';

/** What a model says of its quality: NDCG@10 on the held-out records with its half width, and the epoch it is of. */
export function qualityOf({ quality, bestEpoch }: AlsOutcome): Record<string, number> {
  const epochs = { epochs: bestEpoch };
  return quality === undefined
    ? epochs
    : { ...epochs, 'NDCG@10': quality.mean, 'NDCG@10 half width': quality.halfWidth };
}

/**
 * Copies the factors out of a training's memory as a model.
 * @param served puts items at their rows of the store, and leaves users out; all stay where they are when absent
 * @throws FurzeError INTERNAL when a factor is NaN or infinite, so that no such model is published
 */
export function trainedModel(
  task: AlsTask,
  dataFingerprint: number,
  quality: Readonly<Record<string, number>> = {},
  served?: ServedItems,
): MatrixFactorization {
  const { memory, layout, settings, userCount, itemCount } = task;
  const items = viewOf(memory, layout, 'itemFactors', 'f32');
  const model: MatrixFactorization = {
    factors: settings.factors,
    userCount,
    itemCount: served?.rowCount ?? itemCount,
    trainedItems: itemCount,
    regularization: settings.regularization,
    unobservedWeight: settings.unobservedWeight,
    regularizationExponent: settings.regularizationExponent,
    seed: settings.seed,
    fingerprint: dataFingerprint,
    quality,
    userFactors: served === undefined ? new UserFactors(task).all(userCount) : new Float32Array(0),
    itemFactors:
      served === undefined
        ? new Float32Array(items)
        : spreadRows(items, served, paddedFactors(settings.factors)),
  };
  assertFinite(model);
  return model;
}

/** Factors at the rows of the store, zeros between them. */
function spreadRows(factors: Float32Array, { rows, rowCount }: ServedItems, f: number): Float32Array {
  const spread = new Float32Array(rowCount * f);
  for (let at = 0; at < rows.length; at++) {
    spread.set(factors.subarray(at * f, (at + 1) * f), rows[at]! * f);
  }
  return spread;
}
