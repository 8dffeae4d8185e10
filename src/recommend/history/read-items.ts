/**
 * The rule that nobody is recommended what they have read, that is items with any feedback of theirs in effect: in users'
 * lists, in answers out of them, in fallbacks and in the lists that are the same for all. The exception is replacement,
 * which puts read items back into users' lists: what stands in such a list may be shown, and from elsewhere still nothing
 * read is added.
 */
import { RowSet } from '../rows/row-set.ts';
import type { History } from './history.ts';

/** True for an item that the user has not read. */
export function isUnread(history: Pick<History, 'hasRead'>, itemRow: number): boolean {
  return !history.hasRead(itemRow);
}

/** Which entries of a user's list may be shown to the user. @param replacesRead whether lists hold read items on purpose */
export function shownOfList(
  history: Pick<History, 'hasRead'>,
  replacesRead: boolean,
): (itemRow: number) => boolean {
  return (row) => replacesRead || isUnread(history, row);
}

/** The items that one user after the other has read, quicker to ask than a history for many items. Not to be used by two at once. */
export class ReadItems {
  private readonly rows = new RowSet();

  /** Begins with another user. @param itemRows what that user has read */
  hold(itemRows: readonly number[]): void {
    this.rows.clear();
    for (const row of itemRows) this.rows.add(row);
  }

  /** True for an item that the user held has not read. */
  isUnread(itemRow: number): boolean {
    return !this.rows.has(itemRow);
  }
}
