import { getOrPut } from '../../domain/get-or-put.ts';
import type { Ranked } from '../../memory/ranked-rows.ts';
import { FeedbackColumns, type LocalReads } from '../../store/data-store.ts';
import type { LikeTest } from '../history/counts-as-positive.ts';
import { type Incidence, similarRows } from './similar-rows.ts';

/** Which rows are neighbors of which, and by what they have in common. */
export type Relation = 'items-by-users' | 'users-by-items' | 'users-by-labels';

/**
 * The rows most like `row` by common users, common liked items, or common user labels. Reads the store as it goes, so
 * it belongs into a worker.
 * @param onPause called now and then; what it throws ends the search
 */
export function neighborsFromStore(
  reads: LocalReads,
  relation: Relation,
  row: number,
  k: number,
  isLike: LikeTest,
  onPause?: () => void,
): Ranked {
  const incidence: Incidence<number | string> =
    relation === 'users-by-labels'
      ? userLabels(reads)
      : likes(reads, isLike, relation === 'items-by-users', onPause);
  return similarRows(row, k, incidence, () => true, onPause);
}

/** Likes as an incidence: of items and the users who like them, or of users and the items they like. */
function likes(
  reads: LocalReads,
  isLike: LikeTest,
  rowsAreItems: boolean,
  onPause: () => void = () => {},
): Incidence<number | string> {
  const feedback = new FeedbackColumns();
  const items = memoize((userRow) => {
    onPause();
    reads.readUserFeedback(userRow, feedback);
    const liked = new Set<number>();
    for (let at = 0; at < feedback.length; at++)
      if (isLike(feedback.types[at]!, feedback.timesMs[at]!)) liked.add(feedback.itemRows[at]!);
    return liked;
  });
  const users = memoize(
    (itemRow) => new Set([...reads.readItemUsers(itemRow)].filter((user) => items(user).has(itemRow))),
  );
  return rowsAreItems
    ? {
        rowCount: reads.itemCount,
        elementsOf: users,
        rowsOf: (user) => items(Number(user)),
        order: (row, other) => users(other).size - users(row).size || row - other,
      }
    : { rowCount: reads.userCount, elementsOf: items, rowsOf: (item) => users(Number(item)) };
}

function userLabels(reads: LocalReads): Incidence<number | string> {
  const labels = new Map<number, Set<string>>();
  const users = new Map<number | string, Set<number>>();
  let count = 0;
  reads.scanUsers(0, (userRow, user) => {
    count++;
    if (user.Labels.length > 0) labels.set(userRow, new Set(user.Labels));
    for (const label of user.Labels) getOrPut(users, label, () => new Set()).add(userRow);
  });
  const none: ReadonlySet<string> = new Set();
  const nobody: ReadonlySet<number> = new Set();
  return {
    rowCount: count,
    elementsOf: (row) => labels.get(row) ?? none,
    rowsOf: (label) => users.get(label) ?? nobody,
  };
}

function memoize<T>(compute: (row: number) => T): (row: number) => T {
  const known = new Map<number, T>();
  return (row) => getOrPut(known, row, () => compute(row));
}
