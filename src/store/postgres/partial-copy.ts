import type { Commit, CommittedEffects, Point } from '../commit-effects.ts';
import { FeedbackColumns } from '../data-store.ts';
import { ChangeLog } from '../lmdb/changes/change-log.ts';
import { RecentFeedback } from '../lmdb/changes/recent-feedback.ts';
import { encodeItem, encodeUser, toCatalogueItem } from '../lmdb/format/entity-codec.ts';
import {
  FEEDBACK_BLOCK_RECORDS,
  FEEDBACK_WORDS,
  nextBlock,
  pairKey,
  retyped,
  rowKey,
  tripleKey,
  unpackType,
} from '../lmdb/format/record-layout.ts';
import { LmdbLocalReads } from '../lmdb/reads/lmdb-local-reads.ts';
import { type DataTables, putJournal } from '../lmdb/tables/data-tables.ts';
import { readWords, type Table } from '../lmdb/tables/engine.ts';
import { notePoint, readState, type StoreState, writeState } from '../lmdb/tables/meta-table.ts';
import { ValueKinds } from '../lmdb/tables/value-kinds.ts';
import { putVector, removeVector, removeVectors } from '../lmdb/tables/vectors-table.ts';
import { BlockAppender } from '../lmdb/writer/block-appender.ts';
import { putNote } from '../lmdb/writer/feedback-loader.ts';
import { FeedbackTypes } from '../lmdb/writer/feedback-types.ts';
import type { Group } from '../lmdb/writer/group-commit.ts';
import { IdRows } from '../lmdb/writer/id-rows.ts';
import { OwnTransactions } from '../lmdb/writer/own-transactions.ts';
import type { PackedFeedback } from '../packed-feedback.ts';
import { tellFeedback } from './tell-feedback.ts';
import type { AskedUsers, StoredUser, StoredUsers } from './user-queries.ts';

/** Users that are known at most; of more, those that were asked for first are let go of, half at once. */
const USERS_MAX = 262_144;
/** A user stays there for so long at least after it was let go of, milliseconds: a request may still read it. */
const KEPT_MS_MIN = 60_000;
/** Users removed in one transaction. */
const SLICE_USERS = 500;

/** Users that were read, as they were taken in. */
export interface TakenUsers {
  /** Rows of those that are known from now on. */
  readonly known: readonly number[];
  /** Users that a commit changed after they were read: they are to be read again. */
  readonly again: AskedUsers;
}

/**
 * A copy that holds items, how much there is of everything, and of users those who were asked for. A commit tells what it changed
 * to whoever counts; a user that it touches is not known any more, and is read again when it is next asked for. What stands here of
 * such a user stays as it was, for requests that are under way.
 */
export class PartialCopy {
  private readonly tables: DataTables;
  private readonly usersMax: number;
  private readonly clock: () => number;
  private readonly own: OwnTransactions;
  private readonly local: LmdbLocalReads;
  private readonly kinds: ValueKinds;
  private readonly blocks: BlockAppender;
  private readonly columns = new FeedbackColumns();
  private state!: StoreState;
  private types!: FeedbackTypes;
  private recent!: RecentFeedback;
  private items!: IdRows;
  /** Rows of the users who are here as of the last commit. */
  private readonly known = new Set<number>();
  /** Users who are not known any more, until that is told. */
  private forgotten: number[] = [];
  /** Users and rows that commits touched, with the last of them, while users are being read. */
  private readonly touched = new Map<string | number, number>();
  private reading = 0;
  /** Users by when they were read: lately, before that, and those to be removed. */
  private young = new Set<number>();
  private old = new Set<number>();
  private leaving = new Set<number>();
  private readonly removed = new Set<number>();
  private turnedMs: number;

  constructor(tables: DataTables, usersMax = USERS_MAX, clock = () => performance.now()) {
    this.tables = tables;
    this.usersMax = usersMax;
    this.clock = clock;
    this.turnedMs = clock();
    this.own = new OwnTransactions(tables.engine);
    this.local = new LmdbLocalReads(tables);
    this.kinds = new ValueKinds(tables);
    this.blocks = new BlockAppender(tables.userFeedback, FEEDBACK_WORDS, FEEDBACK_BLOCK_RECORDS, put);
    this.begin();
  }

  get hasSlices(): boolean {
    return this.removed.size > 0;
  }

  get nextTransaction(): number {
    return this.own.nextId;
  }

  replicate(commits: readonly Commit[]): Group {
    const logs: ChangeLog[] = [];
    const { typesVersion } = this.state;
    this.change(() => {
      for (const commit of commits) this.carryOut(commit, logs);
      writeState(this.tables, this.state);
      const { position, mark } = commits.at(-1)!;
      notePoint(this.tables, { position, mark });
    });
    const names = [...this.kinds.namesBeside(this.types.names)];
    const renumbers = this.state.typesVersion !== typesVersion;
    return this.group(logs.map((log) => log.toPlain(names, renumbers)));
  }

