import { clearBit, hasBit } from '../../memory/bits.ts';
import type { Catalogue } from './catalogue.ts';
import type { RowPostings, Rows } from './row-postings.ts';

/** Items with the label count so many times their score: above 1 they rise, below they fall. */
export interface LabelBoost {
  readonly label: string;
  /** From 0.001 to 1,000. */
  readonly factor: number;
}

/** Wishes of one question for the items in its answer beside their categories. */
export interface ItemWishes {
  /** Ids of items that may not stand in it. */
  readonly excluded: readonly string[];
  /** An item has all of these. */
  readonly labels: readonly string[];
  /** An item has none of these. */
  readonly notLabels: readonly string[];
  readonly boosts: readonly LabelBoost[];
}

export const NO_WISHES: ItemWishes = { excluded: [], labels: [], notLabels: [], boosts: [] };

/** More members than this share of all items are many. */
const WIDE_SHARE = 1 / 16;

/** A part of the catalogue that is looked through for candidates. */
export interface View {
  /** Bits of the rows that may be candidates; some of them may be refused yet. */
  readonly allowed: Uint32Array;
  readonly accepts: (row: number) => boolean;
}

/** The items that one question wants, as lists are made of them. */
export interface WantedItems {
  /** The fewest rows that are known to hold all that pass; undefined for all rows. */
  readonly members: Rows | undefined;
  /** True where so many rows may pass that a model had better look through all rows with their bits. */
  readonly isWide: boolean;
  /** Bits of the listable rows that pass. */
  readonly allowed: Uint32Array;
  accepts(row: number): boolean;
  /** Where candidates are looked for: among all that pass, and by itself among those that each boost lifts. */
  views(): readonly View[];
  /** An item's score with its boosts. A factor says how many times as good: it lifts a score below 0 towards it. */
  boosted(row: number, score: number): number;
}

/** The same for another thread: plain data. */
export interface PackedItems {
  /** Absent where many rows pass. */
  readonly members: Uint32Array | undefined;
  readonly allowed: Uint32Array;
  /** Bits of the rows that pass and have the label. */
  readonly boosts: readonly { readonly bits: Uint32Array; readonly factor: number }[];
}

/** Items that another thread has packed. */
export class UnpackedItems implements WantedItems {
  readonly members: Rows | undefined;
  readonly isWide: boolean;
  readonly allowed: Uint32Array;
  private readonly boosts: PackedItems['boosts'];

  constructor({ members, allowed, boosts }: PackedItems) {
    this.members = members && new Set(members);
    this.isWide = members === undefined;
    this.allowed = allowed;
    this.boosts = boosts;
  }

  accepts(row: number): boolean {
    return hasBit(this.allowed, row);
  }

  views(): readonly View[] {
    return viewsOf(
      this.allowed,
      this.boosts.filter(({ factor }) => factor > 1).map(({ bits }) => bits),
    );
  }

  boosted(row: number, score: number): number {
    return lifted(
      score,
      this.boosts.filter(({ bits }) => hasBit(bits, row)),
    );
  }
}

/**
 * The items that one question wants, over the whole catalogue. What it costs grows with the number of labels asked for
 * and a thirty-second of the catalogue's rows.
 */
export class ItemFilter implements WantedItems {
  readonly members: Rows | undefined;
  private readonly catalogue: Catalogue;
  private readonly categories: readonly string[];
  private readonly wanted: readonly (RowPostings | undefined)[];
  private readonly unwanted: readonly RowPostings[];
  private readonly excluded: ReadonlySet<number>;
  private readonly boosts: readonly { readonly rows: RowPostings; readonly factor: number }[];
  private readonly passing: Uint32Array | undefined;
  private bits: Uint32Array | undefined;
  /** The same with rows beside which it refuses all, in place of those it has. @param passing their bits */
  readonly narrowed: (passing: Uint32Array) => ItemFilter;

