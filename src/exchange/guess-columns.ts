/**
 * Meanings of the columns of a file of users, items or feedback, told by their names or by their first values. Used by the
 * command line and by the dashboard.
 */

import { ITEM_FIELDS, USER_FIELDS } from '../domain/entity-fields.ts';
import { likelyPositive } from '../domain/feedback-troubles.ts';
import { cellText, verdictOf } from './cell-text.ts';
import { isMailName, isRatingOfItems, mappingByNames, plainName, timeColumn } from './column-names.ts';
import { isClock, isDay, timeForm, timeFormOfNamed } from './time-formats.ts';

/** The kind of a file's records. */
export type Kind = 'users' | 'items' | 'feedback';

/** The fields of the API's records, in the order in which exports have them. */
export const API_FIELDS: Readonly<Record<Kind, readonly string[]>> = {
  users: ['UserId', ...Object.keys(USER_FIELDS)],
  items: ['ItemId', ...Object.keys(ITEM_FIELDS)],
  feedback: ['FeedbackType', 'UserId', 'ItemId', 'Timestamp', 'Comment', 'Value'],
};
/** The fields that a column of a file may become. */
export const FIELDS: Readonly<Record<Kind, readonly string[]>> = {
  users: API_FIELDS.users,
  items: [...new Set(['ItemId', 'Comment', 'Categories', 'Labels', 'Timestamp', ...API_FIELDS.items])],
  feedback: ['UserId', 'ItemId', 'FeedbackType', 'Timestamp', 'Clock', 'Rating', 'Value', 'Comment', 'State'],
};
export const REQUIRED: Readonly<Record<Kind, readonly string[]>> = {
  users: ['UserId'],
  items: ['ItemId'],
  feedback: ['UserId', 'ItemId'],
};

/** Field by column number; a column without one is passed over. */
export type Mapping = Readonly<Record<string, number>>;

/** A reading of the first rows of a file. */
export interface Guess {
  readonly kind: Kind;
  readonly hasHeader: boolean;
  readonly mapping: Mapping;
}

/** Tells by the first rows what a file holds and which column is what. */
export function guess(rows: readonly (readonly string[])[], isNamed = false): Guess {
  const names = rows[0] ?? [];
  const mapping = mappingOf(rows);
  const isData = names.some(isValue) || (Object.keys(mapping).length === 0 && !isAboveValues(rows));
  if (isData && !isNamed) return { kind: 'feedback', hasHeader: false, mapping: byPlace(rows) };
  const findTime = (fits: (values: string[]) => boolean) => {
    const taken = Object.values(mapping);
    return timeColumn(names, (at) => !taken.includes(at) && fits(valuesOf(rows, at)));
  };
  if (valuesOf(rows, mapping.Timestamp).every(isClock)) {
    const time = findTime((values) => timeFormOfNamed(values) !== undefined);
    if (time >= 0) mapping.Timestamp = time;
  }
  if (valuesOf(rows, mapping.Timestamp).every(isDay)) {
    const clock = findTime((values) => values.length > 0 && values.every(isClock));
    if (clock >= 0 && 'Timestamp' in mapping) mapping.Clock = clock;
  }
  // Of events that are held somewhere each has a name of its own.
  if (new Set(valuesOf(rows, mapping.FeedbackType)).size > TYPES_MAX) delete mapping.FeedbackType;
  const telling = typesBesideOne(rows, mapping);
  if (telling !== undefined) mapping.FeedbackType = telling;
  const wider = widerUser(rows, mapping) ?? mailBesideNames(rows, mapping);
  if (wider !== undefined) mapping.UserId = wider;
  const key = keyBesideOneItem(rows, mapping);
  if (key !== undefined) mapping.ItemId = key;
  const isVerdict = (value: string) => /^[01]$/.test(verdictOf(value) ?? value);
  const verdict = names.findIndex((name, at) => {
    const values = VERDICT_NAME.test(plainName(name)) ? valuesOf(rows, at) : [];
    return values.length > 0 && values.every(isVerdict);
  });
  if (verdict >= 0 && mapping.UserId !== undefined) mapping.Rating ??= verdict;
  const rated = ratedBesideItems(rows, mapping);
  if (rated >= 0) mapping.Rating ??= rated;
  const has = (...fields: readonly string[]) => fields.some((field) => field in mapping);
  // A file of items or users calls its key just "id", and users have addresses beside it.
  const id = names.findIndex((name) => name.trim().toLowerCase() === 'id');
  const isMail = has('UserId') && isMailName(names[mapping.UserId!]!);
  if (id >= 0 && !has('ItemId') && (isMail || !has('UserId'))) {
    const isItems = !isMail && has('Categories', 'Comment', 'Timestamp', 'IsHidden');
    mapping[isItems ? 'ItemId' : 'UserId'] = id;
  }
  return { kind: kindOf(mapping), hasHeader: true, mapping };
}

