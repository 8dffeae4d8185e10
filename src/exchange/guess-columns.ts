/**
 * Meanings of the columns of a file of users, items or feedback, told by their names or by their first values. Used by the
 * command line and by the dashboard.
 */

import { ITEM_FIELDS, USER_FIELDS } from '../domain/entity-fields.ts';
import { likelyPositive } from '../domain/feedback-troubles.ts';
import { holdLists } from './cell-lists.ts';
import { cellText, ratingOf } from './cell-text.ts';
import {
  isFieldName,
  isMailName,
  isRatingOfItems,
  mappingByNames,
  plainName,
  timeColumn,
} from './column-names.ts';
import { countIn, isValue, keyBesideTitles, STEPS_MAX, VALUES_MIN } from './keys-by-content.ts';
import { isClock, isDay, timeForm, timeFormOfNamed } from './time-formats.ts';
import { columnsOfWords } from './wide-tables.ts';

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
  // As an export writes them: nothing in the rows makes one of them something else.
  const own = Object.fromEntries(names.map((name, at) => [name, at]));
  if (names.length > 1 && names.length === Object.keys(own).length && names.every(isFieldName))
    return { kind: kindOf(own), hasHeader: true, mapping: own };
  const mapping = mappingOf(rows);
  // A table with a column for each year has numbers for names.
  const isUserNamed = mapping.UserId !== undefined && !/\d/.test(names[mapping.UserId]!);
  const isData =
    (names.some(isValue) && !isUserNamed) || (Object.keys(mapping).length === 0 && !isAboveValues(rows));
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
  const types = new Set(valuesOf(rows, mapping.FeedbackType));
  const isOne = types.size === 1 && mapping.Rating !== undefined;
  if (types.size > TYPES_MAX || (!hasTypes(types) && (isOne || areNames(rows, mapping))))
    delete mapping.FeedbackType;
  const telling = typesBesideOne(rows, mapping);
  if (telling !== undefined) mapping.FeedbackType = telling;
  const wider = otherUser(rows, mapping) ?? mailUser(rows, mapping);
  if (wider !== undefined) mapping.UserId = wider;
  const key =
    itemBesideRows(rows, mapping) ?? keyBesideOneItem(rows, mapping) ?? titleBesideFewKeys(rows, mapping);
  if (key !== undefined) mapping.ItemId = key;
  const isVerdict = (value: string) => /^(?:-?1|0)$/.test(ratingOf(value));
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

/** The columns by their names; one that is empty in all first rows is nothing that another can be, and one of lists, or of answers, is no item. */
function mappingOf([names = [], ...body]: readonly (readonly string[])[]): Record<string, number> {
  const isEmpty = names.map((_, at) => body.length > 0 && body.every((row) => (row[at] ?? '') === ''));
  const answers = columnsOfWords([names, ...body]);
  const single = names.map((name, at) =>
    answers.includes(at) || isListOfItems([names, ...body], at) ? '' : name,
  );
  const filled = mappingByNames(single.map((name, at) => (isEmpty[at] ? '' : name)));
  const rest = Object.entries(mappingByNames(single)).filter(([, at]) => isEmpty[at]);
  return { ...Object.fromEntries(rest), ...filled };
}

/** True for a column that is called as items are and has several of them in a cell. */
function isListOfItems(rows: readonly (readonly string[])[], at: number): boolean {
  return mappingByNames([rows[0]![at]!]).ItemId === 0 && holdLists(valuesOf(rows, at));
}

/** A column of users has at most this share of the numbers that they have in each order. */
const WIDER_SHARE = 0.9;

/**
 * The other column of users, where each number of the known one is of one moment alone, and of one of the fewer others. So it is where all
 * rows have the other and most of them not the known one, as of visitors who are not signed in.
 */
function otherUser(rows: readonly (readonly string[])[], mapping: Mapping): number | undefined {
  const [names = [], ...body] = rows;
  const { UserId: user, Timestamp: time } = mapping;
  const other = mappingByNames(names.map((name, at) => (at === user ? '' : name))).UserId;
  if (user === undefined || other === undefined) return undefined;
  const isEmpty = valuesOf(rows, user).length * 2 < body.length;
  if (isEmpty && valuesOf(rows, other).length === body.length) return other;
  const count = (...columns: readonly number[]) => countIn(body, ...columns);
  const users = count(user);
  const isOfOrders = time !== undefined && users === count(user, time) && users === count(user, other);
  return isOfOrders && count(other) > 1 && count(other) < WIDER_SHARE * users ? other : undefined;
}

/** Columns that say whether a user likes an item. */
const VERDICT_NAME = /^(?:is|was|has|would)?(?:recommend(?:ed)?|votedup|liked?|thumbsup|voted?)$/;

/** Rows that show that a number is of each of them and of no item. */
const NUMBERED_MIN = 30;

/** The column of items beside another by its name that numbers the rows, such as `Property id` beside `Book number`. */
function itemBesideRows(
  [names = [], ...body]: readonly (readonly string[])[],
  { UserId: user, ItemId: item }: Mapping,
): number | undefined {
  if (user === undefined || item === undefined || body.length < NUMBERED_MIN) return undefined;
  const other = mappingByNames(names.map((name, at) => (at === item ? '' : name))).ItemId;
  const isOfRows = other !== undefined && countIn(body, item) === body.length;
  return isOfRows && countIn(body, other) * 2 <= body.length ? other : undefined;
}

