import type { Feedback, Item, User } from '../../../domain/entities.ts';
import { grown } from '../../../memory/growing-u32.ts';
import type { Point } from '../../commit-effects.ts';
import {
  type CatalogueItem,
  FeedbackColumns,
  type FeedbackPosition,
  type LocalReads,
  type RepeatedFeedback,
} from '../../data-store.ts';
import { decodeJournal, type Journal } from '../../journals.ts';
import { decodeOccurrences, type Occurrences, sumOf } from '../../repeats.ts';
import { readPosition, readPositionAt, replay } from '../changes/recent-feedback.ts';
import { decodeCatalogueItem, decodeId, decodeItem, decodeUser } from '../format/entity-codec.ts';
import { nextBlock, readRow, readType, rowKey, writePair, writeRow } from '../format/record-layout.ts';
import { type DataTables, followReplacement } from '../tables/data-tables.ts';
import { allEntries, entriesFrom, firstKey, readBytes, readWords, type Table } from '../tables/engine.ts';
import { readReplicaOf, readState, readTypes } from '../tables/meta-table.ts';
import { readOccurrences, ValueKinds } from '../tables/value-kinds.ts';
import { readVector, scanVectors } from '../tables/vectors-table.ts';
import { appendRecords, blockWith } from './feedback-blocks.ts';
import type { KeptKinds } from './kept-kinds.ts';

/** The synchronous reads of the data environment; also those of the writer inside its transaction. */
export class LmdbLocalReads implements LocalReads {
  private readonly tables: DataTables;
  private readonly rowBytes = new Uint8Array(4);
  private readonly pairBytes = new Uint8Array(8);
  private itemUsers = new Uint32Array(1024);
  private types: readonly string[] = [];
  private typesVersion = 0;
  /** The types and the kinds beside them. */
  private names: readonly string[] = [];
  /** Types that are told apart by values. */
  readonly kinds: ValueKinds;
  /** Of a thread that is told of each commit; undefined for others. */
  keptKinds: KeptKinds | undefined;
  private holdsSome: boolean | undefined;

  constructor(tables: DataTables) {
    this.tables = tables;
    this.kinds = new ValueKinds(tables);
  }

  get isPartial(): boolean {
    this.holdsSome ??= readReplicaOf(this.tables)?.isPartial === true;
    return this.holdsSome;
  }

  isKnown(_userRow: number): boolean {
    return true;
  }

  refresh(): void {
    followReplacement(this.tables);
    this.tables.engine.renewReads();
  }

  userRow(userId: string): number {
    return lookUpRow(this.tables.userIds, userId);
  }

  itemRow(itemId: string): number {
    return lookUpRow(this.tables.itemIds, itemId);
  }

  findUser(userId: string): User | undefined {
    const userRow = this.userRow(userId);
    return userRow < 0 ? undefined : this.userAt(userRow);
  }

  findItem(itemId: string): Item | undefined {
    const itemRow = this.itemRow(itemId);
    return itemRow < 0 ? undefined : this.itemAt(itemRow);
  }

  userIdAt(userRow: number): string | undefined {
    const bytes = readBytes(this.tables.users, writeRow(this.rowBytes, 0, userRow));
    return bytes && decodeId(bytes);
  }

  itemIdAt(itemRow: number): string | undefined {
    const bytes = readBytes(this.tables.items, writeRow(this.rowBytes, 0, itemRow));
    return bytes && decodeId(bytes);
  }

  userAt(userRow: number): User | undefined {
    const bytes = readBytes(this.tables.users, writeRow(this.rowBytes, 0, userRow));
    return bytes && decodeUser(bytes);
  }

  itemAt(itemRow: number): Item | undefined {
    const bytes = readBytes(this.tables.items, writeRow(this.rowBytes, 0, itemRow));
    return bytes && decodeItem(bytes);
  }

  readUserFeedback(userRow: number, out: FeedbackColumns): void {
    out.clear();
    this.appendUserFeedback(userRow, out);
  }