/** The columns by their names; one that is empty in all first rows is nothing that another can be. */
function mappingOf([names = [], ...body]: readonly (readonly string[])[]): Record<string, number> {
  const isEmpty = names.map((_, at) => body.length > 0 && body.every((row) => (row[at] ?? '') === ''));
  const filled = mappingByNames(names.map((name, at) => (isEmpty[at] ? '' : name)));
  const rest = Object.entries(mappingByNames(names)).filter(([, at]) => isEmpty[at]);
  return { ...Object.fromEntries(rest), ...filled };
}

/** How many different values rows have in some columns together. */
function countIn(body: readonly (readonly string[])[], ...columns: readonly number[]): number {
  return new Set(body.map((row) => columns.map((at) => row[at]).join('\n'))).size;
}

/** A column of users has at most this share of the numbers that they have in each order. */
const WIDER_SHARE = 0.9;

/** The other column of users, where each number of the known one is of one moment alone, and of one of the fewer others. */
function widerUser(
  [names = [], ...body]: readonly (readonly string[])[],
  mapping: Mapping,
): number | undefined {
  const { UserId: user, Timestamp: time } = mapping;
  const other = mappingByNames(names.map((name, at) => (at === user ? '' : name))).UserId;
  if (user === undefined || time === undefined || other === undefined) return undefined;
  const count = (...columns: readonly number[]) => countIn(body, ...columns);
  const users = count(user);
  const isOfOrders = users === count(user, time) && users === count(user, other);
  return isOfOrders && count(other) > 1 && count(other) < WIDER_SHARE * users ? other : undefined;
}

/** Columns that say whether a user likes an item. */
const VERDICT_NAME = /^(?:is|was|has|would)?(?:recommend(?:ed)?|votedup|liked?|thumbsup)$/;

/** The column of items where that by its name has the same in all rows, such as the `product` that was played with. */
function keyBesideOneItem(rows: readonly (readonly string[])[], mapping: Mapping): number | undefined {
  const { ItemId: item, Comment: title, ...others } = mapping;
  const values = valuesOf(rows, item);
  if (title === undefined || values.length < COUNTED_MIN || new Set(values).size > 1) return undefined;
  const key = keyBesideTitles(rows, title, Object.values(others));
  return key === undefined ? undefined : rows[0]!.indexOf(key);
}

/** The column of ratings called after what is rated, such as `Book-Rating`; one that is the same for all of an item is a mean of many. */
function ratedBesideItems(
  [names = [], ...body]: readonly (readonly string[])[],
  { UserId: user, ItemId: item }: Mapping,
): number {
  if (user === undefined || item === undefined) return -1;
  return names.findIndex(
    (name, at) => isRatingOfItems(name) && countIn(body, item, at) > countIn(body, item),
  );
}

/** The column of addresses of mail beside one that has names of people, of whom several may have one. */
function mailBesideNames(
  rows: readonly (readonly string[])[],
  { UserId: user }: Mapping,
): number | undefined {
  const users = valuesOf(rows, user);
  if (users.length === 0 || !users.every((value) => /^\p{L}.*\s\p{L}/u.test(value))) return undefined;
  const at = (rows[0] ?? []).findIndex((_, each) => {
    const mails = valuesOf(rows, each);
    const isGiven = mails.length === rows.length - 1 && mails.every((mail) => /^[^\s@]+@[^\s@]+$/.test(mail));
    return isGiven && new Set(mails).size >= new Set(users).size;
  });
  return at < 0 ? undefined : at;
}

/** The values of a column under its name; none without one. */
function valuesOf([, ...body]: readonly (readonly string[])[], at = -1): string[] {
  return body.map((row) => cellText(row[at] ?? '')).filter((value) => value !== '');
}

function kindOf(mapping: Mapping): Kind {
  const hasItem = 'ItemId' in mapping;
  if ('UserId' in mapping) return hasItem ? 'feedback' : 'users';
  return hasItem || 'Categories' in mapping || 'Comment' in mapping ? 'items' : 'feedback';
}

/** True when a column holds numbers or times under a first cell that is neither: the first row names the columns. */
function isAboveValues([first = [], ...body]: readonly (readonly string[])[]): boolean {
  return first.some((name, at) => {
    const given = body.map((row) => row[at] ?? '').filter((value) => value !== '');
    return name !== '' && given.length > 0 && !isValue(name) && given.every(isValue);
  });
}

/** True for a text that is no name of a column: a number, or a date. */
function isValue(cell: string): boolean {
  const number = cell.trim().replace(/^(-?\d+),(\d+)$/, '$1.$2');
  return timeForm([cell]) !== undefined || (number !== '' && Number.isFinite(Number(number)));
}

/** More different texts are no types of feedback. */
const TYPES_MAX = 30;

