/**
 * Layout of the held-out records of a training, in its shared memory:
 *
 *     heldUsers                  the users concerned; the first `judged` of them are a seeded sample
 *     heldGoalStarts, heldGoals  CSR of their held-out items
 *     heldStarts, heldColumns    CSR of their whole histories, held-out items among them
 *     heldFactors                their vectors while they are judged, and solved with the whole history in the end
 *     gains, bestGains           NDCG of each judged user, after the last judging and at the best epoch
 *     bestItemFactors            the item factors of the best epoch
 */
import { type CompressedMatrix, rowIndices } from '../../dataset/interactions.ts';
import type { HeldOutPairs } from '../../dataset/training-data.ts';
import { getOrPut } from '../../domain/get-or-put.ts';
import { createRandom } from '../../domain/random.ts';
import { viewOf } from '../../memory/memory-layout.ts';
import { type Estimate, estimate } from '../evaluation/confidence-interval.ts';
import { rowRegularization } from './settings.ts';
import type { AlsTask } from './training-task.ts';

/** Judged users that a thread takes at a time: a block of the batch kernel. */
export const JUDGE_CHUNK_USERS = 64;
/** Length of the list that is judged. */
export const JUDGED_LENGTH = 10;
/** Most users that are judged; more would cost time and tell little more. */
const JUDGED_USERS_MAX = 2000;

export function judgedCount(heldOut: number): number {
  return Math.min(heldOut, JUDGED_USERS_MAX);
}

/** The held-out items of each user concerned, ascending, the users in a seeded order. */
function goalsByUser({ userRows, itemRows }: HeldOutPairs, seed: number): [user: number, items: number[]][] {
  const goals = new Map<number, number[]>();
  userRows.forEach((user, at) => {
    getOrPut(goals, user, () => []).push(itemRows[at]!);
  });
  const users = [...goals.keys()].sort((a, b) => a - b);
  return Array.from(shuffled(users.length, seed), (at) => {
    const items = goals.get(users[at]!)!;
    return [users[at]!, items.sort((a, b) => a - b)];
  });
}

/** The sizes that the arrays of the records held out have. */
export interface HeldOutShape {
  /** Users with a record held out. */
  readonly users: number;
  /** Pairs held out. */
  readonly goals: number;
  /** All pairs of those users, in training or held out. */
  readonly entries: number;
  /** The most of them that one user has. */
  readonly longest: number;
}

export const NOTHING_HELD_OUT: HeldOutShape = { users: 0, goals: 0, entries: 0, longest: 0 };

export function heldOutShape(byUser: CompressedMatrix, pairs: HeldOutPairs): HeldOutShape {
  const goals = pairs.userRows.length;
  const lengths = new Map<number, number>();
  for (const row of pairs.userRows) {
    lengths.set(row, (lengths.get(row) ?? byUser.indptr[row + 1]! - byUser.indptr[row]!) + 1);
  }
  let entries = 0;
  let longest = 0;
  for (const length of lengths.values()) {
    entries += length;
    longest = Math.max(longest, length);
  }
  return { users: lengths.size, goals, entries, longest };
}

/** Writes the pairs held out, and the histories of their users. @param pairs none of them in `byUser` */
export function placeHeldOut(task: AlsTask, byUser: CompressedMatrix, pairs: HeldOutPairs): void {
  const { memory, layout, settings, itemCount } = task;
  const u32 = (name: string) => viewOf(memory, layout, name, 'u32');
  const users = u32('heldUsers');
  const goalStarts = u32('heldGoalStarts');
  const goals = u32('heldGoals');
  const starts = u32('heldStarts');
  const columns = u32('heldColumns');
  const weights = viewOf(memory, layout, 'heldWeights', 'f32');
  const regularizations = viewOf(memory, layout, 'heldRegularizations', 'f32');
  goalsByUser(pairs, settings.seed).forEach(([user, items], at) => {
    users[at] = user;
    goals.set(items, goalStarts[at]!);
    goalStarts[at + 1] = goalStarts[at]! + items.length;
    const first = byUser.indptr[user]!;
    const entries = Array.from(rowIndices(byUser, user), (item, entry) => ({
      item,
      weight: byUser.weights?.[first + entry] ?? 1,
    }));
    const history = [...entries, ...items.map((item) => ({ item, weight: 1 }))];
    history.sort((a, b) => a.item - b.item);
    history.forEach(({ item, weight }, entry) => {
      columns[starts[at]! + entry] = item;
      if (byUser.weights !== null) weights[starts[at]! + entry] = weight;
    });
    starts[at + 1] = starts[at]! + history.length;
    regularizations[at] = rowRegularization(settings, history.length, itemCount);
  });
}

