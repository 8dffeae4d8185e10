import { FeedbackColumns, type LocalReads } from '../../data-store.ts';
import { removalOf } from '../../pair-merge.ts';
import type { ChangeLog } from '../changes/change-log.ts';
import { pairKey, readRow, typeUserKey } from '../format/record-layout.ts';
import type { DataTables } from '../tables/data-tables.ts';
import { FIRST_KEY, firstKey, readBytes, readWords, type Table } from '../tables/engine.ts';
import type { StoreState } from '../tables/meta-table.ts';
import { deletedKind, deletionKey, type Kind } from '../tables/pending-deletions.ts';
import type { FeedbackWriter } from './feedback-writer.ts';

/** A user or an item with more feedback is deleted in slices of about so many records: some ten milliseconds each. */
const SLICE_RECORDS = 4096;

/**
 * Removes what goes with a deleted user or item: all its feedback, at once or, where there is so much that one
 * transaction would hold up all other writes, in slices. Then the first transaction takes the id away and the first block of the row's chain, without which nobody finds the others, so
 * the row is gone for every reader at once. It also notes the deletion in a table; what is left of the row is then removed
 * block by block, each slice in a transaction of its own, and after a crash goes on where it was.
 */
export class Deletions {
  private readonly tables: DataTables;
  private readonly state: StoreState;
  private readonly feedback: FeedbackWriter;
  private readonly reads: Pick<LocalReads, 'readUserFeedback' | 'readItemUsers'>;
  private readonly begun: Set<number>;

  /**
   * @param begun rows of the users whose deletion began since the store was opened. Only for those the removals are told:
   *   who has opened it later has not seen their feedback.
   */
  constructor(
    tables: DataTables,
    state: StoreState,
    feedback: FeedbackWriter,
    reads: Pick<LocalReads, 'readUserFeedback' | 'readItemUsers'>,
    begun: Set<number>,
  ) {
    this.reads = reads;
    this.begun = begun;
    this.tables = tables;
    this.state = state;
    this.feedback = feedback;
  }

  get hasPending(): boolean {
    return this.state.deletions > 0;
  }

  /** Removes the feedback of a user or an item within the transaction that is open; for whoever reads, all of it is gone. */
  deleteFeedbackOf(kind: Kind, row: number, changes: ChangeLog): void {
    const { count, others } = kind === 'user' ? this.ofUser(row) : this.ofItem(row);
    if (count > SLICE_RECORDS) {
      if (kind === 'user') this.state.feedback -= count;
      this.begin(kind, row, changes);
    } else {
      const edits = Array.from(others, (other) =>
        kind === 'user' ? removalOf(row, other) : removalOf(other, row),
      );
      this.feedback.apply(edits, this.state, changes);
    }
  }

  /** Number of a user's records, and their items. */
  private ofUser(userRow: number): { count: number; others: Iterable<number> } {
    const columns = new FeedbackColumns();
    this.reads.readUserFeedback(userRow, columns);
    return { count: columns.length, others: new Set(columns.itemRows.subarray(0, columns.length)) };
  }

  private ofItem(itemRow: number): { count: number; others: Iterable<number> } {
    const userRows = this.reads.readItemUsers(itemRow);
    return { count: userRows.length, others: userRows };
  }

  /** Hides the row's feedback and notes that it is to be removed. The counts are as if it had been. */
  private begin(kind: Kind, row: number, changes: ChangeLog): void {
    this.tables.deletions.put(deletionKey(kind, row), EMPTY);
    this.state.deletions++;
    if (kind === 'user') this.begun.add(row);
    this.removeBlock(kind, row, 0, changes);
  }

  /** Carries on with one of the deletions within the transaction that is open. */
  slice(changes: ChangeLog): void {
    const key = firstKey(this.tables.deletions, FIRST_KEY)!;
    const kind = deletedKind(key);
    const row = readRow(key, 1);
    const table = this.tableOf(kind);
    for (let records = 0; records < SLICE_RECORDS; ) {
      const block = firstKey(table, pairKey(row, 0));
      if (block === undefined || readRow(block, 0) !== row) {
        this.end(kind, row);
        return;
      }
      records += this.removeBlock(kind, row, readRow(block, 4), changes);
    }
  }

  private removeBlock(kind: Kind, row: number, low: number, changes: ChangeLog): number {
    const table = this.tableOf(kind);
    const words = readWords(table, pairKey(row, low)).slice(1);
    table.remove(pairKey(row, low));
    if (kind === 'user') {
      const told = this.begun.has(row) ? changes : undefined;
      if (told === undefined) changes.isIncomplete = true;
      return this.feedback.dropUserBlock(row, words, this.state, told);
    }
    const edits = Array.from(words, (userRow) => removalOf(userRow, row));
    this.feedback.apply(edits, this.state, changes);
    return edits.length;
  }

  private end(kind: Kind, row: number): void {
    const { deletions, typeUsers } = this.tables;
    deletions.remove(deletionKey(kind, row));
    this.state.deletions--;
    if (kind !== 'user') return;
    for (let type = 0; type < this.state.feedbackTypes; type++) {
      const key = typeUserKey(type, row);
      if (readBytes(typeUsers, key) !== undefined) typeUsers.remove(key);
    }
  }

  private tableOf(kind: Kind): Table {
    return kind === 'user' ? this.tables.userFeedback : this.tables.itemFeedback;
  }
}

const EMPTY = new Uint8Array(0);
