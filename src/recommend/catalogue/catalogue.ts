import type { Clock } from '../../domain/clock.ts';
import { bitWords, clearBit, setBit } from '../../memory/bits.ts';
import { grown } from '../../memory/growing-arrays.ts';
import { filled, sharedF64, sharedU32 } from '../../memory/shared-arrays.ts';
import type { CatalogueItem } from '../../store/data-store.ts';
import { RowPostings, type Rows } from './row-postings.ts';

/** The rows that carry a name (a category or a label). */
type Postings = Map<string, Posting>;

interface Posting {
  /** The one copy of the name that all rows refer to. */
  readonly name: string;
  readonly rows: RowPostings;
}

/** States of a row: without an item, with one that may be listed, with a hidden one. */
const ABSENT = 0;
const VISIBLE = 1;
const HIDDEN = 2;

/** Rows that are looked at for being out of date at a time: some ten microseconds. */
const SWEPT_ROWS = 4096;

const NO_NAMES: readonly string[] = [];
/** Names that are compared one by one. */
const SHORT = 16;

/**
 * All items as the recommenders need them, by row, in memory: some 120 bytes an item with its id, and 10 for each of its
 * categories and labels, whose names are kept once. Grows with items, never with users.
 */
export class Catalogue {
  /** JSON of the items' ids, made when it is first asked for. */
  private readonly jsonIds: (string | undefined)[] = [];
  private readonly ids: (string | undefined)[] = [];
  /** One of the states above by row. */
  private states = new Uint8Array(1024);
  private timesMs = new Float64Array(1024).fill(Number.NaN);
  /** Rows that may be listed unless they are out of date; those are taken out some at a time. */
  private visible = new Uint32Array(bitWords(1024));
  private sweptRows = 0;
  private readonly categoriesByRow: (readonly string[] | undefined)[] = [];
  private readonly labelsByRow: (readonly string[] | undefined)[] = [];
  private readonly categoryPostings: Postings = new Map();
  private readonly labelPostings: Postings = new Map();
  private liveCount = 0;
  private readonly listeners: ((row: number) => void)[] = [];
  private readonly clock: Clock;
  private readonly itemTtlMs: number;

  /** @param itemTtlMs an item whose timestamp is older than this is not listed any more; Infinity for never */
  constructor(clock: Clock, itemTtlMs = Number.POSITIVE_INFINITY) {
    this.clock = clock;
    this.itemTtlMs = itemTtlMs;
  }

  /** One more than the highest row seen. */
  get rowCount(): number {
    return this.ids.length;
  }

  /** Items that exist, hidden ones included. */
  get itemCount(): number {
    return this.liveCount;
  }

  /** Calls `listener` with each row whose item appeared, changed or went. */
  onChange(listener: (row: number) => void): void {
    this.listeners.push(listener);
  }

  put(item: CatalogueItem): void {
    const { row } = item;
    this.reserve(row);
    if (this.ids[row] === undefined) this.liveCount++;
    this.replaceNames(row, distinct(item.categories), distinct(item.labels));
    this.ids[row] = item.itemId;
    this.jsonIds[row] = undefined;
    this.states[row] = item.hidden ? HIDDEN : VISIBLE;
    this.timesMs[row] = item.timestampMs;
    if (this.isListable(row)) setBit(this.visible, row);
    else clearBit(this.visible, row);
    for (const listener of this.listeners) listener(row);
  }

  delete(row: number): void {
    if (this.ids[row] === undefined) return;
    this.liveCount--;
    this.replaceNames(row, NO_NAMES, NO_NAMES);
    this.ids[row] = undefined;
    this.jsonIds[row] = undefined;
    this.states[row] = ABSENT;
    this.timesMs[row] = Number.NaN;
    clearBit(this.visible, row);
    for (const listener of this.listeners) listener(row);
  }

  /** True for an item that exists, is not hidden and not out of date: only such may stand in a list. */
  isListable(row: number): boolean {
    if (this.states[row] !== VISIBLE) return false;
    return (
      this.itemTtlMs === Number.POSITIVE_INFINITY || !(this.timesMs[row]! < this.clock() - this.itemTtlMs)
    );
  }

  isHidden(row: number): boolean {
    return this.states[row] === HIDDEN;
  }

  /**
   * The listable rows as bits, and some that are out of date since a short time: each call takes out of these what a few
   * thousand rows have. In use, not to be changed.
   */
  visibleBits(): Uint32Array {
    if (this.itemTtlMs !== Number.POSITIVE_INFINITY && this.rowCount > 0) {
      const end = this.sweptRows + Math.min(SWEPT_ROWS, this.rowCount);
      for (let at = this.sweptRows; at < end; at++) {
        const row = at % this.rowCount;
        if (!this.isListable(row)) clearBit(this.visible, row);
      }
      this.sweptRows = end % this.rowCount;
    }
    return this.visible;
  }

