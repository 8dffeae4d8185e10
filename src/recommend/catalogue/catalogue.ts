import type { Clock } from '../../domain/clock.ts';
import type { CatalogueItem } from '../../store/data-store.ts';
import { ListableItems } from './listable-items.ts';
import { RowPostings, type Rows } from './row-postings.ts';

/** The rows that carry a name (a category or a label). */
type Postings = Map<string, Posting>;

interface Posting {
  /** The one copy of the name that all rows refer to. */
  readonly name: string;
  readonly rows: RowPostings;
}

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
  private readonly listable: ListableItems;
  private readonly categoriesByRow: (readonly string[] | undefined)[] = [];
  private readonly labelsByRow: (readonly string[] | undefined)[] = [];
  private readonly categoryPostings: Postings = new Map();
  private readonly labelPostings: Postings = new Map();
  private liveCount = 0;
  private readonly listeners: ((row: number) => void)[] = [];

  /** @param itemTtlMs an item whose timestamp is older than this is not listed any more; Infinity for never */
  constructor(clock: Clock, itemTtlMs = Number.POSITIVE_INFINITY) {
    this.listable = new ListableItems(clock, itemTtlMs);
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
    this.listable.put(row, item.hidden, item.timestampMs);
    for (const listener of this.listeners) listener(row);
  }

  delete(row: number): void {
    if (this.ids[row] === undefined) return;
    this.liveCount--;
    this.replaceNames(row, NO_NAMES, NO_NAMES);
    this.ids[row] = undefined;
    this.jsonIds[row] = undefined;
    this.listable.delete(row);
    for (const listener of this.listeners) listener(row);
  }

  /** True for an item that exists, is not hidden and not out of date: only such may stand in a list. */
  isListable(row: number): boolean {
    return this.listable.has(row);
  }

  isHidden(row: number): boolean {
    return this.listable.isHidden(row);
  }

  /** See `ListableItems.bits`. */
  visibleBits(): Uint32Array {
    return this.listable.bits(this.rowCount);
  }

  /** See `ListableItems.sharedBits`. */
  listableBits(): Uint32Array<SharedArrayBuffer> {
    return this.listable.sharedBits(this.rowCount);
  }

  /** See `ListableItems.sharedTimes`. */
  sharedTimes(): Float64Array<SharedArrayBuffer> {
    return this.listable.sharedTimes(this.rowCount);
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
    return this.listable.timestampMsAt(row);
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