  /** Removes some of the users that were let go of. */
  slice(): Group {
    this.change(() => {
      let count = 0;
      for (const row of this.removed) {
        if (count++ === SLICE_USERS) break;
        this.removed.delete(row);
        if (!this.young.has(row) && !this.old.has(row)) this.drop(row);
      }
    });
    return this.group([]);
  }

  /** Users are read from now on: what commits touch meanwhile is noted until `endReading`. */
  beginReading(): void {
    this.reading++;
  }

  endReading(): void {
    if (--this.reading === 0) this.touched.clear();
  }

  /**
   * Takes in users as they were read, in place of what there was of them.
   * @param stored of a commit that is carried out here
   */
  take(stored: StoredUsers, asked: AskedUsers): TakenUsers {
    const again = { ids: [] as string[], rows: [] as number[] };
    const known: number[] = [];
    const isOld = (key: string | number) => (this.touched.get(key) ?? -1) > stored.position;
    const found = new Set(stored.users.map(({ user }) => user.UserId));
    this.change(() => {
      this.types.add([...stored.types.values()]);
      for (const each of stored.users) {
        if (isOld(each.row) || isOld(each.user.UserId)) again.ids.push(each.user.UserId);
        else {
          this.put(each, stored);
          known.push(each.row);
        }
      }
      for (const id of asked.ids) {
        if (found.has(id)) continue;
        const row = this.local.userRow(id);
        if (isOld(id)) again.ids.push(id);
        else if (row >= 0) this.drop(row);
      }
      writeState(this.tables, this.state);
    });
    for (const row of known) {
      this.known.add(row);
      this.young.add(row);
    }
    this.turnOver();
    return { known, again };
  }

  /** True for a user who is here as of the last commit. */
  isKnown(row: number): boolean {
    return this.known.has(row);
  }

  /** Rows of users that were known and are not any more, since the last call. */
  takeForgotten(): readonly number[] {
    const { forgotten } = this;
    this.forgotten = [];
    return forgotten;
  }

  private group(changes: Group['changes']): Group {
    return {
      answers: [],
      changes,
      failure: undefined,
      nextTransaction: this.nextTransaction,
      forgotten: this.takeForgotten(),
    };
  }

  /** Reads what there is now: what a transaction that was undone has left is not it. */
  private begin(): void {
    const { tables } = this;
    this.state = readState(tables);
    this.types = new FeedbackTypes(tables, this.state);
    // Of which types there is feedback is not known here.
    this.types.keepNumbers();
    this.recent = new RecentFeedback(tables, this.state);
    this.items = new IdRows('items', tables.itemIds, this.state, (itemId) => this.local.itemRow(itemId));
  }

  private change(action: () => void): void {
    try {
      this.own.transact(() => {
        action();
        return { result: undefined, hasWritten: true };
      });
    } catch (error) {
      this.begin();
      throw error;
    }
  }

  private carryOut({ parts, position, mark }: Commit, logs: ChangeLog[]): void {
    // What takes nothing away is told in one breath with that of the commits before.
    const first = logs.at(-1);
    let log = first !== undefined && !first.hasRemovals && !first.isIncomplete ? first : undefined;
    const from = log?.added.length ?? 0;
    const ofCommit: ChangeLog[] = [];
    for (const part of parts) {
      if (log === undefined || log.hasRemovals || removes(part)) logs.push((log = new ChangeLog()));
      if (ofCommit.at(-1) !== log) ofCommit.push(log);
      this.carryOutPart(part, log, position);
    }
    const isShared = ofCommit[0] === first && first !== undefined;
    this.recent.keep(ofCommit, { position, mark } satisfies Point, isShared ? from : 0);
  }

  private carryOutPart(part: CommittedEffects, log: ChangeLog, position: number): void {
    const { state } = this;
    for (const [at, userId] of part.deletedUserIds.entries()) {
      const row = part.deletedUserRows![at]!;
      state.users--;
      this.drop(row);
      this.touch(row, position);
      if (this.reading > 0) this.touched.set(userId, position);
      log.deletedUserRows.push(row);
    }
    for (const itemId of part.deletedItemIds) this.deleteItem(itemId, log);
    for (const [row, user] of part.users) {
      if (row >= state.nextUserRow) {
        state.nextUserRow = row + 1;
        state.users++;
      }
      this.touch(row, position);
      if (this.reading > 0) this.touched.set(user.UserId, position);
      log.userRows.push(row);
    }
    for (const [row, item] of part.items) {
      if (this.items.find(item.ItemId) !== row) this.items.place(item.ItemId, row);
      this.tables.items.put(rowKey(row), encodeItem(item));
      log.items.push(toCatalogueItem(item, row));
    }
    for (const [row, space, numbers] of part.vectors ?? []) {
      if (numbers === null) removeVector(this.tables, row, space);
      else putVector(this.tables, row, space, numbers);
      log.vectorRows.push(row);
    }
    for (const [name, journal] of part.journals) {
      putJournal(this.tables, name, journal);
      log.journals.push(name);
    }
    if (part.isIncomplete) log.isIncomplete = true;
    this.tellFeedback(part.feedback, log, position);
  }