  /** @param excluded rows that are refused @param passing bits of the rows that further conditions let pass; undefined for all rows */
  constructor(
    catalogue: Catalogue,
    categories: readonly string[],
    wishes: Omit<ItemWishes, 'excluded'>,
    excluded: readonly number[],
    passing?: Uint32Array,
  ) {
    const { labels, notLabels, boosts } = wishes;
    this.narrowed = (bits) => new ItemFilter(catalogue, categories, wishes, excluded, bits);
    this.passing = passing;
    this.catalogue = catalogue;
    this.categories = categories;
    this.wanted = labels.map((label) => catalogue.rowsWithLabel(label));
    this.unwanted = notLabels.flatMap((label) => catalogue.rowsWithLabel(label) ?? []);
    this.excluded = new Set(excluded);
    this.boosts = boosts.flatMap(({ label, factor }) => {
      const rows = catalogue.rowsWithLabel(label);
      return rows === undefined ? [] : [{ rows, factor }];
    });
    let members = catalogue.narrowest(categories);
    for (const rows of this.wanted)
      if (members === undefined || (rows?.size ?? 0) < members.size) members = rows ?? NO_ROWS;
    this.members = members;
  }

  /** Where the bits are made, a row that was hidden then is refused, too. */
  accepts(row: number): boolean {
    return (
      (this.bits === undefined || hasBit(this.bits, row)) &&
      (this.passing === undefined || hasBit(this.passing, row)) &&
      !this.excluded.has(row) &&
      this.catalogue.isInAll(row, this.categories) &&
      this.wanted.every((rows) => rows?.has(row) === true) &&
      !this.unwanted.some((rows) => rows.has(row))
    );
  }

  get isWide(): boolean {
    return this.members === undefined || this.members.size > this.catalogue.itemCount * WIDE_SHARE;
  }

  /** Made when first asked for. */
  get allowed(): Uint32Array {
    if (this.bits !== undefined) return this.bits;
    const bits = this.catalogue.visibleBits().slice();
    if (this.passing !== undefined)
      for (let at = 0; at < bits.length; at++) bits[at]! &= this.passing[at] ?? 0;
    for (const rows of this.wanted) {
      if (rows === undefined) bits.fill(0);
      else rows.keepIn(bits);
    }
    for (const category of this.categories) {
      const rows = this.catalogue.rowsInCategory(category);
      if (rows === undefined) bits.fill(0);
      else rows.keepIn(bits);
    }
    for (const rows of this.unwanted) rows.removeFrom(bits);
    for (const row of this.excluded) if (row >= 0) clearBit(bits, row);
    return (this.bits = bits);
  }

  views(): readonly View[] {
    const lifting = this.boosts.filter(({ factor }) => factor > 1);
    return viewsOf(
      this.allowed,
      lifting.map(({ rows }) => this.passingOf(rows)),
    );
  }

  boosted(row: number, score: number): number {
    return lifted(
      score,
      this.boosts.filter(({ rows }) => rows.has(row)),
    );
  }

  /** For another thread. */
  packed(): PackedItems {
    return {
      members: this.isWide ? undefined : Uint32Array.from(this.members!),
      allowed: this.allowed,
      boosts: this.boosts.map(({ rows, factor }) => ({ bits: this.passingOf(rows), factor })),
    };
  }

  private passingOf(rows: RowPostings): Uint32Array {
    const bits = this.allowed.slice();
    rows.keepIn(bits);
    return bits;
  }

  get hasBoosts(): boolean {
    return this.boosts.length > 0;
  }
}

const NO_ROWS: ReadonlySet<number> = new Set();

/** @param parts bits of the rows that pass and are lifted */
function viewsOf(allowed: Uint32Array, parts: readonly Uint32Array[]): readonly View[] {
  return [
    { allowed, accepts: () => true },
    ...parts.map((bits) => ({ allowed: bits, accepts: (row: number) => hasBit(bits, row) })),
  ];
}

function lifted(score: number, boosts: readonly { readonly factor: number }[]): number {
  const factor = boosts.reduce((product, boost) => product * boost.factor, 1);
  return score < 0 ? score / factor : score * factor;
}
