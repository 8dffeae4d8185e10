/** Rows of a page share all but so many low bits. */
const PAGE_BITS = 12;
const PAGE_ROWS = 2 ** PAGE_BITS;
/** Growth of a page whose lists no longer fit, so that few of them have to be moved. */
const SPARE = 1.25;
/** A page begins with room for what the page before it has, and this more. */
const LIKE_LAST = 1.1;
const SMALLEST = 64;

/** The lists of a page's rows, one behind the other in the order in which they came. */
interface Page<T> {
  values: T;
  /** Where each row's list starts, and how many numbers it has, by turns. */
  readonly places: Uint32Array;
  /** Numbers up to the last list, with those of lists that are gone. */
  used: number;
  /** Numbers of all lists. */
  live: number;
}

/**
 * A short list of numbers for each row, in typed arrays of some thousand rows each: the garbage collector has no object a row
 * to go through, and to change a list moves those of its page at most. 8 bytes a row beside the numbers.
 *
 * `open` and `write` leave a list in `values` from `start` on, good until the next `write`.
 */
export class PagedLists<T extends Uint8Array | Uint32Array> {
  values: T;
  start = 0;
  private readonly make: (length: number) => T;
  private readonly pages: (Page<T> | undefined)[] = [];

  /** @param make an array of at least that length, whatever is in it */
  constructor(make: (length: number) => T) {
    this.make = make;
    this.values = make(0);
  }

  /** Length of the row's list, 0 for none; which they are is in `values`. */
  open(row: number): number {
    const page = this.pages[row >>> PAGE_BITS];
    if (page === undefined) return 0;
    const at = (row & (PAGE_ROWS - 1)) * 2;
    this.values = page.values;
    this.start = page.places[at]!;
    return page.places[at + 1]!;
  }

  /** Makes room for a list of that length in place of the row's list; its numbers are to be put into `values`. */
  write(row: number, length: number): void {
    const page = this.pageOf(row);
    const at = (row & (PAGE_ROWS - 1)) * 2;
    const before = page.places[at + 1]!;
    page.live -= before;
    page.places[at + 1] = 0;
    if (length > before) {
      if (page.used + length > page.values.length) this.tidy(page, length);
      page.places[at] = page.used;
      page.used += length;
    }
    page.places[at + 1] = length;
    page.live += length;
    this.values = page.values;
    this.start = page.places[at]!;
  }

  private pageOf(row: number): Page<T> {
    const number = row >>> PAGE_BITS;
    while (this.pages.length <= number) this.pages.push(undefined);
    return (this.pages[number] ??= {
      values: this.make(Math.max(SMALLEST, Math.ceil((this.pages[number - 1]?.live ?? 0) * LIKE_LAST))),
      places: new Uint32Array(PAGE_ROWS * 2),
      used: 0,
      live: 0,
    });
  }

  /** Moves the lists of a page together into an array with room for `more` numbers. */
  private tidy(page: Page<T>, more: number): void {
    const { values, places } = page;
    const tidied = this.make(Math.max(SMALLEST, Math.ceil((page.live + more) * SPARE)));
    let used = 0;
    for (let at = 0; at < places.length; at += 2) {
      const start = places[at]!;
      const end = start + places[at + 1]!;
      places[at] = used;
      for (let from = start; from < end; from++) tidied[used++] = values[from]!;
    }
    page.values = tidied;
    page.used = used;
  }
}
