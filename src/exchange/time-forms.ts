import { parseTimestamp } from '../domain/rfc3339.ts';

/**
 * How a column writes times: `date` begins with the year (`2010-12-01 08:26`) or names the month (`1 Dec 2010`);
 * the last two are numbers in either order with the year at the end.
 */
export const TIME_FORMS = ['seconds', 'milliseconds', 'date', 'month-first', 'day-first'] as const;
export type TimeForm = (typeof TIME_FORMS)[number];

/** What is known of the numbers before the year: `open` when no value has a number above 12. */
type Order = 'month-first' | 'day-first' | 'open';

const YEAR_FIRST = /^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)/;
const YEAR_LAST = /^(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})(?!\d)/;
const WEEKDAY = '(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*[,.]? +)?';
const MONTH = '(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*';
const DAY_AND_NAME = new RegExp(`^${WEEKDAY}(\\d{1,2})[-/. ]+${MONTH}[-/.,]? ?(\\d{4})(?!\\d)`, 'i');
const NAME_AND_DAY = new RegExp(`^${WEEKDAY}${MONTH}\\.? (\\d{1,2}),? (\\d{4})(?!\\d)`, 'i');
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
/** What follows the day: hours to fractions, am or pm, a zone. */
const CLOCK =
  /^(?:(?:,? +|[T:])(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?: ?([ap])\.?m\.?)?(?: ?(?:Z|UTC|GMT))?(?: ?([+-]\d{2}):?(\d{2})?)?)?$/i;
/** Two digits of a year from here on are of the last century, as POSIX has it. */
const PIVOT_YEAR = 69;

/** A day as it is written, and what stands behind it. */
interface Written {
  readonly year: string;
  /** The numbers of month and day, in the order of `month-first`. */
  readonly numbers: readonly [string, string];
  /** False for two numbers before a year, whose order the value does not tell. */
  readonly isClear: boolean;
  readonly separator: string;
  readonly clock: string;
}

/**
 * How a whole column writes times. Told by the column, never by one value.
 * @returns `open` when it is dates with the year last and nothing tells the month from the day, undefined when it holds
 * no times
 */
export function timeForm(values: Iterable<string>): TimeForm | 'open' | undefined {
  const given = [...values].filter((value) => value !== '');
  if (given.length === 0) return undefined;
  const numbers = given.map(Number);
  if (numbers.every(Number.isFinite)) {
    const most = Math.max(...numbers);
    if (most < 1e8) return undefined;
    return most < 1e11 ? 'seconds' : 'milliseconds';
  }
  const written = given.map(writtenOf);
  if (!written.every((one) => one !== undefined)) return undefined;
  if (written.every(({ isClear }) => isClear)) return 'date';
  if (written.some(({ isClear }) => isClear)) return undefined;
  return orderOf(written);
}

/** Undefined when the values contradict each other. Where dots part the numbers, the day is first in every country. */
function orderOf(written: readonly Written[]): Order | undefined {
  const isMonthFirst = written.some(({ numbers }) => Number(numbers[1]) > 12);
  const isDayFirst = written.some(({ numbers }) => Number(numbers[0]) > 12);
  if (isMonthFirst && isDayFirst) return undefined;
  // The year may as well come first where it has two digits.
  if (written.some(({ year }) => year.length === 2)) return 'open';
  if (isMonthFirst) return 'month-first';
  return isDayFirst || written.every(({ separator }) => separator === '.') ? 'day-first' : 'open';
}

function writtenOf(text: string): Written | undefined {
  const value = text.trim();
  const first = YEAR_FIRST.exec(value);
  if (first !== null) return { ...day(first[1]!, first[3]!, first[4]!), clock: rest(value, first) };
  const last = YEAR_LAST.exec(value);
  if (last !== null) {
    const written = day(last[4]!, last[1]!, last[3]!);
    return { ...written, isClear: false, separator: last[2]!, clock: rest(value, last) };
  }
  const named = DAY_AND_NAME.exec(value);
  if (named !== null) return { ...day(named[3]!, monthOf(named[2]!), named[1]!), clock: rest(value, named) };
  const name = NAME_AND_DAY.exec(value);
  if (name !== null) return { ...day(name[3]!, monthOf(name[1]!), name[2]!), clock: rest(value, name) };
  return undefined;
}

function day(year: string, month: string, date: string): Omit<Written, 'clock'> {
  return { year, numbers: [month, date], isClear: true, separator: '' };
}

function rest(value: string, [date]: RegExpExecArray): string {
  return value.slice(date.length);
}

function monthOf(name: string): string {
  return String(MONTHS.indexOf(name.slice(0, 3).toLowerCase()) + 1);
}

/** The zone as Go prints it (`... +0000 UTC`, in what Gorse exports) and as PostgreSQL does (`...+00`). */
const PRINTED_ZONE = /^([\d-]{10}[ T][\d:.]+) ?([+-]\d{2}):?(\d{2})?(?: [A-Z\d+-]+)?$/;

/**
 * A time of a column as the API takes it, UTC where no zone is written.
 * @returns undefined when the text is no time of that form
 */
export function readTime(text: string, form: TimeForm): string | undefined {
  if (form === 'seconds' || form === 'milliseconds') {
    const ms = Number(text) * (form === 'seconds' ? 1000 : 1);
    if (!Number.isFinite(ms) || Math.abs(ms) > 8.64e15) return undefined;
    return new Date(ms).toISOString();
  }
  if (form === 'date') {
    if (!Number.isNaN(parseTimestamp(text))) return text;
    const plain = text.replace(
      PRINTED_ZONE,
      (_, time, hours, minutes = '00') => `${time}${hours}:${minutes}`,
    );
    if (!Number.isNaN(parseTimestamp(plain))) return plain;
  }
  const written = writtenOf(text);
  if (written === undefined || written.isClear !== (form === 'date')) return undefined;
  const [month, date] = form === 'day-first' ? [...written.numbers].reverse() : written.numbers;
  const clock = clockOf(written.clock);
  if (clock === undefined) return undefined;
  const moment = `${fullYear(written.year)}-${month!.padStart(2, '0')}-${date!.padStart(2, '0')}${clock}`;
  return Number.isNaN(parseTimestamp(moment)) ? undefined : moment;
}

function fullYear(year: string): string {
  if (year.length === 4) return year;
  return Number(year) >= PIVOT_YEAR ? `19${year}` : `20${year}`;
}

/** The time of day in the form of ISO 8601; undefined when what follows the day is something else. */
function clockOf(text: string): string | undefined {
  const match = CLOCK.exec(text.trimEnd());
  if (match === null) return undefined;
  const [, hourText, minute, second = '00', fraction, half, zoneHours, zoneMinutes = '00'] = match;
  if (hourText === undefined) return '';
  let hour = Number(hourText);
  if (half !== undefined) {
    if (hour < 1 || hour > 12) return undefined;
    hour = (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
  }
  const part = fraction === undefined ? '' : `.${fraction}`;
  const zone = zoneHours === undefined ? 'Z' : `${zoneHours}:${zoneMinutes}`;
  return `T${String(hour).padStart(2, '0')}:${minute}:${second}${part}${zone}`;
}
