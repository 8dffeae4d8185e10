import { TopK } from '../../memory/top-k.ts';
import { FeedbackColumns, type LocalReads } from '../../store/data-store.ts';
import type { History, LikeTest, TypeTest } from '../history/history.ts';
import type { AskedUser } from '../models/generation.ts';
import type { Ranked } from '../ranked.ts';
import type { NeighborType } from './item-neighbors.ts';
import type { Relation } from './related-rows.ts';

/** How many of the users most like a user are asked. */
export const USERS_ASKED = 100;

/** Likes that a user is compared by at most, the latest: nobody is better told by more. */
const LIKES_COMPARED_MAX = 5000;

/** What users are compared by. */
export function userRelation(type: NeighborType, hasLabels: boolean): Relation {
  const byLabels = type === 'similar' || (type === 'auto' && hasLabels);
  return byLabels ? 'users-by-labels' : 'users-by-items';
}

/** The user as somebody whose like are looked for. */
export function askedUser(history: History, relation: Relation, isPositive: TypeTest): AskedUser {
  const { userRow } = history;
  if (relation === 'users-by-labels') return { userRow, likedRows: undefined };
  return { userRow, likedRows: Uint32Array.from(history.positiveRows(isPositive, LIKES_COMPARED_MAX)) };
}

/** The items that the users like, best first: each scores the sum of those users' similarities. */
export function itemsOfUsers(
  users: Ranked,
  reads: LocalReads,
  isLike: LikeTest,
  k: number,
  accept: (itemRow: number) => boolean,
): Ranked {
  const feedback = new FeedbackColumns();
  const sums = new Map<number, number>();
  users.rows.slice(0, USERS_ASKED).forEach((user, at) => {
    reads.readUserFeedback(user, feedback);
    let last = -1;
    for (let i = 0; i < feedback.length; i++) {
      const row = feedback.itemRows[i]!;
      // Several types of one pair stand side by side and count once.
      if (row === last || !isLike(feedback.types[i]!, feedback.timesMs[i]!) || !accept(row)) continue;
      last = row;
      sums.set(row, (sums.get(row) ?? 0) + users.scores[at]!);
    }
  });
  const top = new TopK(k);
  for (const [row, sum] of sums) top.push(row, sum);
  return top.sorted();
}
