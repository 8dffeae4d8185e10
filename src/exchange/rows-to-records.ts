import { decodeHTMLStrict } from 'entities';
import { type Fields as EntityFields, ITEM_FIELDS, USER_FIELDS } from '../domain/entity-fields.ts';
import { cellText, isRounded, narrowDigits, ratingOf, withFormula } from './cell-text.ts';
import type { RowFormat } from './file-format.ts';
import { API_FIELDS, type Kind, type Mapping } from './guess-columns.ts';
import { isKept, LostNumber, lostNumbers } from './lost-number.ts';
import { type StateColumn, stateLeftOut } from './order-states.ts';
import { isNoTime, readDayAndClock, type TimeForm, whyNoTime } from './time-formats.ts';

/** Rows that go on with the order of the row before, which alone has its customer, its time and its state. */
export interface Continued {
  /** The column of the order's number. */
  readonly key: number;
  /** The columns whose empty cells mean what the first row of the order has. */
  readonly columns: readonly number[];
}

export type ZeroRating = 'lowest' | 'none';

export interface Plan {
  readonly kind: Kind;
  readonly mapping: Mapping;
  readonly timeForm: TimeForm | undefined;
  /** The type of feedback where no column has one. */
  readonly type: string;
  /** A rating from here on is of `type`, a lower one of `lowType`; undefined where ratings do not matter. */
  readonly ratingMin: number | undefined;
  readonly lowType: string;
  /** The sign between labels or categories in one cell. */
  readonly separator: string;
  /** Ratings and values are written as `12,50`. */
  readonly hasDecimalCommas?: boolean;
  /** Blanks around a text belong to it, as in a file that was exported; see `isExport`. */
  readonly keepsBlanks?: boolean;
  /** Cells hold exact bytes, as those that `export --raw` writes. */
  readonly isRaw?: boolean;
  /** Columns of the head, which each row has, too; undefined where rows are no columns. */
  readonly width?: number | undefined;
  /** Feedback without a time among feedback with times is of now; refused when absent. */
  readonly missingTime?: 'now' | undefined;
  /** Ids that are no user but all guests together, whose feedback is left out. */
  readonly guests?: readonly string[] | undefined;
  /** A rating of 0 is the lowest, or says that none was given; the former when absent. */
  readonly zeroRating?: ZeroRating | undefined;
  /** Names of the cells, in their order; needed where rows are in the form of the API. */
  readonly columns?: readonly string[];
  /** Rows are in the form of the API already, one JSON object each; they are stored as they are. */
  readonly isApiForm?: boolean;
  /** Columns that tell what became of a row's order. */
  readonly states?: readonly StateColumn[];
  /** Rows that go on with the order of the row before. */
  readonly continued?: Continued | undefined;
  /** Of items out of feedback the column of its times: a row of none, as a second line of names, tells of no item. */
  readonly soldAt?: number | undefined;
  /** Rows of these states are left out; absent where they are those of what was cancelled or came back, see `isGone`. */
  readonly leftOut?: readonly string[] | undefined;
  /** Turns a row of a file of an odd form into the columns that the mapping means. */
  readonly reshape?: (cells: Row) => Row;
}

/** The sign between labels or categories in one cell when nothing else is said. */
export const DEFAULT_SEPARATOR = '|';
/** The text that MovieLens writes in place of an empty list. */
export const NO_GENRES = '(no genres listed)';

/** The cells of a row: texts, or values out of JSON. */
export type Row = readonly unknown[];

/** A record in the form of the API, or why the row is none, or the state by which it is left out. */
export type Made = { readonly record: object } | { readonly refusal: string } | { readonly leftOut: string };

/** All fields of the API: the cells of a row of JSON in its form, whatever its first rows leave out. */
export const API_COLUMNS: readonly string[] = [...new Set(Object.values(API_FIELDS).flat())];

/**
 * The kind of JSON with these keys, in the form of the API; undefined where it is of another form, as of a user and an item
 * without the type of feedback, which the API asks for.
 */
export function apiKindOf(keys: readonly string[]): Kind | undefined {
  const [hasUser, hasItem] = [keys.includes('UserId'), keys.includes('ItemId')];
  if (hasUser && hasItem) return keys.includes('FeedbackType') ? 'feedback' : undefined;
  if (hasUser) return 'users';
  return hasItem ? 'items' : undefined;
}

/** True when columns are named as those of an export are, in the same order. */
export function isExport(kind: Kind, columns: readonly string[]): boolean {
  return columns.join() === API_FIELDS[kind].join();
}

