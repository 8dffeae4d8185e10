import { encodeOccurrences, type StoredFeedback } from '../../repeats.ts';
import {
  FEEDBACK_BLOCK_RECORDS,
  FEEDBACK_TYPES_MAX,
  FEEDBACK_WORDS,
  retyped,
  tripleKey,
  typeUserKey,
  USER_BLOCK_RECORDS,
  unpackType,
} from '../format/record-layout.ts';
import type { DataTables } from '../tables/data-tables.ts';
import { readState, type StoreState, writeState } from '../tables/meta-table.ts';
import { packValue } from '../tables/value-kinds.ts';
import { BlockAppender } from './block-appender.ts';
import { BlockEditor } from './block-editor.ts';
import { FeedbackTypes } from './feedback-types.ts';

/** Records written at once. */
export interface LoaderSizes {
  /** Records of a transaction. */
  readonly batchRecords: number;
  /** Pairs that are sorted by item at once, so that an item's blocks are seldom written twice; at least a batch. */
  readonly linksMax: number;
}

/** 18 MB, and 8 more while pairs are sorted. */
const SIZES: LoaderSizes = { batchRecords: 65_536, linksMax: 2_097_152 };
/** Pairs written in one transaction. */
const LINKS_A_TRANSACTION = 262_144;

const EMPTY = new Uint8Array(0);
const RECORD_WORDS = 4;

/** Fields of a feedback beside its time. */
export interface Note extends Omit<StoredFeedback, 'timeMs'> {
  readonly userRow: number;
  readonly itemRow: number;
  /** By the numbers of where it comes from. */
  readonly type: number;
}

/** Writes what a feedback has beside its time, where there is none of it, and counts it. @param key of `tripleKey` */
export function putNote(
  { comments, values, repeats }: DataTables,
  state: StoreState,
  key: Uint8Array,
  { comment, value, occurrences }: Omit<StoredFeedback, 'timeMs'>,
): void {
  if (comment !== '') comments.put(key, Buffer.from(comment));
  if (value !== 0) values.put(key, packValue(value));
  if (occurrences !== undefined) repeats.put(key, encodeOccurrences(occurrences));
  state.comments += Number(comment !== '');
  state.values += Number(value !== 0);
  state.repeats += Number(occurrences !== undefined);
}

/**
 * Writes all feedback there is into tables that have none, in the order of users and items: nothing is looked up, and
 * no change is told. Users and items are there already. It writes transactions of its own: whoever wrote the tables before
 * must not go on.
 */
export class FeedbackLoader {
  private readonly tables: DataTables;
  private readonly state: StoreState;
  private readonly users: BlockAppender;
  private readonly types = new Uint16Array(FEEDBACK_TYPES_MAX);
  /** User row, item row, type and high bits of the time, low word of the time of each record that is to be written. */
  private readonly records: Uint32Array;
  private length = 0;
  private readonly linkItems: Uint32Array;
  private readonly linkUsers: Uint32Array;
  private linkCount = 0;
  private hasLinks = false;
  /** The user and item of the last record written, and the types that the user has so far. */
  private user = -1;
  private item = -1;
  private readonly typesOfUser: number[] = [];

  /** @param types numbers and names, ascending by number */
  constructor(
    tables: DataTables,
    types: readonly (readonly [type: number, name: string])[],
    { batchRecords, linksMax } = SIZES,
  ) {
    this.tables = tables;
    this.state = readState(tables);
    this.users = new BlockAppender(tables.userFeedback, FEEDBACK_WORDS, FEEDBACK_BLOCK_RECORDS);
    this.records = new Uint32Array(batchRecords * RECORD_WORDS);
    this.linkItems = new Uint32Array(linksMax);
    this.linkUsers = new Uint32Array(linksMax);
    this.transact(() => {
      const own = new FeedbackTypes(tables, this.state);
      own.add(types.map(([, name]) => name));
      for (const [type, name] of types) this.types[type] = own.numberOf(name);
    });
  }

  /**
   * Takes the next feedback; some thousand are written together.
   * @param typeAndTime as `packTypeAndTime` makes it of the number where it comes from
   * @param timeLow as `packTimeLow` makes it
   */
  add(userRow: number, itemRow: number, typeAndTime: number, timeLow: number): void {
    const { records, length } = this;
    records[length] = userRow;
    records[length + 1] = itemRow;
    records[length + 2] = typeAndTime;
    records[length + 3] = timeLow;
    this.length = length + RECORD_WORDS;
    if (this.length === records.length) this.write();
  }

