/**
 * Matrix factorisation for ranking by stochastic gradient on pairs: an item that the user has should score above
 * one that it has not (BPR-OPT, Rendle et al. 2009). Single-threaded, so that a seed fixes the model.
 */
import { fingerprint, type Interactions } from '../dataset/interactions.ts';
import { FurzeError } from '../domain/errors.ts';
import { createRandom } from '../domain/random.ts';
import { type InstantiateKernels, paddedFactors } from '../kernel/scratch.ts';
import { ARENA_START, Arena, alignedBytes } from '../memory/arena.ts';
import { createSharedMemory } from '../memory/shared-memory.ts';
import type { Progress } from './als.ts';
import { ALS_DEFAULTS } from './als-settings.ts';
import { assertFinite, type MatrixFactorization } from './mf-model.ts';

export interface BprSettings {
  /** Length of a vector, 1 to 1,024. */
  readonly factors: number;
  /** Passes; each draws as many samples as there are pairs. 1 to 10,000. */
  readonly epochs: number;
  /** Above 0. */
  readonly learningRate: number;
  /** Decay of the factors at each step, 0 or more. */
  readonly regularization: number;
  readonly seed: number;
}

export const BPR_DEFAULTS: BprSettings = {
  factors: 64,
  epochs: 100,
  learningRate: 0.05,
  regularization: 0.01,
  seed: 1,
};

/** Standard deviation of the initial factors, before division by the root of their number. */
const INITIAL_DEVIATION = 0.1;

/**
 * Trains in this thread and yields after each epoch. A user is folded into the result as into one of ALS with
 * its default settings.
 * @throws FurzeError BAD_REQUEST for a setting out of range, INTERNAL when the factors diverged
 */
export function* fitBpr(
  interactions: Interactions,
  given: Partial<BprSettings>,
  instantiate: InstantiateKernels,
): Generator<Progress, MatrixFactorization> {
  const settings = { ...BPR_DEFAULTS, ...given };
  checkSettings(settings);
  const { userCount, itemCount, count, byUser } = interactions;
  const { factors, epochs, learningRate, regularization, seed } = settings;
  const f = paddedFactors(factors);
  const sizes = [userCount + 1, count, count, userCount * f, itemCount * f, 4].map((length) => length * 4);
  const memory = createSharedMemory(sizes.reduce((sum, size) => sum + alignedBytes(size), ARENA_START));
  const arena = new Arena(memory);
  const [starts, columns, entryUsers, userFactors, itemFactors, random] = sizes.map((size) =>
    arena.alloc(size),
  ) as [number, number, number, number, number, number];
  arena.u32(starts, userCount + 1).set(byUser.indptr);
  arena.u32(columns, count).set(byUser.indices);
  const users = arena.u32(entryUsers, count);
  for (let row = 0; row < userCount; row++) users.fill(row, byUser.indptr[row]!, byUser.indptr[row + 1]!);
  const generator = createRandom(seed);
  const state = arena.u32(random, 4);
  for (let at = 0; at < 4; at++) state[at] = generator.uint32() | 1;
  const userView = arena.f32(userFactors, userCount * f);
  const itemView = arena.f32(itemFactors, itemCount * f);
  for (const view of [userView, itemView]) {
    for (let at = 0; at < view.length; at++) {
      if (at % f < factors) view[at] = (INITIAL_DEVIATION / Math.sqrt(factors)) * generator.normal();
    }
  }
  const kernels = instantiate(memory);
  for (let epoch = 0; epoch < epochs; epoch++) {
    kernels.bprSteps({
      starts,
      columns,
      entryUsers,
      firstEntry: 0,
      endEntry: count,
      items: itemCount,
      userFactors,
      itemFactors,
      f,
      learningRate,
      regularization,
      samples: count,
      random,
    });
    yield { done: epoch + 1, total: epochs };
  }
  const model: MatrixFactorization = {
    factors,
    userCount,
    itemCount,
    regularization: ALS_DEFAULTS.regularization,
    unobservedWeight: ALS_DEFAULTS.unobservedWeight,
    regularizationExponent: ALS_DEFAULTS.regularizationExponent,
    seed,
    fingerprint: fingerprint(interactions),
    quality: {},
    userFactors: new Float32Array(userView),
    itemFactors: new Float32Array(itemView),
  };
  assertFinite(model);
  return model;
}

function checkSettings({ factors, epochs, learningRate, regularization }: BprSettings): void {
  const sound =
    Number.isInteger(factors) &&
    factors >= 1 &&
    factors <= 1024 &&
    Number.isInteger(epochs) &&
    epochs >= 1 &&
    epochs <= 10_000 &&
    learningRate > 0 &&
    learningRate < Number.POSITIVE_INFINITY &&
    regularization >= 0 &&
    regularization < Number.POSITIVE_INFINITY;
  if (!sound) {
    throw new FurzeError(
      'BAD_REQUEST',
      'BPR takes factors 1 to 1024, epochs 1 to 10000, a learningRate above 0 and a regularization from 0',
    );
  }
}
