import { dotAt } from '../../../test/plain-kernels/vector.ts';
import type { Words } from '../../../test/plain-kernels/words.ts';

/** Places are byte addresses in the memory of the words. */
export interface BprSteps {
  /** CSR users x items, and for each entry its user (uint32). */
  readonly starts: number;
  readonly columns: number;
  readonly entryUsers: number;
  /** Entries that are sampled: [firstEntry, endEntry). Threads that must not race take users of their own. */
  readonly firstEntry: number;
  readonly endEntry: number;
  readonly items: number;
  readonly userFactors: number;
  readonly itemFactors: number;
  readonly f: number;
  readonly learningRate: number;
  readonly regularization: number;
  /** Samples drawn; each is one entry, and one item that its user does not have. */
  readonly samples: number;
  /** Four uint32, not all zero: the state of xorshift128 (Marsaglia 2003), advanced by the call. */
  readonly random: number;
}

/** A negative that the user has is drawn again this often before the sample is given up. */
const TRIES = 16;

function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

/** xorshift128 (Marsaglia 2003) over four words at an index. */
function nextRandom(ints: Words['ints'], state: number): number {
  let t = ints[state + 3]!;
  const s = ints[state]!;
  ints.copyWithin(state + 1, state, state + 3);
  t ^= t << 11;
  t ^= t >>> 8;
  ints[state] = t ^ s ^ (s >>> 19);
  return ints[state]!;
}

/** One step on indexes of a user's, a positive's and a negative's factors. @returns 1 when already in order */
function bprStep(
  floats: Words['floats'],
  job: BprSteps,
  user: number,
  positive: number,
  negative: number,
): number {
  const { f, learningRate } = job;
  const margin = dotAt(floats, user, positive, f) - dotAt(floats, user, negative, f);
  const step = learningRate * sigmoid(-margin);
  const keep = 1 - learningRate * job.regularization;
  for (let k = 0; k < f; k++) {
    const u = floats[user + k]!;
    const i = floats[positive + k]!;
    const j = floats[negative + k]!;
    floats[user + k] = keep * u + step * (i - j);
    floats[positive + k] = keep * i + step * u;
    floats[negative + k] = keep * j - step * u;
  }
  return margin > 0 ? 1 : 0;
}

/**
 * Steps of stochastic gradient for Bayesian personalized ranking (Rendle et al. 2009). A sample whose user has almost
 * every item may be skipped. @returns how many pairs already stood in the right order
 */
export function bprSteps({ floats, ints }: Words, job: BprSteps): number {
  const entries = job.endEntry - job.firstEntry;
  const random = job.random >>> 2;
  let ordered = 0;
  if (entries === 0 || job.items === 0) return 0;
  for (let sample = 0; sample < job.samples; sample++) {
    const entry = job.firstEntry + (nextRandom(ints, random) % entries);
    const user = ints[(job.entryUsers >>> 2) + entry]!;
    const columns = job.columns >>> 2;
    const low = columns + ints[(job.starts >>> 2) + user]!;
    const own = ints.subarray(low, columns + ints[(job.starts >>> 2) + user + 1]!);
    for (let tries = 0; tries < TRIES; tries++) {
      const negative = nextRandom(ints, random) % job.items;
      if (own.includes(negative)) continue;
      const userAt = (job.userFactors >>> 2) + user * job.f;
      const positiveAt = (job.itemFactors >>> 2) + ints[columns + entry]! * job.f;
      ordered += bprStep(floats, job, userAt, positiveAt, (job.itemFactors >>> 2) + negative * job.f);
      break;
    }
  }
  return ordered;
}
