import type { ArmSums } from './arm-sums.ts';

/**
 * Fewest users of a variant, and such with an outcome that it would have by the share of both, before anything is said: sums are near
 * normal by then. A variant that nobody does anything with is told of as one with which everybody does.
 */
export const USERS_MIN = 100;
export const RESPONDERS_MIN = 30;
/** Quantile of the normal distribution for a power of 80 %. */
const POWER_QUANTILE = 0.8416;

/** An interval that holds at every look at once, and the width that it is planned for. */
export interface SequenceRules {
  /** Chance that the truth lies outside at any look, from 0 to 1. */
  readonly alpha: number;
  /** Users at which the interval is tightest. */
  readonly planUsers: number;
}

/** How much better than the control a variant is, a user. */
export interface Comparison {
  /** Users of both. */
  readonly users: number;
  /** Mean of the variant less that of the control, with the users' own past taken out. */
  readonly difference: number;
  /** Standard deviation that a user adds to the difference: it has this over the root of `users`. */
  readonly deviation: number;
  /** Half the width of the interval; Infinity while there is too little to say anything. */
  readonly halfWidth: number;
}

/**
 * Compares two variants by the means of their users. Each user's own past is regressed out (CUPED, Deng et al. 2013), so that what
 * differs between people and not by the variant adds no noise. The interval is the asymptotic confidence sequence of Waudby-Smith, Arbour,
 * Sinha, Kennedy and Ramdas (2021): it may be looked at as often as one likes. The line through the past is that of both together, and no
 * variant's outcomes vary less than those of both: a small one that lacks the few heavy users knows neither.
 */
export function compareArms(control: ArmSums, variant: ArmSums, rules: SequenceRules): Comparison {
  const arms = [control, variant];
  const sum = (of: (arm: ArmSums) => number) => arms.reduce((total, arm) => total + of(arm), 0);
  const users = sum((arm) => arm.users);
  const spread = sum((arm) => arm.pastSpread);
  const slope = spread === 0 ? 0 : sum((arm) => arm.shared) / spread;
  const adjusted = (arm: ArmSums) => arm.outcomeMean - slope * arm.pastMean;
  const common = sum((arm) => arm.users * arm.residualVariance(slope)) / Math.max(1, users);
  const varianceOf = (arm: ArmSums) => Math.max(common, arm.residualVariance(slope));
  const deviation = Math.sqrt(sum((arm) => (varianceOf(arm) * users) / Math.max(1, arm.users)));
  const share = sum((arm) => arm.responders) / Math.max(1, users);
  const isEnough = arms.every((arm) => arm.users >= USERS_MIN && share * arm.users >= RESPONDERS_MIN);
  return {
    users,
    difference: adjusted(variant) - adjusted(control),
    deviation,
    halfWidth: isEnough ? deviation * unitHalfWidth(users, rules) : Number.POSITIVE_INFINITY,
  };
}

/**
 * Compares two rankings on the same users.
 * @param sums of each user's difference, and as `past` what of it was to be expected @param expected the mean of that
 * @param isEnough false while nothing is to be said
 */
export function compareWithin(
  sums: ArmSums,
  expected: number,
  rules: SequenceRules,
  isEnough: boolean,
): Comparison {
  const { users } = sums;
  const deviation = Math.sqrt(sums.residualVariance(1));
  const isTold = isEnough && users >= USERS_MIN;
  return {
    users,
    difference: sums.outcomeMean - expected,
    deviation,
    halfWidth: isTold ? deviation * unitHalfWidth(users, rules) : Number.POSITIVE_INFINITY,
  };
}

/** The sum of outcomes over that of pasts, and half the width of its interval by the delta method. */
export function ratioOf(sums: ArmSums, rules: SequenceRules): { ratio: number; halfWidth: number } {
  const { users, outcomeMean, pastMean } = sums;
  const ratio = outcomeMean / pastMean;
  const deviation = Math.sqrt(sums.residualVariance(ratio)) / pastMean;
  return { ratio, halfWidth: deviation * unitHalfWidth(users, rules) };
}

/**
 * Half the width of the confidence sequence of a mean with standard deviation 1 (Waudby-Smith et al. 2021, theorem 2.2), its
 * parameter chosen for `planUsers` as in their appendix.
 */
export function unitHalfWidth(users: number, { alpha, planUsers }: SequenceRules): number {
  const plan = -2 * Math.log(alpha);
  const spread = (plan + Math.log(plan) + 1) / planUsers;
  const scaled = users * spread;
  return Math.sqrt(((2 * (scaled + 1)) / (users * scaled)) * Math.log(Math.sqrt(scaled + 1) / alpha));
}

/** Users in all with whom a difference as large as this is certain, four times in five; Infinity for none. */
export function usersToSee(difference: number, deviation: number, rules: SequenceRules): number {
  const isSeen = (users: number) =>
    deviation * (unitHalfWidth(users, rules) + POWER_QUANTILE / Math.sqrt(users)) <= Math.abs(difference);
  let most = 2;
  while (!isSeen(most)) {
    most *= 2;
    if (most > 2 ** 50) return Number.POSITIVE_INFINITY;
  }
  let least = most / 2;
  while (most - least > 1) {
    const middle = Math.floor((least + most) / 2);
    if (isSeen(middle)) most = middle;
    else least = middle;
  }
  return most;
}

/** Chance of a false alarm about the split, over all looks. */
const SPLIT_ALPHA = 0.001;
const SPLIT_PLAN_USERS = 10_000;

/**
 * Whether users are split otherwise than they are to be, which makes every comparison worthless: some of one variant are not counted, or
 * not served. Each share has a confidence sequence, so that this too may be looked at often.
 * @param shares of the users, which sum up to 1
 */
export function isSplitWrong(users: readonly number[], shares: readonly number[]): boolean {
  const all = users.reduce((sum, count) => sum + count, 0);
  if (all < USERS_MIN) return false;
  const rules = { alpha: SPLIT_ALPHA / shares.length, planUsers: SPLIT_PLAN_USERS };
  return shares.some(
    (share, at) =>
      Math.abs(users[at]! / all - share) > Math.sqrt(share * (1 - share)) * unitHalfWidth(all, rules),
  );
}
