import type { Clock } from '../../domain/clock.ts';
import type { CatalogueItem } from '../../store/data-store.ts';
import { ItemIds } from './item-ids.ts';
import { type SharedLabels, shareLabels } from './item-labels.ts';
import { ListableItems } from './listable-items.ts';
import { NamedRows } from './named-rows.ts';
import { RowPostings, type Rows } from './row-postings.ts';

/**
 * All items as the recommenders need them, by row, in memory: some 50 bytes an item and its id, and 7 for each of
 * its categories and labels, whose names are kept once. Nearly all of it stands in typed arrays, so that the garbage collector
 * has hardly more to go through with a million items than with a thousand. Grows with items, never with users.
 */
export class Catalogue {
  private readonly ids = new ItemIds();
  private readonly listable: ListableItems;
  private readonly categories = new NamedRows();
  private readonly labels = new NamedRows();
  /** How often an item came, got other labels or went so far. */
  version = 0;
  private labelsCopied: { readonly version: number; readonly labels: SharedLabels | undefined } | undefined;
  private liveCount = 0;
  private readonly listeners: ((row: number) => void)[] = [];

  /** @param itemTtlMs an item whose timestamp is older than this is not listed any more; Infinity for never */
  constructor(clock: Clock, itemTtlMs = Number.POSITIVE_INFINITY) {
    this.listable = new ListableItems(clock, itemTtlMs);
  }

  /** One more than the highest row seen. */
  get rowCount(): number {
    return this.ids.rowCount;
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
    const isNew = !this.ids.has(row);
    if (isNew) this.liveCount++;
    this.categories.replace(row, item.categories);
    if (this.labels.replace(row, item.labels) || isNew) this.version++;
    this.ids.set(row, item.itemId);
    this.listable.put(row, item.hidden, item.timestampMs);
    for (const listener of this.listeners) listener(row);
  }

  delete(row: number): void {
    if (!this.ids.has(row)) return;
    this.liveCount--;
    this.categories.replace(row, []);
    this.labels.replace(row, []);
    this.ids.remove(row);
    this.listable.delete(row);
    this.version++;
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
  listableBits(): Generator<undefined, Uint32Array<SharedArrayBuffer>> {
    return this.listable.sharedBits(this.rowCount);
  }

  /** See `ListableItems.sharedTimes`. */
  sharedTimes(): Generator<undefined, Float64Array<SharedArrayBuffer>> {
    return this.listable.sharedTimes(this.rowCount);
  }

  idAt(row: number): string | undefined {
    return this.ids.at(row);
  }

  jsonIdAt(row: number): string | undefined {
    return this.ids.jsonAt(row);
  }

  /** Milliseconds since the epoch, NaN for none. */
  timestampMsAt(row: number): number {
    return this.listable.timestampMsAt(row);
  }

  labelsAt(row: number): readonly string[] {
    return this.labels.namesAt(row);
  }

  categoriesAt(row: number): readonly string[] {
    return this.categories.namesAt(row);
  }

  hasLabels(row: number): boolean {
    return this.labels.hasNames(row);
  }

  /** The numbers that stand for the item's labels; that of a label which no item has any more may be another's later. */
  labelNumbersAt(row: number): readonly number[] {
    return this.labels.numbersAt(row);
  }

  /** The labels in shared memory, a copy of before where no item has changed since; see `shareLabels`. */
  *sharedLabels(): Generator<undefined, SharedLabels | undefined> {
    const { version } = this;
    if (this.labelsCopied?.version !== version)
      this.labelsCopied = { version, labels: yield* shareLabels(this) };
    return this.labelsCopied.labels;
  }

  /** Rows of the items with the label, hidden ones included. */
  rowsWithLabel(label: string): RowPostings | undefined {
    return this.labels.rowsWith(label);
  }

  /** See `ItemLabels`. */
  labelsInto(out: Uint32Array, row: number): number {
    return this.labels.numbersInto(out, row);
  }

  /** See `ItemLabels`. */
  labelCountOf(number: number): number {
    return this.labels.rowsWithNumber(number)?.size ?? 1;
  }

  /** The same of a label by its number. */
  rowsWithLabelNumber(number: number): RowPostings | undefined {
    return this.labels.rowsWithNumber(number);
  }

  /** Rows of the items in the category, hidden ones included. */
  rowsInCategory(category: string): RowPostings | undefined {
    return this.categories.rowsWith(category);
  }

  /** True when the item is in all of the categories. */
  isInAll(row: number, categories: readonly string[]): boolean {
    return categories.every((category) => this.categories.has(row, category));
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
}

const EMPTY: Rows = new RowPostings();
