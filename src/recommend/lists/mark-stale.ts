import { getOrPut } from '../../domain/get-or-put.ts';
import type { ChangeSet } from '../../store/data-store.ts';
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
  { added, removed, deletedUserRows }: Pick<ChangeSet, 'added' | 'removed' | 'deletedUserRows'>,
  lists: Pick<UserLists, 'markDirty' | 'delete'>,
  active: Pick<ActiveUsers, 'noteAll'>,
  changesList: TypeTest,
): Generator<unknown> {
  // Items that are gone, by user: less those that the commit gave feedback on, which was overwritten.
  const gone = new Map<number, Set<number>>();
  for (let at = 0; at < removed.length; at++) {
    if (at % STEP_RECORDS === STEP_RECORDS - 1) yield;
    getOrPut(gone, removed.userRows[at]!, () => new Set<number>()).add(removed.itemRows[at]!);
  }
  active.noteAll(added.userRows.subarray(0, added.length));
  for (let at = 0; at < added.length; at++) {
    if (at % STEP_RECORDS === STEP_RECORDS - 1) yield;
    const userRow = added.userRows[at]!;
    gone.get(userRow)?.delete(added.itemRows[at]!);
    if (changesList(added.types[at]!)) lists.markDirty(userRow);
  }
  for (let at = 0; at < removed.length; at++) {
    if (at % STEP_RECORDS === STEP_RECORDS - 1) yield;
    const userRow = removed.userRows[at]!;
    if (changesList(removed.types[at]!))
      lists.markDirty(userRow, gone.get(userRow)!.has(removed.itemRows[at]!));
  }
  lists.delete(deletedUserRows);
}
