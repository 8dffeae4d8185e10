import type { Feedback, Item, Page, User } from '../../../domain/entities.ts';
import { DEFAULT_LIMITS } from '../../../domain/request-limits.ts';
import { formatTimestamp } from '../../../domain/rfc3339.ts';
import { type DataReader, FeedbackColumns, type StoreStats, type TableStats } from '../../data-store.ts';
import {
  decodeCursor,
  decodeFeedbackCursor,
  encodeCursor,
  encodeFeedbackCursor,
} from '../format/page-cursor.ts';
import { readRow, readType, tripleKey, typeUserKey } from '../format/record-layout.ts';
import type { DataTables } from '../tables/data-tables.ts';
import { describeTables, entriesFrom, FIRST_KEY, firstKey, readBytes, type Table } from '../tables/engine.ts';
import { readState } from '../tables/meta-table.ts';
import { hiddenItems } from '../tables/pending-deletions.ts';
import { readOccurrences, readValue } from '../tables/value-kinds.ts';
import { LmdbLocalReads } from './lmdb-local-reads.ts';

const utf8 = new TextDecoder();
const utf8Encoder = new TextEncoder();

/** Records and bytes of a slice of a list that is walked through. */
export const SLICE_RECORDS = 100;
const SLICE_BYTES = 64 * 1024;

interface RowRange {
  readonly from: number;
  readonly end: number;
  /** Size from which on the rest is left out; the first record always stands. */
  readonly bytesMax: number;
  /** By the types' numbers, as they were when the columns were filled. */
  readonly typeNames: readonly string[];
}

/**
 * The reads of the data environment. Each method but the walks reads one snapshot: it does all
 * its work before it first yields.
 */
export class LmdbDataReader implements DataReader {
  readonly local: LmdbLocalReads;
  protected readonly tables: DataTables;
  private readonly columns = new FeedbackColumns();
  protected readonly pageBytesMax: number;

  /** @param pageBytesMax size of the records from which on a page ends early */
  constructor(tables: DataTables, pageBytesMax = DEFAULT_LIMITS.pageBytesMax) {
    this.tables = tables;
    this.pageBytesMax = pageBytesMax;
    this.local = new LmdbLocalReads(tables);
  }

  async getUser(userId: string): Promise<User | undefined> {
    return this.local.findUser(userId);
  }

  async getItem(itemId: string): Promise<Item | undefined> {
    return this.local.findItem(itemId);
  }

  async getUsers(n: number, cursor: string, prefix = ''): Promise<Page<User>> {
    const { userIds } = this.tables;
    return this.getEntities('users', userIds, { n, cursor, prefix }, (row) => this.local.userAt(row)!);
  }

  async getItems(n: number, cursor: string, prefix = ''): Promise<Page<Item>> {
    const { itemIds } = this.tables;
    return this.getEntities('items', itemIds, { n, cursor, prefix }, (row) => this.local.itemAt(row)!);
  }

  async getFeedbackPage(n: number, cursor: string, feedbackType?: string): Promise<Page<Feedback>> {
    const after = decodeFeedbackCursor(cursor);
    const type = feedbackType === undefined ? -1 : this.typeOf(feedbackType);
    if (n === 0 || (feedbackType !== undefined && type < 0)) return { cursor: '', rows: [] };
    const page = new FeedbackColumns();
    const hidden = hiddenItems(this.tables);
    let userRow = this.nextUser(after?.userRow ?? 0, type);
    while (userRow >= 0 && page.length <= n) {
      let from = after?.userRow === userRow ? after.itemRow : 0;
      // Of a user who is gone, some may still be there.
      const isGone = this.local.userIdAt(userRow) === undefined;
      while (!isGone && page.length <= n) {
        from = this.loadPart(userRow, from, hidden);
        const { length, itemRows, types, timesMs } = this.columns;
        for (let i = 0; i < length && page.length <= n; i++) {
          if (type >= 0 && types[i] !== type) continue;
          if (after?.userRow === userRow && !isAfter(itemRows[i]!, types[i]!, after)) continue;
          page.push(userRow, itemRows[i]!, types[i]!, timesMs[i]!);
        }
        if (from === 0) break;
      }
      userRow = this.nextUser(userRow + 1, type);
    }
    const typeNames = this.local.storedTypes();
    const end = Math.min(n, page.length);
    const { rows, next } = this.readRows(page, { from: 0, end, bytesMax: this.pageBytesMax, typeNames });
    const last = next - 1;
    const position = {
      userRow: page.userRows[last]!,
      itemRow: page.itemRows[last]!,
      type: page.types[last]!,
    };
    return { cursor: next < page.length ? encodeFeedbackCursor(position) : '', rows };
  }