  /** The listable rows as bits, row i in bit i & 31 of word i >> 5, in shared memory for the workers. */
  listableBits(): Uint32Array<SharedArrayBuffer> {
    const { rowCount, states, timesMs } = this;
    const bits = sharedU32(bitWords(rowCount));
    const sinceMs = this.clock() - this.itemTtlMs;
    for (let row = 0; row < rowCount; row++)
      if (states[row] === VISIBLE && !(timesMs[row]! < sinceMs)) setBit(bits, row);
    return bits;
  }

  /** A copy of the items' timestamps by row, NaN for none, in shared memory for the workers. */
  sharedTimes(): Float64Array<SharedArrayBuffer> {
    return filled(sharedF64(this.rowCount), this.timesMs.subarray(0, this.rowCount));
  }

  idAt(row: number): string | undefined {
    return this.ids[row];
  }

  jsonIdAt(row: number): string | undefined {
    const json = this.jsonIds[row];
    if (json !== undefined) return json;
    const id = this.ids[row];
    return id === undefined ? undefined : (this.jsonIds[row] = JSON.stringify(id));
  }

  /** Milliseconds since the epoch, NaN for none. */
  timestampMsAt(row: number): number {
    return this.timesMs[row] ?? Number.NaN;
  }

  labelsAt(row: number): readonly string[] {
    return this.labelsByRow[row] ?? NO_NAMES;
  }

  /** Rows of the items with the label, hidden ones included. */
  rowsWithLabel(label: string): RowPostings | undefined {
    return this.labelPostings.get(label)?.rows;
  }

  /** Rows of the items in the category, hidden ones included. */
  rowsInCategory(category: string): RowPostings | undefined {
    return this.categoryPostings.get(category)?.rows;
  }

  /** True when the item is in all of the categories. */
  isInAll(row: number, categories: readonly string[]): boolean {
    const own = this.categoriesByRow[row] ?? NO_NAMES;
    return categories.every((category) => own.includes(category));
  }

  /** The smallest of the categories' postings, an empty set for an unknown one, undefined for no category at all. */
  narrowest(categories: readonly string[]): Rows | undefined {
    let best: Rows | undefined;
    for (const category of categories) {
      const postings = this.rowsInCategory(category) ?? EMPTY;
      if (best === undefined || postings.size < best.size) best = postings;
    }
    return best;
  }

  private replaceNames(row: number, categories: readonly string[], labels: readonly string[]): void {
    const { categoriesByRow, labelsByRow } = this;
    categoriesByRow[row] = replacePostings(this.categoryPostings, row, categoriesByRow[row], categories);
    labelsByRow[row] = replacePostings(this.labelPostings, row, labelsByRow[row], labels);
  }

  private reserve(row: number): void {
    while (this.ids.length <= row) {
      this.ids.push(undefined);
      this.jsonIds.push(undefined);
      this.categoriesByRow.push(undefined);
      this.labelsByRow.push(undefined);
    }
    if (row < this.states.length) return;
    const { length } = this.states;
    this.states = grown(this.states, row + 1);
    this.timesMs = grown(this.timesMs, row + 1).fill(Number.NaN, length);
    this.visible = grown(this.visible, bitWords(this.states.length));
  }
}

const EMPTY: Rows = new RowPostings();

function distinct(names: readonly string[]): readonly string[] {
  // Most items have a few names, none of them twice, and a set takes longer than all the rest of an item.
  const isShort = names.length <= SHORT;
  if (isShort && names.every((name, at) => names.indexOf(name) === at)) return names;
  return [...new Set(names)];
}

/** @returns what the row keeps: the shared copies of the names, undefined for none */
function replacePostings(
  postings: Postings,
  row: number,
  before: readonly string[] | undefined,
  after: readonly string[],
): readonly string[] | undefined {
  for (const name of before ?? NO_NAMES) {
    if (after.includes(name)) continue;
    const rows = postings.get(name)?.rows;
    rows?.delete(row);
    if (rows?.size === 0) postings.delete(name);
  }
  if (after.length === 0) return undefined;
  return after.map((name) => {
    let posting = postings.get(name);
    if (posting === undefined) postings.set(name, (posting = { name, rows: new RowPostings() }));
    posting.rows.add(row);
    return posting.name;
  });
}
