import { TopK } from '../../memory/top-k.ts';
import { FeedbackColumns, type LocalReads } from '../../store/data-store.ts';
import type { LikeTest } from '../history/counts-as-positive.ts';
import type { Ranked } from '../ranked.ts';

/** How many of the users most like a user are asked. */
export const USERS_ASKED = 100;

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