/** True for few different words, of which one says what users do. */
function hasTypes(words: ReadonlySet<string>): boolean {
  const types = [...words].map((Name) => ({ Name, Count: 1, Positive: false, Read: false }));
  return words.size <= TYPES_MAX && likelyPositive(types).length > 0;
}

/** The column of what users do beside one of types that is the same in all rows and says nothing, such as `event`. */
function typesBesideOne(rows: readonly (readonly string[])[], mapping: Mapping): number | undefined {
  const types = new Set(valuesOf(rows, mapping.FeedbackType));
  if (types.size !== 1 || hasTypes(types)) return undefined;
  const taken = Object.values(mapping);
  const at = (rows[0] ?? []).findIndex((_, each) => {
    const values = valuesOf(rows, each);
    return !taken.includes(each) && new Set(values).size < values.length && hasTypes(new Set(values));
  });
  return at < 0 ? undefined : at;
}

/** Ratings go to at most this. On a scale beyond the second one, numbers of which a quarter are 1 are counts. */
const [RATING_MAX, USUAL_MAX, ONES_SHARE] = [100, 10, 0.25];
/** A number with so many decimals is measured, as a place on the map is: it is neither a key nor a rating. */
const MEASURED = /^-?\d+[.,]\d{4,}$/;
/** A scale of ratings has at most so many steps; a key has more values, or letters. */
const STEPS_MAX = 11;
/** Rows from which on numbers that count them are told from keys. */
const COUNTED_MIN = 10;

/** What numbers may be in a column without a name; undefined where they say nothing of feedback. */
function fieldOfNumbers(values: readonly string[]): 'Rating' | 'Value' | undefined {
  const numbers = values.map((value) => Number(value.replace(',', '.')));
  if (values.some((value) => MEASURED.test(value)) || numbers.every((number) => number === 0))
    return undefined;
  const ones = numbers.filter((number) => number === 1).length;
  const most = numbers.reduce((max, number) => Math.max(max, number));
  const isCount = most > RATING_MAX || (most > USUAL_MAX && ones > ONES_SHARE * numbers.length);
  return isCount && numbers.every((number) => Number.isInteger(number) && number >= 0) ? 'Value' : 'Rating';
}

/** True for whole numbers each of which is one more than that before. */
function isCounter(values: readonly string[]): boolean {
  return (
    values.length >= COUNTED_MIN &&
    values.every(
      (value, at) => /^\d+$/.test(value) && (at === 0 || Number(value) === Number(values[at - 1]) + 1),
    )
  );
}

/**
 * Without names: user, item, then a small number is a rating, one without an end a count, and a larger one or a date a time; dates come
 * anywhere. What counts the rows is passed over where two other columns may be keys, and so are places on a map.
 */
function byPlace(rows: readonly (readonly string[])[]): Mapping {
  const mapping: Record<string, number> = {};
  const columns = Array.from(rows[0] ?? [], (_, at) => {
    const values = rows.map((row) => cellText(row[at] ?? '')).filter((value) => value !== '');
    const isTime = timeForm(values) !== undefined;
    const isMeasured = values.length > 0 && values.every((value) => MEASURED.test(value));
    const isKey = new Set(values).size > STEPS_MAX || values.some((value) => /\p{L}/u.test(value));
    const counts = isCounter(values);
    return { at, values, isTime, isMeasured, counts, isKey: isKey && !isTime && !isMeasured && !counts };
  });
  const isNumbered = columns.filter(({ isKey }) => isKey).length > 1;
  for (const { at, values, isTime, isMeasured, counts } of columns) {
    if (isMeasured || (isNumbered && counts)) continue;
    if (isTime && !values.every((value) => Number.isFinite(Number(value)))) mapping.Timestamp ??= at;
    else if (mapping.UserId === undefined) mapping.UserId = at;
    else if (mapping.ItemId === undefined) mapping.ItemId = at;
    else if (isTime) mapping.Timestamp ??= at;
    else if (values.length > 0 && values.every(isValue)) {
      const field = fieldOfNumbers(values);
      if (field !== undefined) mapping[field] ??= at;
    } else if (hasTypes(new Set(values))) mapping.FeedbackType ??= at;
  }
  return mapping;
}

/** A key has at least so many values, each beside so many of the other key in the mean. */
const [VALUES_MIN, OTHERS_MIN] = [5, 1.5];
const KEY_NAME =
  /(?:id|no|nr|num|number|nummer|code|kod|sku|key|ref)$|^(?:id|n|no|nr|num|numero|code|codigo|codice|kod|ref)/;

/** Beside so many different titles in the mean a key may have another, as that of an article whose title was mended. */
const TITLES_MAX = 1.1;

/**
 * The column that tells items apart beside that of their titles: each value is called as a key is and goes with one title, and
 * each title with one of them.
 * @returns that of the titles where there is none, and undefined where these are empty or all alike
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
  return isGiven ? names[titleAt] : undefined;
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
      [...values].some((value) => value.includes('/')) || (!isNamed && [...values].every(isValue));
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
