import { countIn, type StoredFeedback } from './repeats.ts';

/** A request on one pair's feedback; `count` inserts, or counts one event more. */
export const EditKind = { insert: 0, overwrite: 1, removeType: 2, removeAll: 3, count: 4 } as const;
export type EditKind = (typeof EditKind)[keyof typeof EditKind];

/** One edit of the feedback of a pair; `type` and the rest mean nothing where the kind does not need them. */
export interface FeedbackEdit extends StoredFeedback {
  readonly kind: EditKind;
  readonly userRow: number;
  readonly itemRow: number;
  readonly type: number;
  /** True where its time is that of its arrival; see `Event`. */
  readonly isUntimed?: true | undefined;
  /** True for positive feedback, which takes the place of what was only read. */
  readonly isPositive: boolean;
}

/** The edit that removes all feedback of a pair. */
export function removalOf(userRow: number, itemRow: number): FeedbackEdit {
  const { removeAll: kind } = EditKind;
  return { kind, userRow, itemRow, type: 0, timeMs: 0, comment: '', value: 0, isPositive: false };
}

/** One record of the pair while a batch is applied to it. */
export interface PairRecord {
  type: number;
  /** NaN when the record was not stored before the batch. */
  oldTimeMs: number;
  timeMs: number;
  alive: boolean;
  written: boolean;
  /** Position in the batch of the record that was written last. */
  position: number;
  /** Positions of the edits after that one, or after what was stored, that may be further events. */
  repeats: readonly number[];
}

const NONE: readonly number[] = [];
const GONE = { feedback: undefined, counted: 0 };

/** Kinds of feedback types, by type number. */
export interface TypeRoles {
  /** Read and not positive: a positive feedback takes its place. */
  isReadOnly(type: number): boolean;
  nameOf(type: number): string;
}

/**
 * The rules of one pair's feedback: the stored records go in, the batch's edits follow in their order, and the records
 * tell what is new, written over or gone.
 */
export class PairMerge {
  readonly records: PairRecord[] = [];
  /** Read feedback that positive feedback of its pair has taken the place of, of all pairs. */
  replacedReads = 0;
  private readonly roles: TypeRoles;

  constructor(roles: TypeRoles) {
    this.roles = roles;
  }

  clear(): void {
    this.records.length = 0;
  }

  /** A record as it is stored. */
  store(type: number, timeMs: number): void {
    this.records.push({
      type,
      oldTimeMs: timeMs,
      timeMs,
      alive: true,
      written: false,
      position: -1,
      repeats: NONE,
    });
  }

  /** @param isPositive true when the edit writes positive feedback */
  apply(kind: EditKind, type: number, timeMs: number, position: number, isPositive: boolean): void {
    if (kind === EditKind.removeAll) {
      for (const record of this.records) record.alive = false;
      return;
    }
    const record = this.records.find((each) => each.type === type);
    if (kind === EditKind.removeType) {
      if (record) record.alive = false;
      return;
    }
    if (record?.alive && kind === EditKind.insert) return;
    const now = { timeMs, alive: true, written: true, position, repeats: NONE };
    if (record?.alive && kind === EditKind.count) record.repeats = [...record.repeats, position];
    else if (record) Object.assign(record, now);
    else this.records.push({ type, oldTimeMs: Number.NaN, ...now });
    if (isPositive) this.dropRead();
  }

  /**
   * Tells of each record that is another now what it was and what it is: not of one that was written as it stood.
   * @param edits that were applied, by their positions
   * @param storedOf reads a record that was stored
   * @returns how many were inserted, overwritten or counted
   */
  settle(
    edits: readonly FeedbackEdit[],
    storedOf: (record: PairRecord) => StoredFeedback,
    tell: (record: PairRecord, before: StoredFeedback | undefined, now: StoredFeedback | undefined) => void,
  ): number {
    let written = 0;
    for (const record of this.records) {
      const { alive, position, repeats } = record;
      if (record.written) written++;
      if (alive ? !record.written && repeats.length === 0 : !wasStored(record)) continue;
      const before = wasStored(record) ? storedOf(record) : undefined;
      const first = record.written ? edits[position]! : before!;
      const events = repeats.map((at) => edits[at]!);
      const { feedback, counted } = alive ? countIn(first, events) : GONE;
      written += counted;
      if (!isSame(before, feedback)) tell(record, before, feedback);
    }
    return written;
  }

  /** Puts the records in the order in which they are stored. */
  sort(): void {
    if (this.records.length > 1) this.records.sort((a, b) => a.type - b.type);
  }

  private dropRead(): void {
    for (const record of this.records) {
      if (!record.alive || !this.roles.isReadOnly(record.type)) continue;
      record.alive = false;
      this.replacedReads++;
    }
  }
}

function isSame(before: StoredFeedback | undefined, now: StoredFeedback | undefined): boolean {
  return (
    before?.timeMs === now?.timeMs &&
    before?.value === now?.value &&
    before?.comment === now?.comment &&
    before?.occurrences === now?.occurrences
  );
}

export function wasStored(record: Pick<PairRecord, 'oldTimeMs'>): boolean {
  return !Number.isNaN(record.oldTimeMs);
}
