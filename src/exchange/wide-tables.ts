/**
 * Tables with a user a row and a column for each item, as matrices of ratings, answers of surveys and sums of spreadsheets are, or
 * with columns for the first, the second and further items of a user: each filled cell becomes a row.
 */

import { cellText } from './cell-text.ts';
import { mappingByNames } from './column-names.ts';
import { isValue, STEPS_MAX } from './keys-by-content.ts';
import { timeForm } from './time-formats.ts';

/** The columns of a table whose cells become rows. */
export interface Unrolled {
  readonly columns: readonly number[];
  /** Names of the columns of these rows: those that stay, then the name of a cell's column and what is in it. */
  readonly names: readonly string[];
  /** A cell of this says no more than an empty one; undefined where all say something. */
  readonly none: string | undefined;
}

type Rows = readonly (readonly string[])[];

/** So many columns of numbers, or of words, may be of an item each; so many where they say yes or no, as attributes of users do. */
const [COLUMNS_MIN, FLAGS_MIN] = [8, 20];
/** They are at least this share of all columns. */
const COLUMNS_SHARE = 0.75;
/** Beyond a scale at least this share of a column's cells is empty, or of the number that says so. */
const NONE_SHARE = 0.3;
/** What says so is 0, or so many times beyond the others, as 99 beside -10 to 10. */
const BEYOND = 2;
/** Ratings go to at most this, and not so many of them are 1. */
const [SCALE_MAX, ONES_SHARE] = [100, 0.4];
const SUM_NAME = /^(?:grand |sub)?total$|^sum(?:me|a)?$|^gesamt|^somme$/i;

/** True for the name of a row or a column of sums. */
export function isSum(name: string): boolean {
  return SUM_NAME.test(name.trim());
}

/** Tells by the first rows, the names of columns first, whether each is of a user and several items; undefined where it is not. */
export function unrolledIn(rows: Rows): Unrolled | undefined {
  const [names = [], ...body] = rows;
  const found = ofScale(names, body) ?? ofKeys(names, body);
  if (found === undefined) return undefined;
  const kept = [...names.keys()].filter((at) => !found.columns.includes(at));
  const { UserId, ItemId } = mappingByNames(kept.map((at) => names[at]!));
  const first = valuesIn(body, kept[0] ?? -1);
  const isKey = first.length === body.length && new Set(first).size === first.length && !isTime(first);
  if (ItemId !== undefined || (UserId === undefined && !isKey)) return undefined;
  const own = kept.map((at, place) => (UserId === undefined && place === 0 ? 'user' : names[at]!));
  return { ...found, names: [...own, ...found.names] };
}

/** The columns of a few words that are the same in many, as answers are, of which none is known to be more than another. */
export function columnsOfWords([names = [], ...body]: Rows): number[] {
  const isOfWords = (values: string[]) => values.length > 0 && !values.some(isValue);
  const columns = [...names.keys()].filter((at) => {
    const values = valuesIn(body, at);
    return isOfWords(values) && new Set(values).size <= STEPS_MAX;
  });
  const all = new Set(columns.flatMap((at) => valuesIn(body, at)));
  return all.size <= STEPS_MAX && areMost(columns, names, all.size) ? columns : [];
}

/** A column for each item, with a rating or a quantity in each cell. */
function ofScale(names: readonly string[], body: Rows): Unrolled | undefined {
  const user = mappingByNames(names).UserId ?? 0;
  const numbers = [...names.keys()].filter((at) => {
    const values = valuesIn(body, at);
    return at !== user && !isSum(names[at]!) && values.length > 0 && values.every(isValue) && !isTime(values);
  });
  const none = noneOf(numbers.flatMap((at) => body.map((row) => row[at] ?? '')));
  const columns = numbers.filter((at) => {
    const values = valuesIn(body, at).filter((value) => value !== none);
    return new Set(values).size <= STEPS_MAX || values.length <= (1 - NONE_SHARE) * body.length;
  });
  const values = columns.flatMap((at) => valuesIn(body, at)).filter((value) => value !== none);
  const steps = new Set(values).size + (none === undefined ? 0 : 1);
  if (!areMost(columns, names, steps) || columns.every((at) => isPeriod(names[at]!))) return undefined;
  return { columns, names: ['item', isCount(values) ? 'quantity' : 'rating'], none };
}

/** Columns that are called as keys of items are and told apart by a number: `product_1`, `product_2`. */
function ofKeys(names: readonly string[], body: Rows): Unrolled | undefined {
  const bare = (name: string) => name.replace(/\d+/, '');
  const isKey = (name: string) => bare(name) !== name && mappingByNames([name]).ItemId === 0;
  const first = names.find(
    (name) => isKey(name) && names.some((other) => other !== name && bare(other) === bare(name)),
  );
  if (first === undefined) return undefined;
  const columns = [...names.keys()].filter((at) => isKey(names[at]!) && bare(names[at]!) === bare(first));
  const keys = new Set(columns.flatMap((at) => valuesIn(body, at)));
  return keys.size > STEPS_MAX ? { columns, names: ['place', 'item'], none: undefined } : undefined;
}

function valuesIn(body: Rows, at: number): string[] {
  return body.map((row) => row[at] ?? '').filter((cell) => saysMore(cell));
}

function isTime(values: readonly string[]): boolean {
  return timeForm(values) !== undefined;
}

/** True for a cell that is neither empty, as programs for statistics write it, too, nor what a table has for none. */
export function saysMore(cell: string, none?: string): boolean {
  const text = cellText(cell);
  return text !== '' && text !== none && !/^(?:n\/?a|nan|-+)$/i.test(text);
}

/** True for the name of a month, a year or a day, of which sums are no items. */
function isPeriod(name: string): boolean {
  return (
    timeForm([name]) !== undefined ||
    /^(?:19|20)\d\d$/.test(name) ||
    !Number.isNaN(Date.parse(`1 ${name} 2020`))
  );
}

function areMost({ length }: readonly number[], names: readonly string[], steps: number): boolean {
  return length >= (steps > 2 ? COLUMNS_MIN : FLAGS_MIN) && length >= COLUMNS_SHARE * names.length;
}

/** The number that says that there is none: what most cells hold, if it is 0 or far beyond the others. */
function noneOf(cells: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  for (const cell of cells) counts.set(cell, (counts.get(cell) ?? 0) + 1);
  counts.delete('');
  const [most = '', count = 0] = [...counts].sort(([, one], [, other]) => other - one)[0] ?? [];
  counts.delete(most);
  const isBeyond =
    counts.size > 0 && [...counts.keys()].every((cell) => sizeOf(most) > BEYOND * sizeOf(cell));
  return count >= NONE_SHARE * cells.length && (isBeyond || sizeOf(most) === 0) ? most : undefined;
}

function sizeOf(cell: string): number {
  return Math.abs(Number(cell.replace(',', '.')));
}

/** True for whole numbers of which many are 1 or one is large, as of what was bought. */
function isCount(values: readonly string[]): boolean {
  const ones = values.filter((value) => Number(value) === 1).length;
  const isLarge = values.some((value) => Number(value) > SCALE_MAX);
  return values.every((value) => /^\d+$/.test(value)) && (isLarge || ones > ONES_SHARE * values.length);
}
