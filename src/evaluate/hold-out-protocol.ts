import { buildInteractions, type Interactions, rowIndices } from '../dataset/interactions.ts';
import { createRandom } from '../domain/random.ts';
import type { Past } from './read-feedback.ts';
import { splitByTime } from './test-split.ts';

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

/** Holds out a part of the past. */
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

function limitUsers(
  past: Past,
  positions: readonly number[],
  usersMax: number,
  seed: number,
): readonly number[] {
  const users = [...new Set(positions.map((at) => past.userRows[at]!))];
  if (users.length <= usersMax) return positions;
  const random = createRandom(seed);
  for (let at = 0; at < usersMax; at++) {
    const other = at + random.below(users.length - at);
    [users[at], users[other]] = [users[other]!, users[at]!];
  }
  const chosen = new Set(users.slice(0, usersMax));
  return positions.filter((at) => chosen.has(past.userRows[at]!));
}
