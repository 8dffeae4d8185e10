import type { Readable } from 'node:stream';
import type { Batch, Feedback, Item, Page, User } from '../domain/entities.ts';
import type { ItemVector } from '../domain/vector-space.ts';
import { grown } from '../memory/growing-u32.ts';
import type { Point } from './commit-effects.ts';
import type { Journal, JournalAppend } from './journals.ts';
import type { Occurrences } from './repeats.ts';

export type { Batch } from '../domain/entities.ts';

/**
 * The data store: users, items, feedback. Everything above sees this interface and never the engine.
 * `local` is the synchronous path by row, out of the memory map of this process; the other reads are promises.
 */
export interface DataStore extends DataReader {
  /**
   * Carries out one write as one transaction and resolves once it is durable.
   * @throws FurzeError INVALID_JSON, INVALID_BODY, BATCH_TOO_LARGE, USER_NOT_FOUND, ITEM_NOT_FOUND,
   *   FEEDBACK_NOT_FOUND, CHANGED_MEANWHILE, STORE_UNAVAILABLE. Nothing of a refused command is stored.
   */
  write(command: WriteCommand): Promise<WriteResult>;
  /**
   * Called with what each commit changed, in commit order. The writes in it resolve once every listener has followed;
   * a large commit is followed over several turns of the event loop.
   */
  onChange(listener: ChangeListener): void;
  /**
   * A consistent copy of everything, as the bytes that `furze restore` takes, whatever is written meanwhile.
   * @throws Error of the file system when there is no room for it
   */
  backup(): Promise<{ readonly bytes: number; readonly stream: Readable }>;
  /** The commits that reads of a copy wait for; reads of an embedded store show everything at once and have none. */
  readonly barrier?: ReadBarrier;
  /**
   * Rewrites the store without its free space, so that nothing is left of what was deleted, while it is read and written;
   * absent where the engine sees to that by itself. One that runs is joined.
   * @param onProgress told how many of how many entries are rewritten
   * @throws OperatorError when there is no room for it, or the service stops before its end
   */
  compact?(onProgress?: (done: number, total: number) => void): Promise<Compacted>;
  /** @throws FurzeError STORE_UNAVAILABLE while the store does not answer or cannot write, saying why */
  ping(): Promise<void>;
}