  feedbackAhead(userRow: number): Iterable<undefined> | undefined {
    const { keptKinds, kinds } = this;
    if (userRow < 0 || kinds.isEmpty || !keptKinds?.lacks(userRow)) return undefined;
    // What is in one block is short.
    const words = readWords(this.tables.userFeedback, writePair(this.pairBytes, userRow, 0));
    const isLong = words.length > 0 && nextBlock(0, words[0]!) !== 0;
    return isLong ? this.fillKinds(userRow, keptKinds) : undefined;
  }

  private *fillKinds(userRow: number, keptKinds: KeptKinds): Generator<undefined, void> {
    const stored = new FeedbackColumns();
    this.readStoredFeedback(userRow, stored);
    const names = this.storedTypes();
    yield;
    yield* keptKinds.fill(userRow, stored, (itemRow, type) => this.kindOf(names, userRow, itemRow, type));
  }

  readPairFeedback(
    userRow: number,
    itemRow: number,
    out: FeedbackColumns,
    occurrences?: (Occurrences | undefined)[],
  ): void {
    this.readFeedbackPart(userRow, itemRow, out);
    const { length, itemRows, types } = out;
    out.length = 0;
    while (out.length < length && itemRows[out.length] === itemRow) out.length++;
    if (occurrences !== undefined) {
      occurrences.length = 0;
      const hasRepeats = out.length > 0 && this.repeatedCount > 0;
      for (let at = 0; at < out.length; at++)
        occurrences.push(hasRepeats ? readOccurrences(this.tables, userRow, itemRow, types[at]!) : undefined);
    }
    if (!this.kinds.isEmpty) this.tellKinds(userRow, out, 0);
  }

  /** As `readUserFeedback`, with the type numbers as they are stored, whatever the values are. */
  readStoredFeedback(userRow: number, out: FeedbackColumns): void {
    out.clear();
    this.appendStoredFeedback(userRow, out);
  }

  /**
   * Reads of a user's stored feedback, which may be long, the part that begins with an item: some two hundred records.
   * @returns the item row that the next part begins with, 0 at the end
   */
  readFeedbackPart(userRow: number, fromItemRow: number, out: FeedbackColumns): number {
    out.clear();
    const words = blockWith(this.tables.userFeedback, userRow, fromItemRow);
    return appendRecords(userRow, words, fromItemRow, out);
  }

  /**
   * The users with feedback on an item from a user row on, some hundreds; the array is the caller's own.
   * @returns them, and the user row that the next part begins with, 0 at the end
   */
  itemUsersPart(
    itemRow: number,
    fromUserRow: number,
  ): { readonly users: Uint32Array; readonly next: number } {
    const words = blockWith(this.tables.itemFeedback, itemRow, fromUserRow);
    if (words.length === 0) return { users: words, next: 0 };
    const users = words.slice(1).filter((userRow) => userRow >= fromUserRow);
    return { users, next: nextBlock(fromUserRow, words[0]!) };
  }

  readItemUsers(itemRow: number): Uint32Array {
    let length = 0;
    let low = 0;
    do {
      const words = readWords(this.tables.itemFeedback, writePair(this.pairBytes, itemRow, low));
      if (words.length === 0) break;
      const count = words.length - 1;
      if (length + count > this.itemUsers.length) this.itemUsers = grown(this.itemUsers, length + count);
      this.itemUsers.set(words.subarray(1), length);
      length += count;
      low = nextBlock(low, words[0]!);
    } while (low !== 0);
    return this.itemUsers.subarray(0, length);
  }

  get userRowCount(): number {
    return readState(this.tables).nextUserRow;
  }

  get itemRowCount(): number {
    return readState(this.tables).nextItemRow;
  }

  get userCount(): number {
    return readState(this.tables).users;
  }

  get itemCount(): number {
    return readState(this.tables).items;
  }

  feedbackTypes(): readonly string[] {
    this.storedTypes();
    return this.names;
  }

