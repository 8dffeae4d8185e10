import { PagedLists } from '../../memory/paged-lists.ts';
import { RowPostings } from './row-postings.ts';

const NO_NAMES: readonly string[] = [];
const NO_NUMBERS: readonly number[] = [];
/** Names that are compared one by one. */
const SHORT = 16;

/**
 * Names that rows carry, such as categories or labels: the names of a row, and the rows of a name. Each name in use has a
 * number; the number of a name that no row carries any more is given to another.
 */
export class NamedRows {
  private readonly numbers = new Map<string, number>();
  /** By number; undefined for one that is free. */
  private readonly names: (string | undefined)[] = [];
  private readonly rows: (RowPostings | undefined)[] = [];
  private readonly free: number[] = [];
  private readonly found: number[] = [];
  private readonly lists = new PagedLists((length) => new Uint32Array(length));

  /** Which names the row carries, each once, in the order in which they were given. */
  namesAt(row: number): readonly string[] {
    const length = this.lists.open(row);
    if (length === 0) return NO_NAMES;
    const { values, start } = this.lists;
    const names = new Array<string>(length);
    for (let at = 0; at < length; at++) names[at] = this.names[values[start + at]!]!;
    return names;
  }

  /** The numbers of these names. */
  numbersAt(row: number): readonly number[] {
    const length = this.lists.open(row);
    if (length === 0) return NO_NUMBERS;
    const { values, start } = this.lists;
    const numbers = new Array<number>(length);
    for (let at = 0; at < length; at++) numbers[at] = values[start + at]!;
    return numbers;
  }

  /** Writes the numbers of a row's first names, as many as there is room for. @returns how many */
  numbersInto(out: Uint32Array, row: number): number {
    const length = Math.min(out.length, this.lists.open(row));
    const { values, start } = this.lists;
    for (let at = 0; at < length; at++) out[at] = values[start + at]!;
    return length;
  }

  hasNames(row: number): boolean {
    return this.lists.open(row) > 0;
  }

  has(row: number, name: string): boolean {
    const number = this.numbers.get(name);
    if (number === undefined) return false;
    const length = this.lists.open(row);
    const { values, start } = this.lists;
    for (let at = start; at < start + length; at++) if (values[at] === number) return true;
    return false;
  }

  rowsWith(name: string): RowPostings | undefined {
    const number = this.numbers.get(name);
    return number === undefined ? undefined : this.rows[number];
  }

  /** The rows that carry the name with that number. */
  rowsWithNumber(number: number): RowPostings | undefined {
    return this.rows[number];
  }

  /** Puts these names in place of those that the row carries. @returns whether they are others, or in another order */
  replace(row: number, names: readonly string[]): boolean {
    const { lists } = this;
    const before = lists.open(row);
    if (before === 0 && names.length === 0) return false;
    const after = this.numbersOf(names);
    const isKept = (number: number, at: number) => lists.values[lists.start + at] === number;
    if (before === after.length && after.every(isKept)) return false;
    for (let at = 0; at < before; at++) {
      const number = lists.values[lists.start + at]!;
      if (!after.includes(number)) this.take(number, row);
    }
    lists.write(row, after.length);
    const { values, start } = lists;
    for (let at = 0; at < after.length; at++) {
      values[start + at] = after[at]!;
      this.rows[after[at]!]!.add(row);
    }
    return true;
  }

  /** The numbers of the names, each once; good until the next call. */
  private numbersOf(names: readonly string[]): readonly number[] {
    const { found } = this;
    found.length = 0;
    // Most items have a few names, and a set takes longer than all the rest of an item.
    const isShort = names.length <= SHORT;
    for (const name of isShort ? names : new Set(names)) {
      const number = this.numberOf(name);
      if (!isShort || !found.includes(number)) found.push(number);
    }
    return found;
  }

  /** The number of the name, which gets one if it has none. */
  private numberOf(name: string): number {
    let number = this.numbers.get(name);
    if (number !== undefined) return number;
    number = this.free.pop() ?? this.names.length;
    this.numbers.set(name, number);
    this.names[number] = name;
    this.rows[number] = new RowPostings();
    return number;
  }

  private take(number: number, row: number): void {
    const rows = this.rows[number]!;
    rows.delete(row);
    if (rows.size > 0) return;
    this.numbers.delete(this.names[number]!);
    this.names[number] = undefined;
    this.rows[number] = undefined;
    this.free.push(number);
  }
}
