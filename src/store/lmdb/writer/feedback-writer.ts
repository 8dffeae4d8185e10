import {
  type FeedbackEdit,
  PairMerge,
  type PairRecord,
  type TypeRoles,
  wasStored,
} from '../../pair-merge.ts';
import { encodeOccurrences, type StoredFeedback } from '../../repeats.ts';
import type { ChangeLog } from '../changes/change-log.ts';
import { type Triple, tellChange } from '../changes/tell-change.ts';
import {
  FEEDBACK_BLOCK_RECORDS,
  FEEDBACK_WORDS,
  nextBlock,
  packTimeLow,
  packTypeAndTime,
  pairKey,
  tripleKey,
  typeUserKey,
  USER_BLOCK_RECORDS,
  unpackTimeMs,
  unpackType,
} from '../format/record-layout.ts';
import type { DataTables } from '../tables/data-tables.ts';
import { readBytes, readWords } from '../tables/engine.ts';
import type { StoreState } from '../tables/meta-table.ts';
import { readStored } from '../tables/stored-feedback.ts';
import { packValue, ValueKinds } from '../tables/value-kinds.ts';
import { BlockEditor } from './block-editor.ts';

/** A pair that has feedback now and had none, or the other way round. */
interface Link {
  readonly itemRow: number;
  readonly userRow: number;
  readonly present: boolean;
}

/**
 * Writes feedback with its indexes. Edits are sorted by user and item first, so a batch reads and writes each block
 * once however many of its records are in there.
 */
export class FeedbackWriter {
  private readonly tables: DataTables;
  private readonly users: BlockEditor;
  private readonly items: BlockEditor;
  private readonly merge: PairMerge;
  private readonly roles: TypeRoles;
  readonly kinds: ValueKinds;
  private links: Link[] = [];
  private newTypes: number[] = [];
  private goneTypes: number[] = [];

  constructor(tables: DataTables, roles: TypeRoles) {
    this.tables = tables;
    this.users = new BlockEditor(tables.userFeedback, FEEDBACK_WORDS, FEEDBACK_BLOCK_RECORDS);
    this.items = new BlockEditor(tables.itemFeedback, 1, USER_BLOCK_RECORDS);
    this.merge = new PairMerge(roles);
    this.roles = roles;
    this.kinds = new ValueKinds(tables);
  }

  /** Read feedback that positive feedback has taken the place of so far. */
  get replacedReads(): number {
    return this.merge.replacedReads;
  }

  /**
   * Applies edits within the transaction that is open; those of one pair in their order.
   * @returns the number of records written: inserted or overwritten
   */
  apply(edits: readonly FeedbackEdit[], state: StoreState, changes: ChangeLog): number {
    const order = sortEdits(edits);
    this.links = [];
    let written = 0;
    for (let from = 0; from < order.length; ) {
      const { userRow } = edits[order[from]!]!;
      let to = from + 1;
      while (to < order.length && edits[order[to]!]!.userRow === userRow) to++;
      written += this.applyToUser(edits, order.subarray(from, to), state, changes);
      from = to;
    }
    this.writeLinks();
    return written;
  }

  /**
   * Takes out of the items' blocks and the comments what a block of a deleted user held. The block itself and the
   * counts of feedback and types are the caller's.
   * @param words the block's records
   * @param changes where the removals are noted, if anywhere
   * @returns the number of records
   */
  dropUserBlock(
    userRow: number,
    words: Uint32Array,
    state: StoreState,
    changes: ChangeLog | undefined,
  ): number {
    this.links = [];
    for (let at = 0; at < words.length; at += FEEDBACK_WORDS) {
      const itemRow = words[at]!;
      const high = words[at + 2]!;
      const type = unpackType(high);
      const oldTimeMs = unpackTimeMs(words[at + 1]!, high);
      if (changes !== undefined)
        this.tell(
          { userRow, itemRow, type },
          this.storedOf(userRow, itemRow, { type, oldTimeMs }, state),
          undefined,
          changes,
        );
      this.writeNotes(userRow, itemRow, { type, oldTimeMs }, NOTHING, state);
      if (itemRow !== words[at - FEEDBACK_WORDS]) this.links.push({ itemRow, userRow, present: false });
    }
    this.writeLinks();
    return words.length / FEEDBACK_WORDS;
  }

  private applyToUser(
    edits: readonly FeedbackEdit[],
    order: Uint32Array,
    state: StoreState,
    changes: ChangeLog,
  ): number {
    const { users, merge } = this;
    const { userRow } = edits[order[0]!]!;
    this.newTypes = [];
    this.goneTypes = [];
    let written = 0;
    users.open(userRow);
    for (let at = 0; at < order.length; ) {
      const { itemRow } = edits[order[at]!]!;
      merge.clear();
      users.seek(itemRow);
      for (let i = users.from; i < users.to; i += FEEDBACK_WORDS) {
        const high = users.words[i + 2]!;
        merge.store(unpackType(high), unpackTimeMs(users.words[i + 1]!, high));
      }
      for (; at < order.length && edits[order[at]!]!.itemRow === itemRow; at++) {
        const { kind, type, timeMs, isPositive } = edits[order[at]!]!;
        merge.apply(kind, type, timeMs, order[at]!, isPositive);
      }
      written += this.writePair(userRow, itemRow, edits, state, changes);
    }
    users.close();
    this.writeTypes(userRow);
    return written;
  }