/** The fields of a row by the plan's mapping. */
class Fields {
  private readonly row: Row;
  private readonly plan: Plan;

  constructor(row: Row, plan: Plan) {
    this.row = row;
    this.plan = plan;
  }

  text(field: string): string {
    const given = textOf(this.cell(field));
    if (!this.plan.keepsBlanks) return cellText(given);
    return this.plan.isRaw ? given : withFormula(given);
  }

  /** A text for people; shops export them as HTML has them: `&quot;`. */
  words(field: string, text = this.text(field)): string {
    return this.plan.keepsBlanks ? text : decodeHTMLStrict(text);
  }

  /** A number's text, with a point in it. */
  number(field: string): string {
    return plainNumber(this.text(field), this.plan.hasDecimalCommas === true);
  }

  /** The same of a rating, which may be in words. */
  rating(): string {
    return plainNumber(ratingOf(this.text('Rating')), this.plan.hasDecimalCommas === true);
  }

  names(field: string): unknown {
    const value = this.cell(field);
    const names = Array.isArray(value) ? value : namesOf(this.text(field), this.plan.separator);
    const decoded = (name: unknown) => (typeof name === 'string' ? this.words(field, name) : name);
    return Array.isArray(names) ? names.map(decoded) : names;
  }

  /** The fields of an item or a user. @param timestamp the row's time, in the form of the API */
  record(fields: EntityFields, timestamp: string): Readonly<Record<string, unknown>> {
    const read = (name: string, { kind }: EntityFields[string]) => {
      if (kind === 'flag') return /^(true|1|yes)$/i.test(this.text(name));
      if (kind === 'time') return timestamp;
      return kind === 'text' ? this.words(name) : this.names(name);
    };
    return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, read(name, field)]));
  }

  /** The state of its order by which the row is left out; a quantity below 0 takes back what was bought before. */
  leftOut(): string | undefined {
    const { states = [], leftOut, mapping } = this.plan;
    if (states.length === 0) return undefined;
    const takesBack = mapping.Value !== undefined && this.number('Value').startsWith('-');
    if (takesBack && leftOut === undefined) return undefined;
    return stateLeftOut((at) => cellText(textOf(this.row[at])), states, leftOut);
  }

  /** The refusal of a row with a number in a column in use that a store would change. */
  lostNumber(): Made | undefined {
    for (const [field, at] of Object.entries(this.plan.mapping)) {
      const value = this.row[at];
      if (value instanceof LostNumber) return { refusal: whyLost(field, value.literal) };
    }
    return undefined;
  }

  /** Why an id is none, or may be that of several users or items; undefined where it is one. */
  wrongId(): string | undefined {
    for (const field of this.plan.keepsBlanks ? [] : ['UserId', 'ItemId']) {
      if (isRounded(this.text(field)))
        return `the id ${this.text(field)} was rounded by a spreadsheet; format its column as text there and save the file again`;
      const value = this.cell(field);
      if (typeof value === 'object' && value !== null)
        return `the ${field} is a list or an object, not a text`;
      if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
        return `the id ${value} has more digits than a number in JSON keeps; write it in quotes`;
    }
    return undefined;
  }

  private cell(field: string): unknown {
    const at = this.plan.mapping[field];
    return at === undefined ? '' : this.row[at];
  }
}

/** A cell as a person would read it. */
export function textOf(cell: unknown): string {
  if (typeof cell === 'string') return cell;
  if (cell === undefined || cell === null) return '';
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
}