/** Outcome of a compaction: bytes on disk. */
export interface Compacted {
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

/** Keeps reads of a copy as fresh as they are to be. */
export interface ReadBarrier {
  /**
   * Resolves when reads show everything that was answered before the call, on whichever node, or when that cannot be had;
   * undefined when they do at once.
   * @param users ids or rows of the users who are going to be read: a copy may hold those alone who were asked for
   */
  pass(users?: readonly (string | number)[]): Promise<void> | undefined;
  /** True for a user who is not here and may be there: the copy holds those who were asked for, and the database does not answer. */
  lacks(user: string): boolean;
  /** Whether the database answers within a few seconds; nothing is taken in for it. */
  answers(): Promise<boolean>;
  /** Number of the last commit that reads show. */
  readonly position: number;
  /** True while it is not known whether reads show what other nodes have written. */
  readonly isUnsure: boolean;
}

export interface DataReader {
  getUser(userId: string): Promise<User | undefined>;
  getItem(itemId: string): Promise<Item | undefined>;
  /** Users in the byte order of their ids, of those that begin with `prefix`. @throws FurzeError INVALID_CURSOR */
  getUsers(n: number, cursor: string, prefix?: string): Promise<Page<User>>;
  /** Items in the byte order of their ids, of those that begin with `prefix`. @throws FurzeError INVALID_CURSOR */
  getItems(n: number, cursor: string, prefix?: string): Promise<Page<Item>>;
  /** Feedback, of one type or of all, in a stable order. @throws FurzeError INVALID_CURSOR */
  getFeedbackPage(n: number, cursor: string, feedbackType?: string): Promise<Page<Feedback>>;
  getFeedback(feedbackType: string, userId: string, itemId: string): Promise<Feedback | undefined>;
  getPairFeedback(userId: string, itemId: string): Promise<Feedback[]>;
  getUserFeedback(userId: string, feedbackType?: string): Promise<Feedback[]>;
  getItemFeedback(itemId: string, feedbackType?: string): Promise<Feedback[]>;
  /**
   * The same lists a slice at a time, for answers that are never whole in memory. What is deleted while a walk goes on
   * may be missing from it, what is added does not appear.
   */
  walkUserFeedback(userId: string, feedbackType?: string): AsyncIterable<readonly Feedback[]>;
  walkItemFeedback(itemId: string, feedbackType?: string): AsyncIterable<readonly Feedback[]>;
  /** Distinct rows of the users with feedback on the item, ascending. */
  getItemUsers(itemRow: number): Promise<Uint32Array>;
  getStats(): Promise<StoreStats>;
  getTables(): Promise<readonly TableStats[]>;
  /** The synchronous reads by row. */
  readonly local: LocalReads;
  close(): Promise<void>;
}

/**
 * Reads by row number out of the memory map. All views handed out are valid only until the next call.
 * A row is a dense uint32 given at first insert and never used again.
 */
export interface LocalReads {
  /** True where users are here once they are asked for (`ReadBarrier.pass`), and what goes by all of them is not to be had. */
  readonly isPartial: boolean;
  /** False for a user who is not here as of now: what is answered meanwhile is not to be kept. */
  isKnown(userRow: number): boolean;
  /** Lets go of the snapshot that reads look at; the next read sees the newest commit. */
  refresh(): void;
  /** The user's row, or -1. */
  userRow(userId: string): number;
  /** The item's row, or -1. */
  itemRow(itemId: string): number;
  findUser(userId: string): User | undefined;
  findItem(itemId: string): Item | undefined;
  userIdAt(userRow: number): string | undefined;
  itemIdAt(itemRow: number): string | undefined;
  itemAt(itemRow: number): Item | undefined;
  userAt(userRow: number): User | undefined;
  /** All of a user's feedback in (item row, type) order, appended to `out` after `out.clear()`. */
  readUserFeedback(userRow: number, out: FeedbackColumns): void;
  /**
   * What goes before a read of a user's feedback that would take long, in pieces of some tenths of a millisecond, for whoever may
   * let others go between them; undefined for nothing.
   */
  feedbackAhead(userRow: number): Iterable<undefined> | undefined;
  /**
   * The same of one item alone, however long the user's feedback is.
   * @param occurrences filled with the events of each that happened more than once, in the same order
   */
  readPairFeedback(
    userRow: number,
    itemRow: number,
    out: FeedbackColumns,
    occurrences?: (Occurrences | undefined)[],
  ): void;
  /** Distinct user rows with any feedback on the item, ascending. */
  readItemUsers(itemRow: number): Uint32Array;
  /** One more than the highest row ever given. */
  readonly userRowCount: number;
  readonly itemRowCount: number;
  readonly userCount: number;
  readonly itemCount: number;
  /** Feedback type names by type number. */
  feedbackTypes(): readonly string[];
  /** Walks all items by row, from `fromRow`, until `visit` returns false; returns the row to go on with, or -1 at the end. */
  scanItems(fromRow: number, visit: (item: CatalogueItem) => unknown): number;
  /**
   * Walks `limit` items by row, from `fromRow`, and visits those whose texts may contain `text` in any case; most of the
   * others are passed over without being decoded. Returns the row to go on with, or -1 at the end.
   */
  scanItemsWith(text: string, fromRow: number, limit: number, visit: (itemRow: number) => void): number;
  /** Walks all users by row likewise. */
  scanUsers(fromRow: number, visit: (userRow: number, user: User) => unknown): number;
  /**
   * Walks all feedback in (user row, item row, type) order, from user row `fromUserRow`, filling `out` with whole
   * users up to about `limit` records; returns the user row to go on with, or -1 at the end.
   */
  scanFeedback(fromUserRow: number, limit: number, out: FeedbackColumns): number;
  /** The events of feedback that happened more than once, as `getFeedback` found it; undefined for others. */
  occurrences(feedback: Feedback): Occurrences | undefined;
  /** All feedback that happened more than once, in the order of `scanFeedback`. */
  repeatedFeedback(): Iterable<RepeatedFeedback>;
  /** Amount of it. */
  readonly repeatedCount: number;
  /** The vector of an item in a space, the caller's own; undefined for none with so many numbers. */
  vectorAt(itemRow: number, space: string, dimensions: number): Float32Array | undefined;
  /**
   * Walks all vectors of all spaces by item row, from `fromRow`, until `visit` returns false, to the end of that item; returns
   * the row to go on with, or -1 at the end.
   */
  scanVectors(
    fromRow: number,
    visit: (itemRow: number, space: string, vector: Float32Array) => unknown,
  ): number;
  /** The entries of a journal; none where there is no such journal. */
  journal(name: string): Journal;
  /** Names of all journals, in the order of their bytes. */
  journalNames(): readonly string[];
  /** As of when feedback is read; undefined where that cannot be told, as while a deletion goes on. */
  readonly feedbackPosition: FeedbackPosition | undefined;
  /** Of a copy of a database that nodes share, the last commit that it shows. */
  readonly replicaPoint?: Point | undefined;
  /**
   * Visits what was added (`sign` 1) or removed (-1) since `since` in the order in which it happened. What is handed out
   * may be kept.
   * @returns false when that is not known any more, or `since` is of another history; nothing was visited then
   */
  replayFeedback(since: FeedbackPosition, visit: (feedback: FeedbackColumns, sign: 1 | -1) => void): boolean;
}

/** Feedback that happened more than once. */
export interface RepeatedFeedback {
  readonly userRow: number;
  readonly itemRow: number;
  /** As `scanFeedback` gives it. */
  readonly type: number;
  readonly occurrences: Occurrences;
}

/** An item as recommenders know it. */
export interface CatalogueItem {
  readonly row: number;
  readonly itemId: string;
  readonly hidden: boolean;
  /** Milliseconds since the epoch, NaN for none. */
  readonly timestampMs: number;
  readonly categories: readonly string[];
  readonly labels: readonly string[];
}

/** Feedback as columns; only the first `length` entries count. Grows by doubling, never shrinks. */
export class FeedbackColumns {
  length = 0;
  userRows: Uint32Array;
  itemRows: Uint32Array;
  /** Feedback type numbers. */
  types: Uint16Array;
  timesMs: Float64Array;

