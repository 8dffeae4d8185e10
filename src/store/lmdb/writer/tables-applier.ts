import type { Feedback, Item, User } from '../../../domain/entities.ts';
import type { CheckedCommand } from '../../check-command.ts';
import { CommandApplier } from '../../command-applier.ts';
import type { Effects, FeedbackEffect, Point } from '../../commit-effects.ts';
import type { CatalogueItem, WriteResult } from '../../data-store.ts';
import type { Journal } from '../../journals.ts';
import { EditKind, type FeedbackEdit } from '../../pair-merge.ts';
import { ChangeLog } from '../changes/change-log.ts';
import { RecentFeedback } from '../changes/recent-feedback.ts';
import { encodeItem, encodeUser, toCatalogueItem } from '../format/entity-codec.ts';
import { rowKey } from '../format/record-layout.ts';
import { LmdbDataReader } from '../reads/lmdb-data-reader.ts';
import { type DataTables, putJournal } from '../tables/data-tables.ts';
import { notePoint, readState, type StoreState, writeState } from '../tables/meta-table.ts';
import { putVector, removeVector, removeVectors } from '../tables/vectors-table.ts';
import type { WriteRules } from '../tables/writer-messages.ts';
import { Deletions } from './deletions.ts';
import { FeedbackTypes } from './feedback-types.ts';
import { FeedbackWriter } from './feedback-writer.ts';
import { IdRows } from './id-rows.ts';

/** Applies checked commands within the write transaction that is open. */
export class TablesApplier extends CommandApplier {
  private readonly tables: DataTables;
  private readonly reader: LmdbDataReader;
  private readonly feedbackWriter: FeedbackWriter;
  private readonly deletions: Deletions;
  private readonly state: StoreState;
  protected override readonly types: FeedbackTypes;
  private readonly recent: RecentFeedback;
  private readonly users: IdRows;
  private readonly items: IdRows;
  private changes = new ChangeLog();
  /** True when a command has been applied since the state was written. */
  private hasApplied = false;

  /**
   * Reads the counts and names the store has now; one that a transaction was undone under must be made anew.
   * @param begunDeletions rows of users, see `Deletions`; handed on when the applier is made anew
   */
  constructor(tables: DataTables, rules: WriteRules, begunDeletions: Set<number>) {
    const reader = new LmdbDataReader(tables);
    super(rules, reader.local);
    this.tables = tables;
    this.reader = reader;
    this.state = readState(tables);
    this.types = new FeedbackTypes(tables, this.state);
    this.recent = new RecentFeedback(tables, this.state);
    this.feedbackWriter = new FeedbackWriter(tables, this.roles);
    this.deletions = new Deletions(tables, this.state, this.feedbackWriter, reader.local, begunDeletions);
    this.users = new IdRows('users', tables.userIds, this.state, (userId) => reader.local.userRow(userId));
    this.items = new IdRows('items', tables.itemIds, this.state, (itemId) => reader.local.itemRow(itemId));
  }

  /** Names of the feedback types by number. */
  get feedbackTypes(): readonly string[] {
    return this.feedbackWriter.kinds.namesBeside(this.types.names);
  }

  /** Changes when a number is given to another type. */
  get typesVersion(): number {
    return this.state.typesVersion;
  }

  /**
   * Carries out one command and notes in `changes` what it did.
   * @throws FurzeError before anything is written
   */
  apply(command: CheckedCommand, changes: ChangeLog): WriteResult {
    this.begin(changes);
    const result = this.carryOut(command);
    this.hasApplied = true;
    return result;
  }

  /** To be called at the end of each transaction that has changed something, with all that it has noted. */
  finish(logs: readonly ChangeLog[]): void {
    this.hasApplied = false;
    if (logs.length > 0) this.recent.keep(logs);
    writeState(this.tables, this.state);
  }

  /** Shows later commands what was applied before in the same transaction. */
  private begin(changes: ChangeLog): void {
    if (this.hasApplied) writeState(this.tables, this.state);
    this.hasApplied = false;
    this.changes = changes;
  }

  /** True while feedback of something deleted is still to be removed. */
  get hasDeletions(): boolean {
    return this.deletions.hasPending;
  }

  /** Removes some of it, and notes in `changes` what went. */
  continueDeletion(changes: ChangeLog): void {
    this.deletions.slice(changes);
    this.types.noteRemoval();
  }