  async getFeedback(feedbackType: string, userId: string, itemId: string): Promise<Feedback | undefined> {
    return this.readPair(userId, itemId, feedbackType)[0];
  }

  async getPairFeedback(userId: string, itemId: string): Promise<Feedback[]> {
    return this.readPair(userId, itemId);
  }

  async getUserFeedback(userId: string, feedbackType?: string): Promise<Feedback[]> {
    return collect(this.walkUserFeedback(userId, feedbackType));
  }

  async getItemFeedback(itemId: string, feedbackType?: string): Promise<Feedback[]> {
    return collect(this.walkItemFeedback(itemId, feedbackType));
  }

  async *walkUserFeedback(userId: string, feedbackType?: string): AsyncGenerator<readonly Feedback[]> {
    const userRow = this.local.userRow(userId);
    const type = feedbackType === undefined ? -1 : this.typeOf(feedbackType);
    if (userRow < 0 || (feedbackType !== undefined && type < 0)) return;
    const found = new FeedbackColumns();
    let from = 0;
    do {
      found.clear();
      from = this.loadPart(userRow, from, hiddenItems(this.tables));
      this.pick(found, type, -1);
      yield* this.slices(found);
    } while (from !== 0);
  }

  async *walkItemFeedback(itemId: string, feedbackType?: string): AsyncGenerator<readonly Feedback[]> {
    const itemRow = this.local.itemRow(itemId);
    const type = feedbackType === undefined ? -1 : this.typeOf(feedbackType);
    if (itemRow < 0 || (feedbackType !== undefined && type < 0)) return;
    const found = new FeedbackColumns();
    let from = 0;
    do {
      const { users, next } = this.local.itemUsersPart(itemRow, from);
      from = next;
      for (let at = 0; at < users.length; at += SLICE_RECORDS) {
        const hidden = hiddenItems(this.tables);
        found.clear();
        for (const userRow of users.subarray(at, at + SLICE_RECORDS)) {
          this.loadPart(userRow, itemRow, hidden);
          this.pick(found, type, itemRow);
        }
        yield* this.slices(found);
      }
    } while (from !== 0);
  }

  async getItemUsers(itemRow: number): Promise<Uint32Array> {
    return this.local.readItemUsers(itemRow).slice();
  }

  async getStats(): Promise<StoreStats> {
    const { users, items, feedback } = readState(this.tables);
    return { users, items, feedback, bytes: this.tables.engine.bytes };
  }

  async getTables(): Promise<readonly TableStats[]> {
    const { engine: _engine, ...tables } = this.tables;
    return describeTables(tables);
  }

  async close(): Promise<void> {
    await this.tables.engine.close();
  }

  /** The feedback of a pair, of one type or of all; also read by the writer within its transaction. */
  readPair(userId: string, itemId: string, feedbackType?: string): Feedback[] {
    const userRow = this.local.userRow(userId);
    const itemRow = userRow < 0 ? -1 : this.local.itemRow(itemId);
    const type = feedbackType === undefined ? -1 : this.typeOf(feedbackType);
    if (itemRow < 0 || (feedbackType !== undefined && type < 0)) return [];
    const found = new FeedbackColumns();
    this.loadPart(userRow, itemRow, hiddenItems(this.tables));
    this.pick(found, type, itemRow);
    return this.toFeedback(found);
  }

  /**
   * Reads a part of a user's feedback into `columns`, less that of items which are being deleted.
   * @returns the item row that the next part begins with, 0 at the end
   */
  private loadPart(userRow: number, fromItemRow: number, hidden: ReadonlySet<number>): number {
    const next = this.local.readFeedbackPart(userRow, fromItemRow, this.columns);
    if (hidden.size > 0) this.columns.dropItems(hidden);
    return next;
  }

  private typeOf(feedbackType: string): number {
    return this.local.storedTypes().indexOf(feedbackType);
  }

  /** Copies what `columns` holds of the type and the item, -1 being any. */
  private pick(out: FeedbackColumns, type: number, itemRow: number): void {
    const { length, userRows, itemRows, types, timesMs } = this.columns;
    for (let i = 0; i < length; i++) {
      if (type >= 0 && types[i] !== type) continue;
      if (itemRow >= 0 && itemRows[i] !== itemRow) continue;
      out.push(userRows[i]!, itemRows[i]!, types[i]!, timesMs[i]!);
    }
  }

  /** The first user at or after the row with feedback of the type, -1 being any type; -1 for none. */
  private nextUser(userRow: number, type: number): number {
    if (type < 0) return this.local.nextUserWithFeedback(userRow);
    const key = firstKey(this.tables.typeUsers, typeUserKey(type, userRow));
    return key !== undefined && readType(key, 0) === type ? readRow(key, 2) : -1;
  }

