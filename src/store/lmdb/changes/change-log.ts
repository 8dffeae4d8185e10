import { deserialize, serialize } from 'node:v8';
import { type CatalogueItem, type ChangeSet, FeedbackColumns, type ItemList } from '../../data-store.ts';
import type { PlainChanges, PlainColumns, PlainItems } from '../tables/writer-messages.ts';

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

  /** Tells what another log says, that takes nothing away and comes after this, along with this. */
  append({ items, userRows, journals, added, isIncomplete, feedbackCommit }: ChangeLog): void {
    for (const item of items) this.items.push(item);
    this.journals.push(...journals);
    for (const row of userRows) this.userRows.push(row);
    for (let at = 0; at < added.length; at++)
      this.added.push(added.userRows[at]!, added.itemRows[at]!, added.types[at]!, added.timesMs[at]!);
    this.isIncomplete ||= isIncomplete;
    this.feedbackCommit = feedbackCommit;
  }

  toPlain(feedbackTypes: readonly string[], renumbersTypes: boolean): PlainChanges {
    const { items, deletedItemRows, vectorRows, journals, userRows, deletedUserRows, feedbackCommit } = this;
    const added = trim(this.added);
    const removed = trim(this.removed);
    return {
      items: packItems(items),
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
    items: unpackItems(items),
    added: toColumns(added),
    removed: toColumns(removed),
  };
}

/** The buffers of the changes that are worth being transferred rather than copied. */
export function buffersOf(changes: readonly PlainChanges[]): ArrayBuffer[] {
  return changes.flatMap(({ items, added, removed }) => {
    const columns = [added, removed].flatMap((one) => Object.values(one ?? {}) as Uint32Array<ArrayBuffer>[]);
    const buffers = [...itemBuffers(items), ...columns.map(({ buffer }) => buffer)];
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

/** Items in one piece: unpacking it takes a fraction of a millisecond. */
const PIECE_ITEMS = 128;

/**
 * Items to be sent to another thread: a few as they are, which costs least, and many as bytes, a piece at a time, so that
 * the receiving thread need not read all of a large commit at once.
 */
function packItems(items: readonly CatalogueItem[]): PlainItems {
  if (items.length <= PIECE_ITEMS) return items;
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (let from = 0; from < items.length; from += PIECE_ITEMS) {
    // Of its own buffer, which is handed over whole.
    pieces.push(Uint8Array.from(serialize(items.slice(from, from + PIECE_ITEMS))));
  }
  return { pieces, length: items.length };
}

/** The items on the receiving side. */
function unpackItems(items: PlainItems): ItemList {
  return 'pieces' in items ? new PackedItems(items.pieces, items.length) : items;
}

/** The buffers of items that are worth being transferred rather than copied. */
function itemBuffers(items: PlainItems): ArrayBuffer[] {
  return 'pieces' in items ? items.pieces.map(({ buffer }) => buffer) : [];
}

/** Packed items, each piece read when its first item is asked for, and again by who asks again. */
class PackedItems implements ItemList {
  readonly length: number;
  private readonly pieces: readonly Uint8Array[];

  constructor(pieces: readonly Uint8Array[], length: number) {
    this.pieces = pieces;
    this.length = length;
  }

  *[Symbol.iterator](): Iterator<CatalogueItem> {
    for (const piece of this.pieces) yield* deserialize(piece) as CatalogueItem[];
  }
}
