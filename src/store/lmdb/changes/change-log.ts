import { type CatalogueItem, type ChangeSet, FeedbackColumns, type WriteResult } from '../../data-store.ts';
import { packRecords, recordBuffers, unpackRecords } from '../format/packed-records.ts';
import type { PlainChanges, PlainColumns, PlainResult } from '../tables/writer-messages.ts';

/** Records that there is room for at first: most commands have one. */
const FIRST_RECORDS = 8;
/** Bytes from which on a column is handed over rather than copied. */
const MOVED_BYTES_MIN = 4096;

/** Collects the changes of one or several commands. */
export class ChangeLog {
  readonly items: CatalogueItem[] = [];
  readonly deletedItemRows: number[] = [];
  readonly vectorRows: number[] = [];
  readonly journals: string[] = [];
  readonly userRows: number[] = [];
  readonly deletedUserRows: number[] = [];
  readonly added = new FeedbackColumns(FIRST_RECORDS);
  readonly removed = new FeedbackColumns(FIRST_RECORDS);
  /** True when feedback went of which nothing is said here. */
  isIncomplete = false;
  /** Number of the last commit that changed feedback, this one at the latest. */
  feedbackCommit = 0;

  get isEmpty(): boolean {
    const { items, userRows, vectorRows, journals, added } = this;
    const count = items.length + userRows.length + vectorRows.length + journals.length + added.length;
    return count === 0 && !this.hasRemovals;
  }

  /** True when something went away, so that what follows must not be told in the same breath. */
  get hasRemovals(): boolean {
    return this.deletedItemRows.length + this.deletedUserRows.length + this.removed.length > 0;
  }

  toPlain(feedbackTypes: readonly string[], renumbersTypes: boolean): PlainChanges {
    const { items, deletedItemRows, vectorRows, journals, userRows, deletedUserRows, feedbackCommit } = this;
    const added = trim(this.added);
    const removed = trim(this.removed);
    return {
      items: packRecords(items),
      deletedItemRows,
      vectorRows,
      journals,
      userRows,
      deletedUserRows,
      added,
      removed,
      feedbackTypes,
      renumbersTypes,
      feedbackCommit,
    };
  }
}

/** The changes on the receiving side of a message. */
export function fromPlain({ items, added, removed, ...others }: PlainChanges): ChangeSet {
  return {
    ...others,
    items: unpackRecords(items),
    added: toColumns(added),
    removed: toColumns(removed),
  };
}

/** A result on the receiving side. */
export function resultFromPlain({ credited, ...others }: PlainResult): WriteResult {
  return credited === undefined ? others : { ...others, credited: unpackRecords(credited) };
}

/** The buffers of the changes that are worth being transferred rather than copied. */
export function buffersOf(changes: readonly PlainChanges[]): ArrayBuffer[] {
  return changes.flatMap(({ items, added, removed }) => {
    const columns = [added, removed].flatMap((one) => Object.values(one ?? {}) as Uint32Array<ArrayBuffer>[]);
    const buffers = [...recordBuffers(items), ...columns.map(({ buffer }) => buffer)];
    return buffers.filter(({ byteLength }) => byteLength >= MOVED_BYTES_MIN);
  });
}

function trim(columns: FeedbackColumns): PlainColumns | undefined {
  const { length } = columns;
  if (length === 0) return undefined;
  return {
    userRows: columns.userRows.slice(0, length),
    itemRows: columns.itemRows.slice(0, length),
    types: columns.types.slice(0, length),
    timesMs: columns.timesMs.slice(0, length),
  };
}

/** Shared by all commits without records of the kind; nobody adds to what was committed. */
const NO_RECORDS = new FeedbackColumns(0);

function toColumns(plain: PlainColumns | undefined): FeedbackColumns {
  if (plain === undefined) return NO_RECORDS;
  return Object.assign(new FeedbackColumns(0), plain, { length: plain.userRows.length });
}