  private writePair(
    userRow: number,
    itemRow: number,
    edits: readonly FeedbackEdit[],
    state: StoreState,
    changes: ChangeLog,
  ): number {
    const { users, merge } = this;
    merge.sort();
    const hadAny = users.from !== users.to;
    let changed = false;
    const written = merge.settle(
      edits,
      (record) => this.storedOf(userRow, itemRow, record, state),
      (record, before, feedback) => {
        changed = true;
        if (feedback !== undefined) record.timeMs = feedback.timeMs;
        this.tell({ userRow, itemRow, type: record.type }, before, feedback, changes);
        this.countRecord(record, state);
        this.writeNotes(userRow, itemRow, record, feedback ?? NOTHING, state);
      },
    );
    if (!changed) {
      users.keep();
      return written;
    }
    users.drop();
    for (const { alive, type, timeMs } of merge.records) {
      if (alive) users.emit(itemRow, packTimeLow(timeMs), packTypeAndTime(type, timeMs));
    }
    const hasAny = merge.records.some(({ alive }) => alive);
    if (hasAny !== hadAny) this.links.push({ itemRow, userRow, present: hasAny });
    return written;
  }

  private tell(
    triple: Triple,
    before: StoredFeedback | undefined,
    after: StoredFeedback | undefined,
    changes: ChangeLog,
  ): void {
    tellChange(this.kinds, this.roles.nameOf(triple.type), triple, before, after, changes);
  }

  private countRecord(record: PairRecord, state: StoreState): void {
    const { type, alive } = record;
    const stored = wasStored(record);
    if (alive && !stored) {
      state.feedback++;
      if (!this.newTypes.includes(type) && !this.blockHasType(type)) this.newTypes.push(type);
    } else if (!alive) {
      state.feedback--;
      if (!this.goneTypes.includes(type)) this.goneTypes.push(type);
    }
  }

  private storedOf(
    userRow: number,
    itemRow: number,
    { type, oldTimeMs }: Pick<PairRecord, 'type' | 'oldTimeMs'>,
    state: StoreState,
  ): StoredFeedback {
    return readStored(this.tables, state, { userRow, itemRow, type }, oldTimeMs);
  }

  /** Keeps what a record has beside its time as it is now. */
  private writeNotes(
    userRow: number,
    itemRow: number,
    record: Pick<PairRecord, 'type' | 'oldTimeMs'>,
    { comment, value, occurrences }: Omit<StoredFeedback, 'timeMs'>,
    state: StoreState,
  ): void {
    const write = (name: 'comments' | 'values' | 'repeats', bytes: Uint8Array | undefined) => {
      const table = this.tables[name];
      const couldExist = wasStored(record) && state[name] > 0;
      if (bytes === undefined && !couldExist) return;
      const key = tripleKey(userRow, itemRow, record.type);
      const exists = couldExist && readBytes(table, key) !== undefined;
      if (bytes !== undefined) {
        table.put(key, bytes);
        if (!exists) state[name]++;
      } else if (exists) {
        table.remove(key);
        state[name]--;
      }
    };
    write('comments', comment === '' ? undefined : Buffer.from(comment));
    write('values', value === 0 ? undefined : packValue(value));
    write('repeats', occurrences && encodeOccurrences(occurrences));
  }

  /** True when the block at hand had the type as it was stored; that spares most looks into `typeUsers`. */
  private blockHasType(type: number): boolean {
    const { words, storedWords } = this.users;
    for (let at = 0; at < storedWords; at += FEEDBACK_WORDS) {
      if (unpackType(words[at + 2]!) === type) return true;
    }
    return false;
  }

  /** Keeps `typeUsers` right once the user's blocks are written. */
  private writeTypes(userRow: number): void {
    const { typeUsers } = this.tables;
    for (const type of this.newTypes) {
      const key = typeUserKey(type, userRow);
      if (readBytes(typeUsers, key) === undefined) typeUsers.put(key, EMPTY);
    }
    for (const type of this.goneTypes) {
      if (!this.hasType(userRow, type)) typeUsers.remove(typeUserKey(type, userRow));
    }
  }

  private hasType(userRow: number, type: number): boolean {
    let low = 0;
    do {
      const words = readWords(this.tables.userFeedback, pairKey(userRow, low));
      for (let at = 1; at < words.length; at += FEEDBACK_WORDS) {
        if (unpackType(words[at + 2]!) === type) return true;
      }
      low = nextBlock(low, words[0] ?? 0);
    } while (low !== 0);
    return false;
  }

  private writeLinks(): void {
    const { links, items } = this;
    links.sort((a, b) => a.itemRow - b.itemRow || a.userRow - b.userRow);
    for (let at = 0; at < links.length; ) {
      const { itemRow } = links[at]!;
      items.open(itemRow);
      for (; at < links.length && links[at]!.itemRow === itemRow; at++) {
        const { userRow, present } = links[at]!;
        items.seek(userRow);
        items.drop();
        if (present) items.emit(userRow);
      }
      items.close();
    }
    this.links = [];
  }
}

const EMPTY = new Uint8Array(0);
/** Value and comment left of a record that goes. */
const NOTHING = { comment: '', value: 0 };

/** Positions of the edits by (user row, item row, position). */
function sortEdits(edits: readonly FeedbackEdit[]): Uint32Array {
  const order = Uint32Array.from({ length: edits.length }, (_, position) => position);
  return order.sort((a, b) => {
    const left = edits[a]!;
    const right = edits[b]!;
    return left.userRow - right.userRow || left.itemRow - right.itemRow || a - b;
  });
}