/** The numbers below `count` in a seeded order (Fisher and Yates). */
function shuffled(count: number, seed: number): Uint32Array {
  const random = createRandom(seed);
  const order = Uint32Array.from({ length: count }, (_, at) => at);
  for (let at = count - 1; at > 0; at--) {
    const other = random.below(at + 1);
    const kept = order[at]!;
    order[at] = order[other]!;
    order[other] = kept;
  }
  return order;
}

/**
 * NDCG of one user from the scores of the held-out items and the best list of all other items that the user does not
 * have. One of those that scores as high stands before a held-out item, so a model that scores all alike earns nothing.
 * @param scores of the held-out items; sorted by the call
 * @param listed scores of that list, best first, at most `JUDGED_LENGTH`
 */
export function gainOf(scores: Float32Array, listed: Float32Array): number {
  scores.sort().reverse();
  let others = 0;
  let gain = 0;
  let ideal = 0;
  for (let at = 0; at < Math.min(scores.length, JUDGED_LENGTH); at++) {
    ideal += 1 / Math.log2(at + 2);
    if (!Number.isFinite(scores[at])) continue;
    while (others < listed.length && listed[others]! >= scores[at]!) others++;
    const rank = at + others;
    if (rank < JUDGED_LENGTH) gain += 1 / Math.log2(rank + 2);
  }
  return gain / ideal;
}

/** The mean NDCG over the judged users, with its confidence interval; after a `judge` phase. */
export function judgedQuality({ memory, layout }: AlsTask): Estimate {
  return estimate([...viewOf(memory, layout, 'gains', 'f32')]);
}

/** Remembers the gains of the best epoch. */
export function keepGains({ memory, layout }: AlsTask): void {
  viewOf(memory, layout, 'bestGains', 'f32').set(viewOf(memory, layout, 'gains', 'f32'));
}

/** The NDCG that a random order of the catalogue would have in the mean. */
export function chanceQuality(itemCount: number): number {
  let sum = 0;
  for (let rank = 0; rank < Math.min(JUDGED_LENGTH, itemCount); rank++) sum += 1 / Math.log2(rank + 2);
  return sum / itemCount;
}

/** Floating-point operations of judging that cost too little to save any, a small part of a second. */
const FREE_OPERATIONS = 4e9;
/** Share of an epoch's time that judging should take, unless it would come too rarely to find the best epoch. */
const SHARE_WANTED = 0.05;
/** Judging runs so many times faster, by operation, than solving does. */
const SPEED = 3;
const PERIOD_MAX = 3;

/** Epochs from one judging to the next, worked out from shapes alone so that it is the same on every machine. */
export function judgePeriod({ judged, userCount, itemCount, count, settings }: AlsTask): number {
  const { factors, steps } = settings;
  const judging = 2 * judged * itemCount * factors;
  if (judging <= FREE_OPERATIONS) return 1;
  const epoch = 2 * (userCount + itemCount) * factors ** 2 + 8 * count * (steps + 1) * factors;
  return Math.min(PERIOD_MAX, Math.ceil(judging / SPEED / (SHARE_WANTED * epoch)));
}
