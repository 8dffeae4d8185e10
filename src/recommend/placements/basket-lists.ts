import type { Ranked } from '../../memory/ranked-rows.ts';
import { spreadEvenly } from '../../memory/spread-evenly.ts';
import { TopK } from '../../memory/top-k.ts';
import { FeedbackColumns, type LocalReads } from '../../store/data-store.ts';
import type { TypeTest } from '../history/counts-as-positive.ts';

/** Users of an item whose baskets are looked at, evenly spread. */
const USERS_MAX = 1000;
const LENGTH_MAX = 500;

export interface BasketParts {
  readonly reads: Pick<LocalReads, 'readItemUsers' | 'readUserFeedback' | 'feedbackAhead'>;
  readonly isPositive: TypeTest;
  /** Users who like an item. */
  readonly likesOf: (row: number) => number;
}

/**
 * Items that are often bought together with one, best first: in a basket are the likes of one user within a time of each other. An item
 * counts by the cosine of the two items' baskets, less the fewer there are (as by one more basket without it). Pauses after each user.
 * @param withinMs longest time between two likes of a basket, milliseconds
 */
export function* boughtTogether(
  { reads, isPositive, likesOf }: BasketParts,
  row: number,
  withinMs: number,
): Generator<undefined, Ranked> {
  const users = spreadEvenly(reads.readItemUsers(row), USERS_MAX);
  const baskets = new Map<number, number>();
  const feedback = new FeedbackColumns();
  for (const userRow of users) {
    yield* reads.feedbackAhead(userRow) ?? [];
    reads.readUserFeedback(userRow, feedback);
    for (const other of besides(feedback, row, withinMs, isPositive))
      baskets.set(other, (baskets.get(other) ?? 0) + 1);
    yield;
  }
  const best = new TopK(LENGTH_MAX);
  for (const [other, count] of baskets) {
    const likes = Math.max(likesOf(other), count);
    best.push(other, (count / Math.sqrt(users.length * likes)) * (count / (count + 1)));
  }
  return best.sorted();
}

/** Items that a user liked within a time of liking one. */
function besides(
  { length, itemRows, types, timesMs }: FeedbackColumns,
  row: number,
  withinMs: number,
  isPositive: TypeTest,
): Set<number> {
  const own: number[] = [];
  for (let at = 0; at < length; at++)
    if (itemRows[at] === row && isPositive(types[at]!)) own.push(timesMs[at]!);
  const found = new Set<number>();
  for (let at = 0; at < length; at++) {
    if (itemRows[at] === row || !isPositive(types[at]!)) continue;
    if (own.some((timeMs) => Math.abs(timeMs - timesMs[at]!) <= withinMs)) found.add(itemRows[at]!);
  }
  return found;
}