  /** The records of the columns in slices, each made when it is asked for, at least one; rows that are gone by then are left out. */
  private *slices(columns: FeedbackColumns): Generator<readonly Feedback[]> {
    const typeNames = this.local.storedTypes();
    let from = 0;
    do {
      const end = Math.min(from + SLICE_RECORDS, columns.length);
      const { rows, next } = this.readRows(columns, { from, end, bytesMax: SLICE_BYTES, typeNames });
      from = next;
      yield rows;
    } while (from < columns.length);
  }

  private toFeedback(columns: FeedbackColumns): Feedback[] {
    const range = { from: 0, end: columns.length, bytesMax: Number.POSITIVE_INFINITY };
    return this.readRows(columns, { ...range, typeNames: this.local.storedTypes() }).rows;
  }

  /** Reads a range of columns as records until `bytesMax` is reached. @returns them and where the rest begins */
  private readRows(
    columns: FeedbackColumns,
    { from, end, bytesMax, typeNames }: RowRange,
  ): { readonly rows: Feedback[]; readonly next: number } {
    const { comments, values, repeats } = readState(this.tables);
    const hasComments = comments > 0;
    const rows: Feedback[] = [];
    let userRow = -1;
    let userId: string | undefined;
    let bytes = 0;
    let i = from;
    for (; i < end && bytes < bytesMax; i++) {
      if (columns.userRows[i] !== userRow) {
        userRow = columns.userRows[i]!;
        userId = this.local.userIdAt(userRow);
      }
      const itemRow = columns.itemRows[i]!;
      const itemId = this.local.itemIdAt(itemRow);
      if (userId === undefined || itemId === undefined) continue;
      const type = columns.types[i]!;
      const first = repeats > 0 ? readOccurrences(this.tables, userRow, itemRow, type)?.[0] : undefined;
      const feedback = {
        FeedbackType: typeNames[type]!,
        UserId: userId,
        ItemId: itemId,
        Timestamp: formatTimestamp(first?.timeMs ?? columns.timesMs[i]!),
        Comment: hasComments ? this.commentOf(userRow, itemRow, type) : '',
        ...(values > 0 && withValue(first?.value ?? readValue(this.tables, userRow, itemRow, type))),
      };
      rows.push(feedback);
      bytes += sizeOf(feedback);
    }
    return { rows, next: i };
  }

  private commentOf(userRow: number, itemRow: number, type: number): string {
    const bytes = readBytes(this.tables.comments, tripleKey(userRow, itemRow, type));
    return bytes === undefined
      ? ''
      : utf8.decode(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length));
  }

  private getEntities<T extends object>(
    kind: 'users' | 'items',
    ids: Table,
    { n, cursor, prefix }: { readonly n: number; readonly cursor: string; readonly prefix: string },
    read: (row: number) => T,
  ): Page<T> {
    const after = decodeCursor(kind, cursor);
    if (n === 0) return { cursor: '', rows: [] };
    const head = utf8Encoder.encode(prefix);
    const first = head.length === 0 ? FIRST_KEY : head;
    const found: { key: Uint8Array; value: Uint8Array }[] = [];
    for (const entry of entriesFrom(ids, after ?? first, n + 1, after !== undefined)) {
      if (!beginsWith(entry.key, head)) break;
      found.push(entry);
    }
    const rows: T[] = [];
    let bytes = 0;
    for (let at = 0; at < found.length && at < n && bytes < this.pageBytesMax; at++) {
      const row = read(readRow(found[at]!.value, 0));
      rows.push(row);
      bytes += sizeOf(row);
    }
    const last = rows.length < found.length ? found[rows.length - 1] : undefined;
    return { cursor: last === undefined ? '' : encodeCursor(kind, last.key), rows };
  }
}

function withValue(Value: number): Pick<Feedback, 'Value'> | undefined {
  return Value === 0 ? undefined : { Value };
}

function beginsWith(bytes: Uint8Array, head: Uint8Array): boolean {
  for (let at = 0; at < head.length; at++) if (bytes[at] !== head[at]) return false;
  return true;
}

async function collect<T>(slices: AsyncIterable<readonly T[]>): Promise<T[]> {
  const all: T[] = [];
  for await (const slice of slices) for (const each of slice) all.push(each);
  return all;
}

/** Bytes of names and punctuation of a record in an answer. */
const FRAME_BYTES = 100;

/** About the bytes of a record in an answer. */
export function sizeOf(record: object): number {
  let bytes = FRAME_BYTES;
  for (const value of Object.values(record)) {
    if (typeof value === 'string') bytes += value.length;
    else if (typeof value === 'object' && value !== null) bytes += JSON.stringify(value).length;
  }
  return bytes;
}

function isAfter(itemRow: number, type: number, after: { itemRow: number; type: number }): boolean {
  return itemRow > after.itemRow || (itemRow === after.itemRow && type > after.type);
}
