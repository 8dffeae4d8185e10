/**
 * Matrix factorization for ranking by stochastic gradient on pairs: an item that the user has should score above one that it
 * has not (BPR-OPT, Rendle et al. 2009). One thread.
 */
import { fingerprint } from '../../src/dataset/fingerprint.ts';
import { type Interactions, rowIndices } from '../../src/dataset/interactions.ts';
import { FurzeError } from '../../src/domain/furze-error.ts';
import { createRandom, type Random } from '../../src/domain/random.ts';
import { paddedFactors } from '../../src/kernel/scratch-sizes.ts';
import { assertFinite, type MatrixFactorization } from '../../src/model/als/model.ts';
import { ALS_DEFAULTS } from '../../src/model/als/settings.ts';

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
/** A negative that the user has is drawn again this often before the sample is given up. */
const TRIES = 16;

/**
 * A user is folded into the result as into one of ALS with its default settings.
 * @throws FurzeError BAD_REQUEST for a setting out of range, INTERNAL when the factors diverged
 */
export function fitBpr(interactions: Interactions, given: Partial<BprSettings>): MatrixFactorization {
  const settings = { ...BPR_DEFAULTS, ...given };
  checkSettings(settings);
  const { factors, epochs, seed } = settings;
  const { userCount, itemCount, count, byUser } = interactions;
  const random = createRandom(seed);
  const f = paddedFactors(factors);
  const userFactors = initialFactors(userCount, f, factors, random);
  const itemFactors = initialFactors(itemCount, f, factors, random);
  const userOf = new Uint32Array(count);
  for (let user = 0; user < userCount; user++)
    userOf.fill(user, byUser.indptr[user], byUser.indptr[user + 1]);
  for (let sample = 0; sample < epochs * count; sample++) {
    const entry = random.below(count);
    const user = userOf[entry]!;
    const own = rowIndices(byUser, user);
    for (let tries = 0; tries < TRIES; tries++) {
      const negative = random.below(itemCount);
      if (own.includes(negative)) continue;
      const rowOf = (all: Float32Array, row: number) => all.subarray(row * f, row * f + factors);
      const positive = rowOf(itemFactors, byUser.indices[entry]!);
      learnPair(settings, rowOf(userFactors, user), positive, rowOf(itemFactors, negative));
      break;
    }
  }
  const { regularization, unobservedWeight, regularizationExponent } = ALS_DEFAULTS;
  const folding = { regularization, unobservedWeight, regularizationExponent };
  const shape = { factors, userCount, itemCount, seed, fingerprint: fingerprint(interactions), quality: {} };
  const model = { ...shape, ...folding, userFactors, itemFactors };
  assertFinite(model);
  return model;
}

function checkSettings({ factors, epochs, learningRate, regularization }: BprSettings): void {
  const isCount = (value: number, max: number) => Number.isInteger(value) && value >= 1 && value <= max;
  const isReal = Number.isFinite(learningRate) && Number.isFinite(regularization);
  if (isCount(factors, 1024) && isCount(epochs, 10_000) && isReal && learningRate > 0 && regularization >= 0)
    return;
  throw new FurzeError(
    'BAD_REQUEST',
    'BPR takes factors 1 to 1024, epochs 1 to 10000, a learningRate above 0 and a regularization from 0',
  );
}

/** Rows of f numbers, of which the last ones are padding and 0. */
function initialFactors(rows: number, f: number, factors: number, random: Random): Float32Array {
  const deviation = INITIAL_DEVIATION / Math.sqrt(factors);
  return Float32Array.from({ length: rows * f }, (_, at) =>
    at % f < factors ? deviation * random.normal() : 0,
  );
}

/** One step that draws the positive above the negative for the user. */
function learnPair(
  { learningRate, regularization }: BprSettings,
  user: Float32Array,
  positive: Float32Array,
  negative: Float32Array,
): void {
  let margin = 0;
  for (let k = 0; k < user.length; k++) margin += user[k]! * (positive[k]! - negative[k]!);
  const step = learningRate / (1 + Math.exp(margin));
  const keep = 1 - learningRate * regularization;
  for (let k = 0; k < user.length; k++) {
    const [u, i, j] = [user[k]!, positive[k]!, negative[k]!];
    user[k] = keep * u + step * (i - j);
    positive[k] = keep * i + step * u;
    negative[k] = keep * j - step * u;
  }
}