  /** Type names by number, without those that only a value makes. */
  storedTypes(): readonly string[] {
    const { feedbackTypes, typesVersion } = readState(this.tables);
    if (feedbackTypes !== this.types.length || typesVersion !== this.typesVersion) {
      this.types = readTypes(this.tables);
      this.typesVersion = typesVersion;
      this.names = this.kinds.namesBeside(this.types);
    }
    return this.types;
  }

  scanItems(fromRow: number, visit: (item: CatalogueItem) => unknown): number {
    return this.scanRows(this.tables.items, fromRow, (row, bytes) => visit(decodeCatalogueItem(bytes, row)));
  }

  scanItemsWith(text: string, fromRow: number, limit: number, visit: (itemRow: number) => void): number {
    const mayContain = textTest(text);
    let count = 0;
    let row = -1;
    for (const { key, value } of entriesFrom(this.tables.items, rowKey(fromRow), limit)) {
      row = readRow(key, 0);
      count++;
      if (mayContain(value)) visit(row);
    }
    return count < limit ? -1 : row + 1;
  }

  scanUsers(fromRow: number, visit: (userRow: number, user: User) => unknown): number {
    return this.scanRows(this.tables.users, fromRow, (row, bytes) => visit(row, decodeUser(bytes)));
  }

  /**
   * Goes through a table by rows, reading one after the other into the buffer that all reads share: a cursor makes two
   * buffers an entry. Where rows are missing, it looks for the next one that is there.
   * @param visit returns false to end
   * @returns where to go on, -1 at the table's end
   */
  private scanRows(
    table: Table,
    fromRow: number,
    visit: (row: number, bytes: Uint8Array) => unknown,
  ): number {
    for (let row = fromRow; ; row++) {
      let bytes = readBytes(table, writeRow(this.rowBytes, 0, row));
      if (bytes === undefined) {
        const next = firstKey(table, this.rowBytes);
        if (next === undefined) return -1;
        row = readRow(next, 0);
        bytes = readBytes(table, next);
      }
      if (visit(row, bytes!) === false) return row + 1;
    }
  }

  /** A user without feedback counts as one record towards `limit`, so that a call stays short among empty users. */
  scanFeedback(fromUserRow: number, limit: number, out: FeedbackColumns): number {
    out.clear();
    const end = this.userRowCount;
    let empty = 0;
    for (let row = fromUserRow; row < end; row++) {
      if (out.length + empty >= limit) return row;
      const before = out.length;
      this.appendUserFeedback(row, out);
      if (out.length === before) empty++;
    }
    return -1;
  }

  get repeatedCount(): number {
    return readState(this.tables).repeats;
  }

  occurrences({ FeedbackType, UserId, ItemId }: Feedback): Occurrences | undefined {
    if (this.repeatedCount === 0) return undefined;
    const [userRow, itemRow] = [this.userRow(UserId), this.itemRow(ItemId)];
    const type = this.storedTypes().indexOf(FeedbackType);
    if (userRow < 0 || itemRow < 0 || type < 0) return undefined;
    return readOccurrences(this.tables, userRow, itemRow, type);
  }

  *repeatedFeedback(): Iterable<RepeatedFeedback> {
    if (this.repeatedCount === 0) return;
    const names = this.storedTypes();
    for (const { key, value } of allEntries(this.tables.repeats)) {
      const occurrences = decodeOccurrences(value);
      const stored = readType(key, 8);
      const type = this.kinds.numberOf(stored, names[stored]!, sumOf(occurrences));
      yield { userRow: readRow(key, 0), itemRow: readRow(key, 4), type, occurrences };
    }
  }

  vectorAt(itemRow: number, space: string, dimensions: number): Float32Array | undefined {
    return readVector(this.tables, itemRow, space, dimensions);
  }

  scanVectors(
    fromRow: number,
    visit: (itemRow: number, space: string, vector: Float32Array) => unknown,
  ): number {
    return scanVectors(this.tables, fromRow, visit);
  }