/** The column of items where that by its name has the same in all rows, such as the `product` that was played with. */
function keyBesideOneItem(rows: readonly (readonly string[])[], mapping: Mapping): number | undefined {
  const { ItemId: item, Comment: title, ...others } = mapping;
  const values = valuesOf(rows, item);
  if (title === undefined || values.length < COUNTED_MIN || new Set(values).size > 1) return undefined;
  const key = keyBesideTitles(rows, title, Object.values(others));
  return key === undefined ? undefined : rows[0]!.indexOf(key);
}

/** Where more rows than this share have no key of an item and all have its title, that tells the items apart. */
const KEYLESS_SHARE = 0.1;

function titleBesideFewKeys(
  rows: readonly (readonly string[])[],
  { ItemId: item, Comment: title }: Mapping,
): number | undefined {
  const [keys, count] = [valuesOf(rows, item).length, rows.length - 1];
  const isKeyless = item !== undefined && keys < count * (1 - KEYLESS_SHARE);
  return isKeyless && valuesOf(rows, title).length === count ? title : undefined;
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

/**
 * The column of most addresses of mail: beside one that has names of people, of whom several may have one, in all rows; and where items
 * come again whose users no name tells, in half of them.
 */
function mailUser(
  rows: readonly (readonly string[])[],
  { UserId: user, ItemId: item }: Mapping,
): number | undefined {
  const [users, items] = [valuesOf(rows, user), valuesOf(rows, item)];
  const areNames = users.length > 0 && users.every((value) => /^\p{L}.*\s\p{L}/u.test(value));
  const isFeedback = user === undefined && new Set(items).size < items.length;
  if (!areNames && !isFeedback) return undefined;
  const counts = rows[0]!.map((_, each) => {
    const mails = valuesOf(rows, each);
    const isGiven = mails.length >= (areNames ? rows.length - 1 : rows.length / 2);
    return isGiven && mails.every((mail) => /^[^\s@]+@[^\s@]+$/.test(mail)) ? new Set(mails).size : 0;
  });
  const most = Math.max(...counts);
  return most >= (areNames ? new Set(users).size : VALUES_MIN) ? counts.indexOf(most) : undefined;
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

/** More different texts are no types of feedback. */
const TYPES_MAX = 30;

/** True for words each of which goes with one value of another column and that with it, as names of items do. */
function areNames(
  rows: readonly (readonly string[])[],
  { FeedbackType: type = -1, UserId: user }: Mapping,
): boolean {
  const words = countIn(rows, type);
  const isKey = (at: number) =>
    at !== type && at !== user && countIn(rows, at) === words && countIn(rows, at, type) === words;
  return words > VALUES_MIN && rows[0]!.some((_, at) => isKey(at));
}

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

/** True for numbers of which each item that comes again has one, such as that of its category. */
function isOfItems(rows: readonly (readonly string[])[], at: number, item: number): boolean {
  const items = countIn(rows, item);
  return items < rows.length && countIn(rows, item, at) === items && countIn(rows, at) < items;
}

/**
 * Without names: user, item, then a small number is a rating, one without an end a count, and a larger one or a date a time; dates come
 * anywhere. What counts the rows is passed over where two other columns may be keys, and so are places on a map and lists.
 */
function byPlace(rows: readonly (readonly string[])[]): Mapping {
  const mapping: Record<string, number> = {};
  const columns = Array.from(rows[0] ?? [], (_, at) => {
    const values = rows.map((row) => cellText(row[at] ?? '')).filter((value) => value !== '');
    const isTime = timeForm(values) !== undefined;
    const isList = holdLists(values);
    const isMeasured = values.length > 0 && values.every((value) => MEASURED.test(value));
    const isKey = new Set(values).size > STEPS_MAX || values.some((value) => /\p{L}/u.test(value));
    const counts = isCounter(values);
    return {
      at,
      values,
      isTime,
      isOther: isMeasured || isList,
      counts,
      isKey: isKey && !isTime && !isMeasured && !counts,
    };
  });
  const isNumbered = columns.filter(({ isKey }) => isKey).length > 1;
  for (const { at, values, isTime, isOther, counts } of columns) {
    if (isOther || (isNumbered && counts)) continue;
    if (isTime && !values.every((value) => Number.isFinite(Number(value)))) mapping.Timestamp ??= at;
    else if (mapping.UserId === undefined) mapping.UserId = at;
    else if (mapping.ItemId === undefined) mapping.ItemId = at;
    else if (isTime) mapping.Timestamp ??= at;
    else if (values.length > 0 && values.every(isValue)) {
      const field = fieldOfNumbers(values);
      if (field !== undefined && !(field === 'Value' && isOfItems(rows, at, mapping.ItemId)))
        mapping[field] ??= at;
    } else if (hasTypes(new Set(values))) mapping.FeedbackType ??= at;
  }
  return mapping;
}
