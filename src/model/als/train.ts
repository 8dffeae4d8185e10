/**
 * Matrix factorization for implicit feedback by alternating least squares (Hu, Koren, Volinsky 2008), in the
 * parametrization of Rendle et al. 2021. Every row is solved by itself from the other side's factors, and
 * Gramians are summed in a fixed order, so the model is the same for any number of threads.
 */

import { fingerprint } from '../../dataset/fingerprint.ts';
import type { Interactions } from '../../dataset/interactions.ts';
import { FurzeError } from '../../domain/errors.ts';
import { type InstantiateKernels, paddedFactors } from '../../kernel/scratch.ts';
import { viewOf } from '../../memory/layout.ts';
import type { ServedItems } from '../served-items.ts';
import { beginPhase, isCancelled } from '../shared-task.ts';
import { type AlsEpoch, type AlsOutcome, alsCourse } from './course.ts';
import { type AlsStart, placeAls } from './memory.ts';
import { assertFinite, type MatrixFactorization } from './model.ts';
import type { AlsPhase } from './phases.ts';
import { type AlsSettings, alsSettings } from './settings.ts';
import { AlsSolver } from './solver.ts';
import type { AlsTask } from './task.ts';
import { UserFactors } from './user-shards.ts';

export type { AlsEpoch, AlsOutcome, Divergence } from './course.ts';
export { type AlsPhase, alsPhases } from './phases.ts';
export { AlsSolver } from './solver.ts';

/** How far a training is, in epochs. */
export interface Progress {
  readonly done: number;
  readonly total: number;
}

/**
 * Trains in this thread; the generator yields after each epoch, so the caller may show progress, measure, or
 * stop early by returning from it.
 * @throws FurzeError INTERNAL when the training diverged
 */
export function* fitAls(
  interactions: Interactions,
  given: Partial<AlsSettings>,
  instantiate: InstantiateKernels,
  start: AlsStart = {},
): Generator<AlsEpoch, MatrixFactorization> {
  const task = placeAls(interactions, alsSettings(given), 1, start);
  const solver = new AlsSolver(task, instantiate(task.memory), 0);
  const course = alsCourse(task);
  for (;;) {
    const step = course.next();
    if (step.done === true) {
      const { divergence } = step.value;
      if (divergence !== undefined) throw new FurzeError('INTERNAL', `the training diverged: ${divergence}`);
      return trainedModel(task, fingerprint(interactions), qualityOf(step.value));
    }
    if (step.value.kind === 'epoch') {
      yield step.value;
      continue;
    }
    beginPhase(task);
    solver.runPhase(step.value);
  }
}

/**
 * Trains by whatever spreads a phase over threads: `runPhase` resolves once every thread has returned from
 * `AlsSolver.runPhase`, and rejects when one failed. Yields after each epoch.
 * @returns how it ended; undefined when it was cancelled, and the factors are of no use then
 */
export async function* driveAls(
  task: AlsTask,
  runPhase: (phase: AlsPhase) => Promise<void>,
): AsyncGenerator<AlsEpoch, AlsOutcome | undefined> {
  const course = alsCourse(task);
  for (;;) {
    if (isCancelled(task)) return undefined;
    const step = course.next();
    if (step.done === true) return step.value;
    if (step.value.kind === 'epoch') {
      yield step.value;
      continue;
    }
    beginPhase(task);
    await runPhase(step.value);
  }
}

/** Runs a generator to its end, telling of each value. */
export function finish<Value, Result>(
  run: Generator<Value, Result>,
  tell: (value: Value) => void = () => {},
): Result {
  for (;;) {
    const step = run.next();
    if (step.done === true) return step.value;
    tell(step.value);
  }
}

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