  journal(name: string): Journal {
    // A folder of before that is only read has no such table.
    const bytes = (this.tables.journals as Table | undefined)?.getBinary(Buffer.from(name));
    return bytes === undefined ? [] : decodeJournal(Buffer.from(bytes).toString());
  }

  journalNames(): readonly string[] {
    const { journals } = this.tables as Partial<DataTables>;
    return Array.from(journals?.getKeys() ?? [], (key) => Buffer.from(key).toString());
  }

  get feedbackPosition(): FeedbackPosition | undefined {
    return readPosition(this.tables);
  }

  replayFeedback(since: FeedbackPosition, visit: (feedback: FeedbackColumns, sign: 1 | -1) => void): boolean {
    return replay(this.tables, since, visit);
  }

  get replicaPoint(): Point | undefined {
    return readReplicaOf(this.tables);
  }

  /** Of a replica that shows a commit of the shared database: the last position that is no later; undefined before that. */
  positionAt(position: number): FeedbackPosition | undefined {
    if (!(readReplicaOf(this.tables)!.position >= position)) return undefined;
    return readPositionAt(this.tables, position);
  }

  /** The first user at or after `userRow` that has feedback, or -1. */
  nextUserWithFeedback(userRow: number): number {
    const key = firstKey(this.tables.userFeedback, writePair(this.pairBytes, userRow, 0));
    return key === undefined ? -1 : readRow(key, 0);
  }

  private appendUserFeedback(userRow: number, out: FeedbackColumns): void {
    const from = out.length;
    this.appendStoredFeedback(userRow, out);
    if (!this.kinds.isEmpty) this.tellKinds(userRow, out, from);
  }

  /** Puts the numbers of kinds in place of those of types, for the records of a user from position `from` on. */
  private tellKinds(userRow: number, out: FeedbackColumns, from: number): void {
    const names = this.storedTypes();
    const kindAt = (at: number) => this.kindOf(names, userRow, out.itemRows[at]!, out.types[at]!);
    if (this.keptKinds !== undefined) this.keptKinds.tell(userRow, out, from, kindAt);
    else for (let at = from; at < out.length; at++) out.types[at] = kindAt(at);
  }

  private kindOf(names: readonly string[], userRow: number, itemRow: number, type: number): number {
    const name = names[type]!;
    if (!this.kinds.concern(name)) return type;
    return this.kinds.numberOf(type, name, this.kinds.valueOf(userRow, itemRow, type));
  }

  private appendStoredFeedback(userRow: number, out: FeedbackColumns): void {
    let low = 0;
    do {
      const words = readWords(this.tables.userFeedback, writePair(this.pairBytes, userRow, low));
      low = appendRecords(userRow, words, low, out);
    } while (low !== 0);
  }
}

function lookUpRow(ids: Table, id: string): number {
  // An id that no insert would have taken has no key; LMDB itself refuses keys of no bytes and long ones.
  if (id.length === 0 || id.length > ID_CHARACTERS_MAX) return -1;
  const bytes = readBytes(ids, Buffer.from(id));
  return bytes === undefined ? -1 : readRow(bytes, 0);
}

/** At three bytes of UTF-8 a UTF-16 unit this stays within LMDB's largest key, 1978 bytes. */
const ID_CHARACTERS_MAX = 659;

const utf8 = new TextDecoder();
const ASCII = /^[\x20-\x7e]*$/;

/**
 * A quick test whether a stored entity may contain a text, whatever the case. It looks at the bytes as they are, numbers
 * and lengths among them, so what passes has to be looked at again; what fails does not contain it.
 */
function textTest(text: string): (bytes: Uint8Array) => boolean {
  const wanted = text.toLowerCase();
  // Of a text in ASCII nothing but its own bytes can be a part of UTF-8, so there is nothing to decode.
  if (ASCII.test(text)) return (bytes) => asLatin1(bytes).toLowerCase().includes(wanted);
  return (bytes) => utf8.decode(bytes).toLowerCase().includes(wanted);
}

function asLatin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}
