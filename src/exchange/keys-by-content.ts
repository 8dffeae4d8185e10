/** Columns of keys, told by what the first rows of a file hold. */

import { holdLists } from './cell-lists.ts';
import { mappingByNames, plainName } from './column-names.ts';
import { timeForm } from './time-formats.ts';

/** How many different values rows have in some columns together. */
export function countIn(body: readonly (readonly string[])[], ...columns: readonly number[]): number {
  return new Set(body.map((row) => columns.map((at) => row[at]).join('\n'))).size;
}

/** True for a text that is no name of a column: a number, or a date. */
export function isValue(cell: string): boolean {
  const number = cell.trim().replace(/^(-?\d+),(\d+)$/, '$1.$2');
  return timeForm([cell]) !== undefined || (number !== '' && Number.isFinite(Number(number)));
}

/** A key has at least so many values, each beside so many of the other key in the mean. */
export const VALUES_MIN = 5;
const OTHERS_MIN = 1.5;
/** A scale of ratings has at most so many steps; a key has more values, or letters. */
export const STEPS_MAX = 11;
const KEY_NAME =
  /(?:id|no|nr|num|number|nummer|code|kod|sku|key|ref)$|^(?:id|n|no|nr|num|numero|code|codigo|codice|kod|ref)/;

/** Who made an item is none of those who have it, no item and no title. */
export const MADE_BY = /^(?:artist|album|band|director|publisher|brand|brewery)/;
/** Whose names these are is no user. */
const OF_ITEMS = /title|titel|track|song|content|movie|film|product|artikel/;

/** Beside so many different titles in the mean a key may have another, as that of an article whose title was mended. */
const TITLES_MAX = 1.1;

/**
 * The column that tells items apart beside that of their titles: each value is called as a key is and goes with one title, and
 * each title with one of them.
 * @returns that of the titles where there is none, and undefined where these are empty, all alike or lists
 */
export function keyBesideTitles(
  [names = [], ...body]: readonly (readonly string[])[],
  titleAt: number,
  taken: readonly number[],
): string | undefined {
  const titles = countIn(body, titleAt);
  const at = names.findIndex((name, each) => {
    if (each === titleAt || taken.includes(each) || !KEY_NAME.test(plainName(name))) return false;
    const keys = countIn(body, each);
    const pairs = countIn(body, each, titleAt);
    return keys >= VALUES_MIN && keys < body.length && pairs <= TITLES_MAX * Math.min(keys, titles);
  });
  if (at >= 0) return names[at];
  const isGiven = body.some((row) => row[titleAt] !== '') && (titles > 1 || body.length === 1);
  return isGiven && !holdLists(body.map((row) => row[titleAt] ?? '')) ? names[titleAt] : undefined;
}

/** True for whole numbers, as keys are, each of which goes with one text of another column and that with it. */
function isBesideTitles(body: readonly (readonly string[])[], at: number): boolean {
  const isTitle = (other: number) =>
    new Set([countIn(body, at), countIn(body, other), countIn(body, at, other)]).size === 1 &&
    body.every((row) => /\p{L}{2}/u.test(row[other] ?? ''));
  return body.every((row) => /^\d{2,}$/.test(row[at] ?? '')) && body[0]!.some((_, other) => isTitle(other));
}

/** Of rows so many of each hundred at most begin with another order than the one before, where orders have several rows. */
const ORDERS_MAX = 0.9;

/**
 * The column that may have the users where neither key is known: it has most different values of those that are the same in all
 * rows of an order, which stand together. Where none tells orders apart it is the first whose values come again.
 * @returns undefined where no column holds times, as those of items or users do not
 */
export function likelyUser(
  [names = [], ...body]: readonly (readonly string[])[],
  taken: readonly number[],
): string | undefined {
  const counts = names.map((_, at) => countIn(body, at));
  const isTime = (at: number) => timeForm(body.map((row) => row[at] ?? '')) !== undefined;
  if (!names.some((_, at) => isTime(at))) return undefined;
  const isOrder = (at: number) => {
    const runs = body.filter((row, each) => row[at] !== body[each - 1]?.[at]).length;
    return runs === counts[at] && runs > 1 && runs < ORDERS_MAX * body.length;
  };
  const orders = [...names.keys()].filter(isOrder);
  const isKey = (at: number) =>
    counts[at]! >= VALUES_MIN &&
    counts[at]! * OTHERS_MIN <= body.length &&
    !taken.includes(at) &&
    !isTime(at) &&
    !MADE_BY.test(plainName(names[at]!)) &&
    !OF_ITEMS.test(plainName(names[at]!)) &&
    body.every((row) => !/^\d*[.,]\d+$/.test(row[at] ?? ''));
  const keys = [...names.keys()].filter(isKey);
  const ofOrders = keys.filter((at) =>
    orders.some(
      (order) => counts[order]! >= OTHERS_MIN * counts[at]! && countIn(body, order, at) === counts[order],
    ),
  );
  return names[ofOrders.sort((one, other) => counts[other]! - counts[one]!)[0] ?? keys[0] ?? -1];
}

/**
 * The column that may have the other key of feedback where its name is not known: most different values that come again, each
 * beside several of the known key and, unlike the number of an order, at several times. Numbers count where their column is called as a
 * key is or, where no name is known, each goes with one title; times never.
 * @param known the columns of the one key and of the times @param taken columns that are something else
 */
export function likelyKey(
  [names = [], ...body]: readonly (readonly string[])[],
  known: readonly number[],
  taken: readonly number[],
): string | undefined {
  const isUnnamed = Object.keys(mappingByNames(names)).length === 0;
  const found = names.map((name, at) => {
    const values = new Set(body.map((row) => row[at] ?? '').filter((value) => value !== ''));
    const besides = (other: number) =>
      new Set(body.map((row) => row[at] && row[other] && `${row[at]}\n${row[other]}`)).size;
    const isNamed = KEY_NAME.test(plainName(name)) || (isUnnamed && isBesideTitles(body, at));
    const isOther =
      [...values].some((value) => value.includes('/')) ||
      (!isNamed && [...values].every(isValue)) ||
      holdLists([...values]) ||
      MADE_BY.test(plainName(name));
    const isKey =
      values.size >= VALUES_MIN && known.every((other) => besides(other) >= OTHERS_MIN * values.size);
    const isFree = ![...known, ...taken].includes(at);
    return { name, isNamed, count: isFree && !isOther && isKey ? values.size : 0 };
  });
  const most = Math.max(0, ...found.map(({ count }) => count));
  if (most === 0) return undefined;
  return (
    found.find(({ isNamed, count }) => isNamed && count * 2 >= most) ??
    found.find(({ count }) => count === most)
  )?.name;
}
