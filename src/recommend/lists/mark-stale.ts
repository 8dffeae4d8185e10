import type { ChangeSet, FeedbackColumns } from '../../store/data-store.ts';
import type { TypeTest } from '../history/counts-as-positive.ts';
import type { ActiveUsers } from './active-users.ts';
import type { UserLists } from './user-lists.ts';

/** Records of a commit looked at in one step. */
const STEP_RECORDS = 1024;

/**
 * Notes whose lists a commit changes, and who is active, a fraction of a millisecond a step.
 * @param changesList the feedback types after which a user's list is another
 */
export function* markStale(
  changes: ChangeSet,
  lists: UserLists,
  active: ActiveUsers,
  changesList: TypeTest,
): Generator<unknown> {
  const { added, removed, deletedUserRows } = changes;
  for (let at = 0; at < added.length; at++) {
    if (at % STEP_RECORDS === STEP_RECORDS - 1) yield;
    active.note(added.userRows[at]!);
    if (changesList(added.types[at]!)) lists.markDirty(added.userRows[at]!);
  }
  const isOverwritten = yield* pairTest(removed.length > 0 ? added : undefined);
  for (let at = 0; at < removed.length; at++) {
    if (at % STEP_RECORDS === STEP_RECORDS - 1) yield;
    const userRow = removed.userRows[at]!;
    if (changesList(removed.types[at]!))
      lists.markDirty(userRow, !isOverwritten(userRow, removed.itemRows[at]!));
  }
  lists.delete(deletedUserRows);
}

/** A test for the pairs of user and item that have records. */
function* pairTest(
  feedback: FeedbackColumns | undefined,
): Generator<unknown, (userRow: number, itemRow: number) => boolean> {
  const itemsByUser = new Map<number, Set<number>>();
  for (let at = 0; at < (feedback?.length ?? 0); at++) {
    if (at % STEP_RECORDS === STEP_RECORDS - 1) yield;
    const userRow = feedback!.userRows[at]!;
    const items = itemsByUser.get(userRow) ?? new Set();
    itemsByUser.set(userRow, items.add(feedback!.itemRows[at]!));
  }
  return (userRow, itemRow) => itemsByUser.get(userRow)?.has(itemRow) === true;
}