  /** Writes what is not written yet. */
  finish(): void {
    this.write();
    this.transact(() => this.users.close());
    this.writeLinks();
  }

  /** Writes what some of the feedback has beside its time. */
  putNotes(notes: readonly Note[]): void {
    this.transact(() => {
      for (const note of notes)
        putNote(this.tables, this.state, tripleKey(note.userRow, note.itemRow, this.types[note.type]!), note);
    });
  }

  private write(): void {
    const { users, types, records, length } = this;
    this.transact(() => {
      for (let at = 0; at < length; at += RECORD_WORDS) {
        const userRow = records[at]!;
        const itemRow = records[at + 1]!;
        const typeAndTime = records[at + 2]!;
        const type = types[unpackType(typeAndTime)]!;
        if (userRow !== this.user) this.openUser(userRow);
        if (itemRow !== this.item) this.addLink(itemRow, userRow);
        if (!this.typesOfUser.includes(type)) this.noteType(type);
        users.emit(itemRow, records[at + 3]!, retyped(typeAndTime, type));
      }
      this.state.feedback += length / RECORD_WORDS;
    });
    this.length = 0;
    if (this.linkCount + this.records.length / RECORD_WORDS > this.linkItems.length) this.writeLinks();
  }

  private openUser(userRow: number): void {
    this.users.open(userRow);
    this.user = userRow;
    this.item = -1;
    this.typesOfUser.length = 0;
  }

  private noteType(type: number): void {
    this.typesOfUser.push(type);
    this.tables.typeUsers.put(typeUserKey(type, this.user), EMPTY);
  }

  private addLink(itemRow: number, userRow: number): void {
    this.item = itemRow;
    this.linkItems[this.linkCount] = itemRow;
    this.linkUsers[this.linkCount++] = userRow;
  }

  /** Writes the users of each item, who come in ascending order. */
  private writeLinks(): void {
    const { linkItems, linkUsers, linkCount } = this;
    const putUsers = this.linkWriter();
    const ends = new Uint32Array(this.state.nextItemRow + 1);
    for (let at = 0; at < linkCount; at++) ends[linkItems[at]! + 1]!++;
    for (let item = 1; item < ends.length; item++) ends[item]! += ends[item - 1]!;
    const sorted = new Uint32Array(linkCount);
    for (let at = 0; at < linkCount; at++) sorted[ends[linkItems[at]!]!++] = linkUsers[at]!;
    // Where an item's users began, the next one's end by now.
    for (let item = 0; item < this.state.nextItemRow; ) {
      const from = item;
      const first = from === 0 ? 0 : ends[from - 1]!;
      while (item < this.state.nextItemRow && ends[item]! - first < LINKS_A_TRANSACTION) item++;
      item = Math.max(item, from + 1);
      const to = Math.min(item, this.state.nextItemRow);
      this.transact(() => {
        for (let row = from; row < to; row++)
          putUsers(row, sorted.subarray(row === 0 ? 0 : ends[row - 1]!, ends[row]!));
      });
    }
    this.linkCount = 0;
    this.hasLinks = true;
  }

  /** As long as no item has users, theirs go behind one another; later on they are added to those that there are. */
  private linkWriter(): (itemRow: number, userRows: Uint32Array) => void {
    const { itemFeedback } = this.tables;
    if (!this.hasLinks) {
      const items = new BlockAppender(itemFeedback, 1, USER_BLOCK_RECORDS);
      return (itemRow, userRows) => {
        items.open(itemRow);
        for (const userRow of userRows) items.emit(userRow);
        items.close();
      };
    }
    const items = new BlockEditor(itemFeedback, 1, USER_BLOCK_RECORDS);
    return (itemRow, userRows) => {
      if (userRows.length === 0) return;
      items.open(itemRow);
      for (const userRow of userRows) {
        items.seek(userRow);
        items.drop();
        items.emit(userRow);
      }
      items.close();
    };
  }

  /** With the counts, as they are by then. */
  private transact(work: () => void): void {
    this.tables.engine.transact(() => {
      work();
      writeState(this.tables, this.state);
    });
  }
}