/** The record of a row, or why it is none. */
export function recordOf(cells: Row, plan: Plan): Made {
  const { columns = [], isApiForm = false, reshape } = plan;
  if (isApiForm) {
    const record = Object.fromEntries(columns.map((key, at) => [key, cells[at]]));
    return refusalOfLost(record) ?? { record };
  }
  const unfit = whyUnfit(cells, plan.width);
  if (unfit !== undefined) return { refusal: unfit };
  const fields = new Fields(reshape === undefined ? cells : reshape(cells), plan);
  const leftOut = fields.leftOut();
  if (leftOut !== undefined) return { leftOut };
  const lost = fields.lostNumber();
  if (lost !== undefined) return lost;
  const UserId = fields.text('UserId');
  const ItemId = fields.text('ItemId');
  if (plan.kind !== 'items' && UserId === '') return { refusal: NO_USER };
  if (plan.kind !== 'users' && ItemId === '') return { refusal: NO_ITEM };
  if (plan.kind === 'feedback' && plan.guests?.includes(UserId)) return { leftOut: guestState(UserId) };
  if (ItemId.includes('/')) return { refusal: 'the item id holds a slash' };
  const wrong = fields.wrongId();
  if (wrong !== undefined) return { refusal: wrong };
  if (plan.soldAt !== undefined) {
    const sold = cellText(textOf(cells[plan.soldAt]));
    if (timestampOf(sold, '', plan.timeForm) === undefined)
      return { refusal: whyNoTime(sold, plan.timeForm) };
  }
  const [time, clock] = [fields.text('Timestamp'), fields.text('Clock')];
  const Timestamp = timestampOf(time, clock, plan.timeForm);
  if (Timestamp === undefined) return { refusal: whyNoTime(`${time} ${clock}`.trim(), plan.timeForm) };
  if (Timestamp === '' && isTimeAsked(plan)) return { refusal: NO_TIME };
  const Comment = fields.words('Comment');
  if (plan.kind === 'feedback') return feedbackOf(fields, plan, { UserId, ItemId, Timestamp, Comment });
  const record =
    plan.kind === 'users'
      ? { UserId, ...fields.record(USER_FIELDS, Timestamp) }
      : { ItemId, ...fields.record(ITEM_FIELDS, Timestamp) };
  return refusalOfLost(record) ?? { record };
}

const [NO_USER, NO_ITEM] = ['the user id is empty', 'the item id is empty'];
const NO_TIME = 'no time, though other rows have one (--missing-time now stores such rows as of now)';

/** Refusals of rows that are of something else than feedback, as a payment among sales, and what they have not. */
export const LACKING: ReadonlyMap<string, string> = new Map([
  [NO_USER, 'user'],
  [NO_ITEM, 'item'],
  [NO_TIME, 'time'],
]);

/** The state by which rows of guests are left out. */
export function guestState(userId: string): string {
  return `user ${userId}`;
}

/** True when each row has to say when it was. */
function isTimeAsked({ kind, mapping, timeForm: form, missingTime }: Plan): boolean {
  return (
    kind === 'feedback' && mapping.Timestamp !== undefined && form !== undefined && missingTime !== 'now'
  );
}

/** Why a row has not the columns of the head; empty cells behind them say nothing and are passed over. */
export function whyUnfit(cells: Row, width = cells.length): string | undefined {
  const rest = cells.slice(width);
  if (cells.length >= width && rest.every((cell) => cell === '')) return undefined;
  const found = cells.length === 1 ? '1 column' : `${cells.length} columns`;
  return `${found} where the first row has ${width}`;
}

/** Why a record with a number that a store would change is none; undefined where it has none. */
function refusalOfLost(record: object): Made | undefined {
  for (const [field, value] of Object.entries(record))
    if (value instanceof LostNumber) return { refusal: whyLost(field, value.literal) };
  return undefined;
}

function whyLost(field: string, literal: string): string {
  return `${field}: the number ${literal} cannot be kept, since it is beyond the range or the digits of 64-bit floating point`;
}

function feedbackOf(fields: Fields, plan: Plan, record: object): Made {
  const FeedbackType = typeOf(fields.text('FeedbackType'), fields.rating(), plan);
  if (FeedbackType === undefined) return { refusal: `${JSON.stringify(fields.text('Rating'))} is no rating` };
  const given = fields.text('Value');
  if (given === '') return { record: { FeedbackType, ...record } };
  const literal = fields.number('Value');
  if (!NUMBER.test(literal)) return { refusal: `${JSON.stringify(given)} is no value` };
  if (!isKept(literal)) return { refusal: whyLost('Value', literal) };
  const Value = Number(literal);
  return { record: { FeedbackType, ...record, ...(Value !== 0 && { Value }) } };
}

const NUMBER = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i;
/** A sign between thousands: a point, or a blank of one kind or another. */
const THOUSANDS = "[.'\\s]";
const DECIMAL_COMMA = new RegExp(`^\\s*[-+]?(?:\\d{1,3}(?:${THOUSANDS}\\d{3})+|\\d*),\\d+\\s*-?\\s*$`);
const THOUSANDS_SIGN = new RegExp(`(?<=\\d)${THOUSANDS}(?=\\d{3}(?!\\d))`, 'g');

/**
 * True when numbers are written as `12,50`: told by all of them, since the comma of `1,250` may part thousands. One with
 * other than three digits behind a single comma tells it, and so does one with another sign between thousands or a zero
 * alone before the comma. Where none of them has a comma, points before three digits part thousands where a number has two,
 * or the file has prices with decimal commas and none with points.
 * @param format how the rows are written; where semicolons part the columns, commas are in numbers
 * @param others all cells of the same rows
 */