  constructor(capacity = 256) {
    this.userRows = new Uint32Array(capacity);
    this.itemRows = new Uint32Array(capacity);
    this.types = new Uint16Array(capacity);
    this.timesMs = new Float64Array(capacity);
  }

  clear(): void {
    this.length = 0;
  }

  push(userRow: number, itemRow: number, type: number, timeMs: number): void {
    const at = this.extend(1);
    this.userRows[at] = userRow;
    this.itemRows[at] = itemRow;
    this.types[at] = type;
    this.timesMs[at] = timeMs;
  }

  /** Takes out the records of these items, keeping the order of the others. */
  dropItems(itemRows: { has(row: number): boolean }): void {
    const length = this.length;
    this.length = 0;
    for (let at = 0; at < length; at++) {
      if (!itemRows.has(this.itemRows[at]!))
        this.push(this.userRows[at]!, this.itemRows[at]!, this.types[at]!, this.timesMs[at]!);
    }
  }

  /** Makes room for further records, which the caller writes. @returns the place of the first */
  extend(count: number): number {
    const first = this.length;
    this.length += count;
    if (this.length > this.userRows.length) this.grow();
    return first;
  }

  private grow(): void {
    const { length } = this;
    this.userRows = grown(this.userRows, length);
    this.itemRows = grown(this.itemRows, length);
    this.types = grown(this.types, length);
    this.timesMs = grown(this.timesMs, length);
  }
}

export type WriteCommand =
  | { readonly kind: 'putUsers'; readonly batch: Batch<User> }
  | { readonly kind: 'patchUser'; readonly userId: string; readonly json: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'deleteUser'; readonly userId: string }
  | { readonly kind: 'putItems'; readonly batch: Batch<Item> }
  | { readonly kind: 'patchItem'; readonly itemId: string; readonly json: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'deleteItem'; readonly itemId: string }
  | { readonly kind: 'addCategory'; readonly itemId: string; readonly category: string }
  | { readonly kind: 'removeCategory'; readonly itemId: string; readonly category: string }
  | { readonly kind: 'putFeedback'; readonly overwrite: boolean; readonly batch: Batch<Feedback> }
  /** Removes one triple, or every feedback of the pair when `feedbackType` is undefined. */
  | {
      readonly kind: 'deleteFeedback';
      readonly feedbackType: string | undefined;
      readonly userId: string;
      readonly itemId: string;
    }
  /** Vectors of items that exist; one of a body without its item's id is of `itemId`. */
  | {
      readonly kind: 'putVectors';
      readonly space: string;
      readonly itemId?: string;
      readonly batch: Batch<ItemVector>;
    }
  | { readonly kind: 'deleteVector'; readonly space: string; readonly itemId: string }
  /** Adds entries, all of them or none. */
  | { readonly kind: 'writeJournals'; readonly appends: readonly JournalAppend[] };

export interface WriteResult {
  readonly rowAffected: number;
  /** Read feedback that positive feedback of a putFeedback took the place of; absent where there was none. */
  readonly replacedReads?: number;
  /** Feedback of a putFeedback that names the recommendation that it came of; absent where none does. */
  readonly credited?: RecordList<Feedback>;
  /** Feedback that a deleteFeedback removed. */
  readonly removed: readonly Feedback[];
}

/** Records that are read as they are asked for. */
export interface RecordList<T> extends Iterable<T> {
  readonly length: number;
}

/**
 * Follows what a commit changed; what it gives back, if anything, is the rest of that work: each step of it a fraction
 * of a millisecond, and others get their turn between them.
 */
export type ChangeListener = (changes: ChangeSet) => Iterable<unknown> | undefined;

/** Changes of one commit. Safe to keep. */
export interface ChangeSet {
  /** Items inserted or altered, as they are now. */
  readonly items: RecordList<CatalogueItem>;
  readonly deletedItemRows: readonly number[];
  /** Items of which a vector was written or removed; a deleted item loses all without a word here. */
  readonly vectorRows: readonly number[];
  /** Names of journals that have new entries. */
  readonly journals: readonly string[];
  /** Users inserted or altered. */
  readonly userRows: readonly number[];
  readonly deletedUserRows: readonly number[];
  /** Feedback added; an overwritten one stands in `removed` with its old time and in `added` with its new. */
  readonly added: FeedbackColumns;
  readonly removed: FeedbackColumns;
  /** Feedback type names by number, as of this commit. */
  readonly feedbackTypes: readonly string[];
  /** True when a number that stood for a type without feedback stands for another one from now on. */
  readonly renumbersTypes: boolean;
  /** Number of the last commit that changed feedback, this one at the latest; see `FeedbackPosition`. */
  readonly feedbackCommit: number;
}

/** Tells the last commit that changed feedback from every other, of other histories of the store too. */
export interface FeedbackPosition {
  /** Counts up by one. */
  readonly commit: number;
  readonly nonce: number;
}

export interface StoreStats {
  readonly users: number;
  readonly items: number;
  readonly feedback: number;
  /** Bytes of the store on disk. */
  readonly bytes: number;
}

export interface TableStats {
  readonly name: string;
  readonly entries: number;
  /** Of its pages, free ones left out. */
  readonly bytes: number;
}