  /** Carries out a part of what was committed elsewhere, under the rows that it was given there. */
  replicate(effects: Effects, changes: ChangeLog): void {
    const { deletedUserIds, deletedItemIds, users, items, feedback, journals, vectors = [] } = effects;
    this.begin(changes);
    for (const userId of deletedUserIds) this.deleteUser(userId);
    for (const itemId of deletedItemIds) this.deleteItem(itemId);
    for (const [row, user] of users) {
      if (this.users.find(user.UserId) !== row) this.users.place(user.UserId, row);
      this.storeUser(row, user);
    }
    for (const [row, item] of items) {
      if (this.items.find(item.ItemId) !== row) this.items.place(item.ItemId, row);
      this.storeItem(row, item);
    }
    const all = [...feedback];
    this.types.add(all.map(({ type }) => type));
    this.editFeedback(all.map((each) => editOf(each, this.types.numberOf(each.type))));
    for (const [name, journal] of journals) this.storeJournal(name, journal);
    for (const [row, space, numbers] of vectors)
      if (numbers === null) this.removeVector(row, space);
      else this.storeVector(row, space, numbers);
    this.hasApplied = true;
  }

  /** Notes that everything up to this point is carried out. */
  notePoint(point: Point): void {
    notePoint(this.tables, point);
  }

  protected override get replacedReads(): number {
    return this.feedbackWriter.replacedReads;
  }

  protected override nameOf(type: number): string {
    return this.types.names[type]!;
  }

  protected override deleteUser(userId: string): number {
    const userRow = this.users.find(userId);
    if (userRow < 0) return 0;
    this.deletions.deleteFeedbackOf('user', userRow, this.changes);
    this.types.noteRemoval();
    this.users.remove(userId);
    this.tables.users.remove(rowKey(userRow));
    this.changes.deletedUserRows.push(userRow);
    return 1;
  }

  protected override deleteItem(itemId: string): number {
    const itemRow = this.items.find(itemId);
    if (itemRow < 0) return 0;
    this.deletions.deleteFeedbackOf('item', itemRow, this.changes);
    this.types.noteRemoval();
    this.items.remove(itemId);
    this.tables.items.remove(rowKey(itemRow));
    removeVectors(this.tables, itemRow);
    this.changes.deletedItemRows.push(itemRow);
    return 1;
  }

  protected override readPair(userId: string, itemId: string, feedbackType: string | undefined): Feedback[] {
    return this.reader.readPair(userId, itemId, feedbackType);
  }

  protected override editFeedback(edits: readonly FeedbackEdit[]): number {
    const removedBefore = this.changes.removed.length;
    const written = this.feedbackWriter.apply(edits, this.state, this.changes);
    if (this.changes.removed.length > removedBefore) this.types.noteRemoval();
    return written;
  }

  protected override findUserRow(userId: string): number {
    return this.users.find(userId);
  }

  protected override findItemRow(itemId: string): number {
    return this.items.find(itemId);
  }

  protected override newUserRow(userId: string): number {
    return this.users.add(userId);
  }

  protected override newItemRow(itemId: string): number {
    return this.items.add(itemId);
  }

  protected override storeUser(row: number, user: User): void {
    this.tables.users.put(rowKey(row), encodeUser(user));
    this.changes.userRows.push(row);
  }

  protected override storeItem(row: number, item: Item): void {
    this.tables.items.put(rowKey(row), encodeItem(item));
    this.changes.items.push(toCatalogueItem(item, row) satisfies CatalogueItem);
  }

  protected override storeVector(itemRow: number, space: string, vector: Float32Array | Uint8Array): void {
    putVector(this.tables, itemRow, space, vector);
    this.changes.vectorRows.push(itemRow);
  }

  protected override removeVector(itemRow: number, space: string): number {
    if (!removeVector(this.tables, itemRow, space)) return 0;
    this.changes.vectorRows.push(itemRow);
    return 1;
  }

  protected override storeJournal(name: string, journal: Journal): void {
    putJournal(this.tables, name, journal);
    this.changes.journals.push(name);
  }
}

/** An effect as the edit that has it, whatever counts as positive or read here. */
function editOf(
  { userRow, itemRow, timeMs, comment, value, occurrences }: FeedbackEffect,
  type: number,
): FeedbackEdit {
  const kind = Number.isNaN(timeMs) ? EditKind.removeType : EditKind.overwrite;
  return { kind, userRow, itemRow, type, timeMs, comment, value, occurrences, isPositive: false };
}
