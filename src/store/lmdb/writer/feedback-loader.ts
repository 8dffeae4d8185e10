import { type DataTables, readState, type StoreState, writeState } from '../data-tables.ts';
import {
  FEEDBACK_BLOCK_RECORDS,
  FEEDBACK_WORDS,
  packTimeLow,
  packTypeAndTime,
  tripleKey,
  typeUserKey,
  USER_BLOCK_RECORDS,
} from '../format/record-layout.ts';
import { packValue } from '../format/value-kinds.ts';
import { BlockEditor } from './block-editor.ts';
import { FeedbackTypes } from './feedback-types.ts';

/** How much is written at once. */
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

/** What a feedback has beside its time. */
export interface Note {
  readonly userRow: number;
  readonly itemRow: number;
  /** By the numbers of where it comes from. */
  readonly type: number;
  readonly comment: string;
  /** 0 for none. */
  readonly value: number;
}

/**
 * Writes all feedback there is into tables that have none, in the order of users, items and types: nothing is looked up, and
 * no change is told. Users and items are there already. It writes transactions of its own: whoever wrote the tables before
 * must not go on.
 */
export class FeedbackLoader {
  private readonly tables: DataTables;
  private readonly state: StoreState;
  private readonly users: BlockEditor;
  private readonly items: BlockEditor;
  /** Numbers of the types here, by those of where the feedback comes from. */
  private readonly types = new Map<number, number>();
  private readonly userRows: Uint32Array;
  private readonly itemRows: Uint32Array;
  private readonly typesOf: Uint16Array;
  private readonly timesMs: Float64Array;
  private length = 0;
  private readonly linkItems: Uint32Array;
  private readonly linkUsers: Uint32Array;
  private linkCount = 0;
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
    this.users = new BlockEditor(tables.userFeedback, FEEDBACK_WORDS, FEEDBACK_BLOCK_RECORDS);
    this.items = new BlockEditor(tables.itemFeedback, 1, USER_BLOCK_RECORDS);
    this.userRows = new Uint32Array(batchRecords);
    this.itemRows = new Uint32Array(batchRecords);
    this.typesOf = new Uint16Array(batchRecords);
    this.timesMs = new Float64Array(batchRecords);
    this.linkItems = new Uint32Array(linksMax);
    this.linkUsers = new Uint32Array(linksMax);
    this.transact(() => {
      const own = new FeedbackTypes(tables, this.state);
      own.add(types.map(([, name]) => name));
      for (const [type, name] of types) this.types.set(type, own.numberOf(name));
    });
  }

  /** Takes the next feedback; some thousand are written together. @param timeMs milliseconds since the epoch */
  add(userRow: number, itemRow: number, type: number, timeMs: number): void {
    const at = this.length++;
    this.userRows[at] = userRow;
    this.itemRows[at] = itemRow;
    this.typesOf[at] = this.types.get(type)!;
    this.timesMs[at] = timeMs;
    if (this.length === this.userRows.length) this.write();
  }

  /** Writes what is not written yet. */
  finish(): void {
    this.write();
    this.writeLinks();
  }

  /** Writes what some of the feedback has beside its time. */
  putNotes(notes: readonly Note[]): void {
    const { comments, values } = this.tables;
    this.transact(() => {
      for (const { userRow, itemRow, type, comment, value } of notes) {
        const key = tripleKey(userRow, itemRow, this.types.get(type)!);
        if (comment !== '') {
          comments.put(key, Buffer.from(comment));
          this.state.comments++;
        }
        if (value !== 0) {
          values.put(key, packValue(value));
          this.state.values++;
        }
      }
    });
  }

  private write(): void {
    const { users, userRows, itemRows, typesOf, timesMs, length } = this;
    this.transact(() => {
      let open = -1;
      let sought = -1;
      for (let at = 0; at < length; at++) {
        const userRow = userRows[at]!;
        const itemRow = itemRows[at]!;
        if (userRow !== open) {
          if (open >= 0) users.close();
          users.open(userRow);
          open = userRow;
          sought = -1;
        }
        // A batch may end within a user, or within what a user gave an item.
        if (itemRow !== sought) {
          users.seek(itemRow);
          users.keep();
          sought = itemRow;
        }
        this.noteRecord(userRow, itemRow, typesOf[at]!);
        users.emit(itemRow, packTimeLow(timesMs[at]!), packTypeAndTime(typesOf[at]!, timesMs[at]!));
      }
      if (open >= 0) users.close();
      this.state.feedback += length;
    });
    this.length = 0;
    if (this.linkCount + this.userRows.length > this.linkItems.length) this.writeLinks();
  }

  private noteRecord(userRow: number, itemRow: number, type: number): void {
    const { typesOfUser } = this;
    if (userRow !== this.user) {
      this.user = userRow;
      this.item = -1;
      typesOfUser.length = 0;
    }
    if (!typesOfUser.includes(type)) {
      typesOfUser.push(type);
      this.tables.typeUsers.put(typeUserKey(type, userRow), EMPTY);
    }
    if (itemRow === this.item) return;
    this.item = itemRow;
    this.linkItems[this.linkCount] = itemRow;
    this.linkUsers[this.linkCount++] = userRow;
  }

  /** Writes the users of each item, who come in ascending order. */
  private writeLinks(): void {
    const { linkItems, linkUsers, linkCount } = this;
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
          this.appendUsers(row, sorted.subarray(row === 0 ? 0 : ends[row - 1]!, ends[row]!));
      });
    }
    this.linkCount = 0;
  }

  private appendUsers(itemRow: number, userRows: Uint32Array): void {
    const { items } = this;
    if (userRows.length === 0) return;
    items.open(itemRow);
    for (const userRow of userRows) {
      items.seek(userRow);
      items.drop();
      items.emit(userRow);
    }
    items.close();
  }

  /** With the counts, as they are by then. */
  private transact(work: () => void): void {
    this.tables.engine.transact(() => {
      work();
      writeState(this.tables, this.state);
    });
  }
}