  private tellFeedback(feedback: PackedFeedback, log: ChangeLog, position: number): void {
    const { rows, typeNames, length } = feedback;
    this.types.add(typeNames);
    this.state.feedback += tellFeedback(feedback, this.kinds, (name) => this.types.numberOf(name), log);
    if (this.known.size + this.reading > 0)
      for (let at = 0; at < length; at++) this.touch(rows[at * 2]!, position);
  }

  private deleteItem(itemId: string, log: ChangeLog): void {
    const row = this.items.find(itemId);
    if (row < 0) return;
    this.items.remove(itemId);
    this.tables.items.remove(rowKey(row));
    removeVectors(this.tables, row);
    log.deletedItemRows.push(row);
  }

  /** A commit changes the user. */
  private touch(row: number, position: number): void {
    if (this.known.delete(row)) this.forgotten.push(row);
    if (this.reading > 0) this.touched.set(row, position);
  }

  private put({ row, user, feedback, notes }: StoredUser, { types, goneItems }: StoredUsers): void {
    const { tables, state, blocks } = this;
    const before = this.local.userRow(user.UserId);
    if (before >= 0) this.drop(before);
    tables.userIds.put(Buffer.from(user.UserId), rowKey(row));
    tables.users.put(rowKey(row), encodeUser(user));
    const numberOf = (type: number) => this.types.numberOf(types.get(type)!);
    // In the order of items, each with its place: numbers are sorted several times as fast as places by what stands there.
    const count = feedback.length / FEEDBACK_WORDS;
    const order = Float64Array.from(
      { length: count },
      (_, at) => feedback[at * FEEDBACK_WORDS]! * count + at,
    );
    blocks.open(row);
    for (const key of order.sort()) {
      const at = (key % count) * FEEDBACK_WORDS;
      const high = feedback[at + 1]!;
      if (!goneItems.has(feedback[at]!))
        blocks.emit(feedback[at]!, feedback[at + 2]!, retyped(high, numberOf(unpackType(high))));
    }
    blocks.close();
    // The counts say that there may be some, and no more.
    for (const note of notes) putNote(tables, state, tripleKey(row, note.itemRow, numberOf(note.type)), note);
  }

  /** Removes all that stands here of a user. */
  private drop(row: number): void {
    const { tables, state, columns, local } = this;
    const userId = local.userIdAt(row);
    if (userId === undefined) return;
    tables.userIds.remove(Buffer.from(userId));
    tables.users.remove(rowKey(row));
    local.readStoredFeedback(row, columns);
    const noted = (['values', 'comments', 'repeats'] as const).filter((name) => state[name] > 0);
    for (let at = 0; at < (noted.length > 0 ? columns.length : 0); at++)
      for (const name of noted)
        tables[name].remove(tripleKey(row, columns.itemRows[at]!, columns.types[at]!));
    for (let low = 0, next = -1; next !== 0; low = next) {
      const [head] = readWords(tables.userFeedback, pairKey(row, low));
      next = nextBlock(low, head ?? 0);
      if (head !== undefined) tables.userFeedback.remove(pairKey(row, low));
    }
  }

  /** Lets go of those who were asked for first, where there are too many. */
  private turnOver(): void {
    const nowMs = this.clock();
    if (this.young.size < this.usersMax / 2 || nowMs - this.turnedMs < KEPT_MS_MIN) return;
    this.turnedMs = nowMs;
    for (const row of this.leaving) this.removed.add(row);
    this.leaving = new Set();
    for (const row of this.old) {
      if (this.young.has(row)) continue;
      this.leaving.add(row);
      if (this.known.delete(row)) this.forgotten.push(row);
    }
    this.old = this.young;
    this.young = new Set();
  }
}

/** True when a part takes something away, so that it must not be told in one breath with what came before. */
function removes({ deletedUserIds, deletedItemIds, feedback }: CommittedEffects): boolean {
  return deletedUserIds.length + deletedItemIds.length > 0 || feedback.hasPast;
}

function put(table: Table, key: Uint8Array, value: Uint8Array): unknown {
  return table.put(key, value);
}
