import { buildInteractions, type Interactions, rowIndices } from '../dataset/interactions.ts';
import type { Past } from './read-feedback.ts';
import { sample } from './replay-plan.ts';

/** A question to recommenders whose answer is known. */
export interface Trial {
  readonly past: Past;
  /** Positions of the records that recommenders know. */
  readonly known: readonly number[];
  /** The known positive pairs. */
  readonly liked: Interactions;
  /** The held-out positive pairs, new to their users, of users and items that recommenders can know. */
  readonly test: Interactions;
  /** The moment of the question, milliseconds since the Unix epoch. */
  readonly nowMs: number;
}

/** Settings by which users of the test are chosen, so that a large set takes bounded time. */
export interface TrialOptions {
  /** Share of the positives that is held out, the latest ones. */
  readonly share: number;
  /** Users asked about at the most, chosen at random with the seed. */
  readonly usersMax: number;
  readonly seed: number;
}

export function createTrial(past: Past, { share, usersMax, seed }: TrialOptions): Trial {
  const positions = past.isPositive.flatMap((isPositive, at) => (isPositive ? [at] : []));
  const times = positions.map((at) => past.timesMs[at]!);
  const split = splitByTime(times, share);
  const knownLikes = Array.from(split.train, (at) => positions[at]!);
  const nowMs = knownLikes.reduce(
    (latest, at) => Math.max(latest, past.timesMs[at]!),
    Number.NEGATIVE_INFINITY,
  );
  const isKnown = new Uint8Array(past.timesMs.length);
  for (const at of knownLikes) isKnown[at] = 1;
  const known = past.timesMs.flatMap((timeMs, at) =>
    isKnown[at] === 1 || (!past.isPositive[at] && timeMs <= nowMs) ? [at] : [],
  );
  const liked = pairs(past, knownLikes);
  const held = Array.from(split.test, (at) => positions[at]!).filter((at) => isAnswerable(past, liked, at));
  return { past, known, liked, test: pairs(past, limitUsers(past, held, usersMax, seed)), nowMs };
}

function pairs(past: Past, positions: readonly number[]): Interactions {
  return buildInteractions({
    userCount: past.userIds.length,
    itemCount: past.itemIds.length,
    userRows: positions.map((at) => past.userRows[at]!),
    itemRows: positions.map((at) => past.itemRows[at]!),
  });
}

/** Users and items that nobody has met, and repeats, are the task of other recommenders. */
function isAnswerable(past: Past, liked: Interactions, at: number): boolean {
  const mine = rowIndices(liked.byUser, past.userRows[at]!);
  const itsUsers = rowIndices(liked.byItem, past.itemRows[at]!);
  return mine.length > 0 && itsUsers.length > 0 && !mine.includes(past.itemRows[at]!);
}

/** The records of at most so many users. */
function limitUsers(
  past: Past,
  positions: readonly number[],
  usersMax: number,
  seed: number,
): readonly number[] {
  const users = [...new Set(positions.map((at) => past.userRows[at]!))];
  if (users.length <= usersMax) return positions;
  const chosen = new Set(sample(users, usersMax, seed));
  return positions.filter((at) => chosen.has(past.userRows[at]!));
}

/** Users of the test, ascending. */
export function askedUsers({ test }: Trial): number[] {
  return Array.from({ length: test.userCount }, (_, row) => row).filter(
    (row) => rowIndices(test.byUser, row).length > 0,
  );
}

/** Positions of records, in their original order. */
export interface Split {
  readonly train: Uint32Array;
  readonly test: Uint32Array;
}

/**
 * Splits records by time and holds out the latest `share`, as in production: train on the past, predict the future.
 * Ties keep the order of the input.
 * @param share above 0 and below 1
 */
export function splitByTime(times: ArrayLike<number>, share: number): Split {
  const order = Uint32Array.from({ length: times.length }, (_, at) => at);
  order.sort((a, b) => times[a]! - times[b]! || a - b);
  const trainCount = times.length - Math.round(times.length * share);
  return { train: order.slice(0, trainCount).sort(), test: order.slice(trainCount).sort() };
}
