/**
 * Matrix factorization for ranking by stochastic gradient on pairs: an item that the user has should score above
 * one that it has not (BPR-OPT, Rendle et al. 2009). The model is the same for the same seed, whatever the number of
 * threads; see `memory.ts` for how they keep out of each other's way.
 */
import { fingerprint } from '../../../src/dataset/fingerprint.ts';
import type { Interactions } from '../../../src/dataset/interactions.ts';
import { viewOf } from '../../../src/memory/layout-builder.ts';
import { assertFinite, type MatrixFactorization } from '../../../src/model/als/model.ts';
import { ALS_DEFAULTS } from '../../../src/model/als/settings.ts';
import type { Progress } from '../../fit-in-thread.ts';
import { type BprTask, placeBpr } from './memory.ts';
import { type BprSettings, bprSettings } from './settings.ts';
import { type BprPhase, BprSolver, beginBprPhase, bprPhases } from './solver.ts';

/**
 * Trains in this thread and yields after each epoch. A user is folded into the result as into one of ALS with
 * its default settings.
 * @throws FurzeError BAD_REQUEST for a setting out of range, INTERNAL when the factors diverged
 */
export function* fitBpr(
  interactions: Interactions,
  given: Partial<BprSettings>,
): Generator<Progress, MatrixFactorization> {
  const task = placeBpr(interactions, bprSettings(given));
  const solver = new BprSolver(task);
  const { epochs } = task.settings;
  for (let epoch = 0; epoch < epochs; epoch++) {
    for (const phase of bprPhases(task, epoch)) {
      beginBprPhase(task);
      solver.runPhase(phase);
    }
    yield { done: epoch + 1, total: epochs };
  }
  return bprModel(task, fingerprint(interactions));
}

/**
 * Trains by whatever spreads a phase over threads: `runPhase` resolves once every thread has returned from
 * `BprSolver.runPhase`, and rejects when one failed.
 */
export async function* driveBpr(
  task: BprTask,
  runPhase: (phase: BprPhase) => Promise<void>,
): AsyncGenerator<Progress, void> {
  const { epochs } = task.settings;
  for (let epoch = 0; epoch < epochs; epoch++) {
    for (const phase of bprPhases(task, epoch)) {
      beginBprPhase(task);
      await runPhase(phase);
    }
    yield { done: epoch + 1, total: epochs };
  }
}

/** Copies the factors out of a training's memory as a model. @throws FurzeError INTERNAL when one is not finite */
export function bprModel(task: BprTask, dataFingerprint: number): MatrixFactorization {
  const { memory, layout, settings, userCount, itemCount } = task;
  const model: MatrixFactorization = {
    factors: settings.factors,
    userCount,
    itemCount,
    regularization: ALS_DEFAULTS.regularization,
    unobservedWeight: ALS_DEFAULTS.unobservedWeight,
    regularizationExponent: ALS_DEFAULTS.regularizationExponent,
    seed: settings.seed,
    fingerprint: dataFingerprint,
    quality: {},
    userFactors: new Float32Array(viewOf(memory, layout, 'userFactors', 'f32')),
    itemFactors: new Float32Array(viewOf(memory, layout, 'itemFactors', 'f32')),
  };
  assertFinite(model);
  return model;
}