export function hasDecimalCommas(
  numbers: readonly string[],
  format?: RowFormat,
  others: readonly string[] = [],
): boolean {
  const isParted = format?.name === 'delimited' && format.delimiter === ';';
  const withComma = numbers.filter((number) => number.includes(','));
  if (withComma.length === 0) return havePointsInThousands(numbers, others);
  return (
    withComma.every((number) => DECIMAL_COMMA.test(number)) &&
    (isParted || withComma.some((number) => !/^\s*[-+]?[1-9]\d*,\d{3}\s*-?\s*$/.test(number)))
  );
}

const POINTS_IN_THOUSANDS = /^[-+]?\d{1,3}(?:\.\d{3})+\s*-?$/;

function havePointsInThousands(numbers: readonly string[], others: readonly string[]): boolean {
  const withPoint = numbers.filter((number) => number.includes('.'));
  if (withPoint.length === 0 || !withPoint.every((number) => POINTS_IN_THOUSANDS.test(number))) return false;
  if (withPoint.some((number) => number.split('.').length > 2)) return true;
  return (
    others.some((cell) => /^-?\d+,\d\d?$/.test(cell)) && !others.some((cell) => /^-?\d+\.\d\d?$/.test(cell))
  );
}

/** Commas between thousands for certain: before a point, or two of them. */
const THOUSANDS_COMMAS = /^[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+|,\d{3})$/;

/** A number with a point in it, and its sign in front: `-1250.5` of `1.250,5-` or `1,250.5-`; other texts stay. */
export function plainNumber(text: string, hasDecimalCommas: boolean): string {
  const signed = narrowDigits(text).replace(/^(\d.*\d|\d)\s*-$/, '-$1');
  if (hasDecimalCommas) return signed.replace(THOUSANDS_SIGN, '').replace(',', '.');
  return THOUSANDS_COMMAS.test(signed) ? signed.replaceAll(',', '') : signed;
}

/**
 * Labels or categories as an export has them in one cell, which is read back to the same where blanks are kept. Names stand
 * with bars between them, other lists and objects as JSON. One text or number in place of a list is JSON behind a blank:
 * without it a list of one name looks the same.
 */
export function cellOfNames(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'object') return ` ${JSON.stringify(value)}`;
  return Array.isArray(value) && value.every(isPlainName)
    ? value.join(DEFAULT_SEPARATOR)
    : JSON.stringify(value);
}

/** A name that stands between bars and is read back as it is. */
function isPlainName(name: unknown): boolean {
  return (
    typeof name === 'string' &&
    name !== '' &&
    name.trim() === name &&
    !name.includes(DEFAULT_SEPARATOR) &&
    !/^[[{]/.test(name) &&
    name !== NO_GENRES
  );
}

/** Names with a separator between them, or JSON, as databases and exports write it: see `cellOfNames`. */
function namesOf(text: string, separator: string): unknown {
  if (/^[[{ ]/.test(text)) {
    try {
      const value: unknown = JSON.parse(text);
      return lostNumbers(text)?.values().next().value ?? value;
    } catch {
      // A name that begins with a bracket or a blank.
    }
  }
  return splitNames(text, separator)
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== NO_GENRES);
}

/** The sign between names in cells of categories and labels: a semicolon where some have one and none has a bar. */
export function separatorOf(cells: readonly string[]): string {
  const isIn = (sign: string) =>
    cells.some((cell) => !/^[[{]/.test(cell) && splitNames(cell, sign).length > 1);
  return !isIn(DEFAULT_SEPARATOR) && isIn(';') ? ';' : DEFAULT_SEPARATOR;
}

/** A cell between separators; the semicolon of `&amp;` is none. */
function splitNames(text: string, separator: string): string[] {
  return text.split(separator === ';' ? /(?<!&#?\w{1,8});/ : separator);
}

/** Texts in place of a rating where none was given. */
const UNRATED = /^(?:-|n\/?a|none)?$/i;

function typeOf(
  type: string,
  rating: string,
  { ratingMin, type: given, lowType, zeroRating }: Plan,
): string | undefined {
  if (type !== '') return type;
  if (ratingMin === undefined || UNRATED.test(rating)) return given;
  const value = Number(rating);
  if (!Number.isFinite(value)) return undefined;
  if (value === 0 && zeroRating === 'none') return given;
  return value >= ratingMin ? given : lowType;
}

function timestampOf(text: string, clock: string, form: TimeForm | undefined): string | undefined {
  if (isNoTime(text)) return '';
  return form === undefined ? undefined : readDayAndClock(text, clock, form);
}
