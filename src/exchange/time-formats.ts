import { parseTimestamp } from '../domain/rfc3339.ts';
import { gregorian, OTHER_YEAR, withoutSigns } from './calendars.ts';
import { narrowDigits } from './cell-text.ts';

/**
 * Forms in which a column writes times: `date` begins with the year (`2010-12-01 08:26`) or names the month (`1 Dec 2010`);
 * `month-first` and `day-first` are numbers in either order with the year at the end, `year-first` three of two digits;
 * `excel-days` are days since the end of 1899, as spreadsheets count them.
 */
export const TIME_FORMS = [
  'seconds',
  'milliseconds',
  'microseconds',
  'date',
  'month-first',
  'day-first',
  'year-first',
  'excel-days',
] as const;
export type TimeForm = (typeof TIME_FORMS)[number];

/** The order of the numbers before the year: `open` when no value has a number above 12. */
type Order = 'month-first' | 'day-first' | 'year-first' | 'open';

/** Units of Unix time: milliseconds in one, and from where to where the largest number of a column lies. */
const UNITS = [
  { form: 'seconds', ms: 1000, from: 1e8, to: 1e11 },
  { form: 'milliseconds', ms: 1, from: 1e11, to: 1e13 },
  { form: 'microseconds', ms: 1e-3, from: 1e14, to: 1e16 },
] as const;
/** From 2001 to 2103, milliseconds of Unix time: what is so in another unit is hardly a time of the column's unit. */
const [RECENT_FROM_MS, RECENT_TO_MS] = [1e12, 4.2e12];
/** The first and the last moment that four digits of year can write. */
const [FIRST_MS, LAST_MS] = [-62_167_219_200_000, 253_402_300_799_999];

/** Days of a spreadsheet from 1970 to 2100, the day of Unix time 0, and seconds of a day. */
const [EXCEL_FROM, EXCEL_TO, EXCEL_EPOCH, DAY_SECONDS] = [25_569, 73_051, 25_569, 86_400];
const EXCEL_DAYS = /^\d{5}(?:[.,]\d+)?$/;

const YEAR_FIRST = /^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)/;
/** Behind the year of a day in Croatian or Serbian stands a point, too. */
const YEAR_LAST = /^(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})(?!\d)(?:\.(?= |$))?/;
const WEEKDAY = String.raw`(?:\p{L}+[,.]? +)?`;
const MONTH = String.raw`(\p{L}{3,})`;
// Of two digits behind a dash or slash alone: in `10 Mar 12:30` they are an hour.
const YEAR = String.raw`(?:de )?(\d{4}|(?<=[-/])\d{2}(?!:))(?!\d)`;
const DAY_AND_NAME = new RegExp(
  String.raw`^${WEEKDAY}(\d{1,2})[-/. ]+(?:de )?${MONTH}[-/.,]{0,2} ?${YEAR}`,
  'iu',
);
const NAME_AND_DAY = new RegExp(String.raw`^${WEEKDAY}${MONTH}(?:\.? |-)(\d{1,2})(?:,? |-)${YEAR}`, 'iu');
const ENGLISH = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
/** Languages in whose words months are known. */
const LANGUAGES = ['de', 'fr', 'es', 'it', 'nl', 'pt', 'pl', 'cs', 'tr', 'sv', 'da', 'nb'];
const months = new Map<string, number>();
/** Without separators, as SAP and AS/400 write dates: `20101201`, `201012010826`, `20101201T082600Z`. */
const COMPACT =
  /^((?:19|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?:[T ]?([01]\d|2[0-3]):?([0-5]\d)(?::?([0-5]\d))?Z?)?$/;
/** Dates that programs write where there is none. */
const ZERO_DATE = /^(?:0000([-./]?)00\1|00([-./])00\2(?:00)?)00(?:[ T]00:00(?::00(?:\.0+)?)?)?$/;
/** The text behind the day: hours to fractions, am or pm, a zone. */
const CLOCK =
  /^(?:(?:,? +|[T:])(\d{1,2})[:.h](\d{2})(?:[:.](\d{2})(?:[.,](\d{1,9}))?)?(?: ?([ap])\.?m\.?| Uhr| ?hr?s?\.?)?(?: ?(?:Z|UTC|GMT))?(?: ?([+-]\d{2}):?(\d{2})?)?)?$/i;
/** Before and after noon, in Korean, Chinese and Japanese before the hours, in Arabic behind them. */
const FRONT_HALF = /(오전|오후|上午|下午|午前|午後) ?([\d:]+)/;
const ARABIC_HALF = /(?<=\d) ?([صم])$/;
const halfOf = (_: string, half: string) => (/[오下][후午]|午後|م/.test(half) ? ' pm' : ' am');
const halfBehind = (all: string, half: string, clock: string) => clock + halfOf(all, half);
/** As C writes times, `Tue Apr 03 18:00:09 +0000 2012`, and the time of day before the day, `11:38 PM, September 10 2024`. */
const OF_C = /^\p{L}{3} (\p{L}{3}) +(\d{1,2}) ([\d:]{8})( [+-]\d{4}| [A-Z]{3,4})? (\d{4})$/u;
const CLOCK_FIRST = /^(\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]\.?m\.?)?),? (.*\d{4}.*|\d.*\d\d)$/i;
const plainTime = (text: string) =>
  withoutSigns(narrowDigits(text.trim()))
    .replace(FRONT_HALF, halfBehind)
    .replace(ARABIC_HALF, halfOf)
    .replace(OF_C, '$2 $1 $5 $3$4')
    .replace(CLOCK_FIRST, '$2 $1');
/** A day alone, or its midnight. */
const DAY_ALONE = /^(?!\d{9})[^:]*$|[ T]0?0:00(?::00(?:\.0+)?)?Z?$/;
/** Where three numbers of two digits end with so many different ones and begin with less than half as many, these are years. */
const DAYS_MIN = 8;
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
 * The form in which a whole column writes times. Told by the column, never by one value.
 * @returns `open` when it is dates with the year last and nothing tells the month from the day, undefined when it holds
 * no times
 */
export function timeForm(values: Iterable<string>): TimeForm | 'open' | undefined {
  const given = [...values].map(narrowDigits).filter((value) => !isNoTime(value));
  if (given.length === 0) return undefined;
  const numbers = given.map(Number);
  if (numbers.every(Number.isFinite)) {
    const dates = given.filter((value) => COMPACT.test(value)).length;
    if (dates === given.length) return 'date';
    // Dates, of which some are mistyped, are no count of anything.
    return dates * 2 > given.length ? undefined : unitOf(numbers);
  }
  const written = given.map(writtenOf);
  if (!written.every((one) => one !== undefined)) return undefined;
  if (written.every(({ isClear }) => isClear)) return 'date';
  if (written.some(({ isClear }) => isClear)) return undefined;
  const order = new DateOrder();
  for (const one of written) order.addWritten(one);
  return order.form;
}

/**
 * As `timeForm`, of a column that is known to hold times by its name: numbers may be the days of a spreadsheet, and one value of
 * ten may be none, as in a second line of names or under a total; its row is refused.
 */
export function timeFormOfNamed(values: readonly string[]): TimeForm | 'open' | undefined {
  const given = values.filter((value) => !isNoTime(value));
  const form = timeForm(given) ?? (given.length > 0 && given.every(isExcelDay) ? 'excel-days' : undefined);
  if (form !== undefined) return form;
  const times = given.filter((value) => timeForm([value]) !== undefined);
  return times.length < given.length && times.length * 10 >= given.length * 9 ? timeForm(times) : undefined;
}

function isExcelDay(text: string): boolean {
  const days = Number(text.replace(',', '.'));
  return EXCEL_DAYS.test(text) && days >= EXCEL_FROM && days < EXCEL_TO;
}

/** The unit of Unix time that the largest number is of; undefined where others are of a larger unit. */
function unitOf(numbers: readonly number[]): TimeForm | undefined {
  const most = numbers.reduce((one, other) => Math.max(one, other), 0);
  const unit = UNITS.find(({ from, to }) => most >= from && most < to);
  const isMixed = UNITS.slice(0, unit && UNITS.indexOf(unit)).some(({ ms }) =>
    numbers.some((number) => number * ms >= RECENT_FROM_MS && number * ms < RECENT_TO_MS),
  );
  return isMixed ? undefined : unit?.form;
}

/** The order of numbers in dates with the year last, told as values come; others tell nothing. */
export class DateOrder {
  private hasDates = false;
  private isMonthFirst = false;
  private isDayFirst = false;
  private isDotted = true;
  private hasShortYears = false;
  private hasLongYears = false;
  private readonly firsts = new Set<number>();
  private readonly lasts = new Set<number>();

  add(text: string): void {
    const written = writtenOf(text);
    if (written !== undefined && !written.isClear) this.addWritten(written);
  }

  addWritten({ numbers, year, separator }: Written): void {
    const [first, second] = [Number(numbers[0]), Number(numbers[1])];
    this.hasDates = true;
    if (first > 12) this.isDayFirst = true;
    if (second > 12) this.isMonthFirst = true;
    if (separator !== '.') this.isDotted = false;
    if (year.length > 2) {
      this.hasLongYears = true;
      return;
    }
    this.hasShortYears = true;
    this.firsts.add(first);
    this.lasts.add(Number(year));
  }

  /** The order that a number above 12 shows; undefined while none does, and where such numbers contradict each other. */
  get shown(): 'month-first' | 'day-first' | undefined {
    if (this.isMonthFirst === this.isDayFirst) return undefined;
    return this.isMonthFirst ? 'month-first' : 'day-first';
  }

  /**
   * The order by all dates so far. Where dots part the numbers, the day is first in every country. With other signs the
   * year may come first where it has two digits: it does where a number in front is above 31 or there are few of them, and does
   * not where there are more than twice as many numbers in front as at the end.
   * @returns undefined where there are no dates or they contradict each other
   */
  get form(): Order | undefined {
    const { isMonthFirst, isDayFirst, isDotted } = this;
    if (!this.hasDates) return undefined;
    const { firsts, lasts } = this;
    if (Math.max(...firsts) > 31) {
      const areYears = this.endsWithDays && !isMonthFirst && firsts.size <= lasts.size;
      return areYears ? 'year-first' : undefined;
    }
    if (isDotted && (isDayFirst || !isMonthFirst)) return 'day-first';
    if (isMonthFirst) return isDayFirst ? undefined : 'month-first';
    if (!isDayFirst) return 'open';
    if (!this.hasShortYears || firsts.size > 2 * lasts.size) return 'day-first';
    const areYears = lasts.size >= DAYS_MIN && lasts.size > 2 * firsts.size;
    return areYears && this.endsWithDays ? 'year-first' : 'open';
  }

  /** True when all numbers at the end may be days. */
  private get endsWithDays(): boolean {
    return !this.hasLongYears && Math.max(...this.lasts) <= 31;
  }

  /** True when no later date changes the order, but for one that contradicts it. */
  get isSure(): boolean {
    return this.isMonthFirst || (this.isDayFirst && !this.hasShortYears);
  }
}

function writtenOf(text: string): Written | undefined {
  const value = plainTime(text);
  const first = YEAR_FIRST.exec(value);
  if (first !== null) return { ...day(first[1]!, first[3]!, first[4]!), clock: rest(value, first) };
  const last = YEAR_LAST.exec(value);
  if (last !== null) {
    const written = day(last[4]!, last[1]!, last[3]!);
    return { ...written, isClear: false, separator: last[2]!, clock: rest(value, last) };
  }
  const named = DAY_AND_NAME.exec(value);
  if (named !== null) return dayNamed(named, named[2]!, named[1]!);
  const compact = COMPACT.exec(value);
  if (compact !== null) {
    const [, year, month, date, hour, minute, second] = compact;
    const clock = hour === undefined ? '' : ` ${hour}:${minute}:${second ?? '00'}`;
    return { ...day(year!, month!, date!), clock };
  }
  const name = NAME_AND_DAY.exec(value);
  return name === null ? undefined : dayNamed(name, name[1]!, name[2]!);
}

function dayNamed(found: RegExpExecArray, name: string, date: string): Written | undefined {
  const month = monthOf(name);
  return month === 0
    ? undefined
    : { ...day(found[3]!, String(month), date), clock: rest(found.input, found) };
}

function day(year: string, month: string, date: string): Omit<Written, 'clock'> {
  return { year, numbers: [month, date], isClear: true, separator: '' };
}

function rest(value: string, [date]: RegExpExecArray): string {
  return value.slice(date.length);
}

/** The number of a month by its name, long or short, alone or beside a day; 0 for any other word. */
function monthOf(name: string): number {
  if (months.size === 0) {
    const styles = LANGUAGES.flatMap((language) =>
      (['long', 'short'] as const).flatMap((month) => [
        new Intl.DateTimeFormat(language, { month, timeZone: 'UTC' }),
        new Intl.DateTimeFormat(language, { month, day: 'numeric', timeZone: 'UTC' }),
      ]),
    );
    for (const style of styles)
      for (let month = 0; month < 12; month++)
        for (const { type, value } of style.formatToParts(Date.UTC(2024, month, 1)))
          if (type === 'month') months.set(plainMonth(value), month + 1);
  }
  return months.get(plainMonth(name)) ?? ENGLISH.indexOf(plainMonth(name).slice(0, 3)) + 1;
}

function plainMonth(name: string): string {
  return name
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[^\p{L}]/gu, '')
    .replaceAll('ı', 'i');
}

/** The zone as Go prints it (`... +0000 UTC`, in what Gorse exports) and as PostgreSQL does (`...+00`). */
const PRINTED_ZONE = /^([\d-]{10}[ T][\d:.]+) ?([+-]\d{2}):?(\d{2})?(?: [A-Z\d+-]+)?$/;

/**
 * A time of a column as the API takes it, UTC where no zone is written.
 * @returns undefined when the text is no time of that form
 */
export function readTime(given: string, form: TimeForm): string | undefined {
  const text = narrowDigits(given);
  const unit = UNITS.find((each) => each.form === form);
  if (unit !== undefined) {
    const ms = Number(text) * unit.ms;
    return ms >= FIRST_MS && ms <= LAST_MS ? new Date(ms).toISOString() : undefined;
  }
  if (form === 'excel-days') {
    if (!isExcelDay(text)) return undefined;
    // A fraction of a day has an error of milliseconds.
    const seconds = Math.round((Number(text.replace(',', '.')) - EXCEL_EPOCH) * DAY_SECONDS);
    return new Date(seconds * 1000).toISOString();
  }
  if (form === 'date' && !OTHER_YEAR.test(text)) {
    if (!Number.isNaN(parseTimestamp(text))) return text;
    const plain = text.replace(
      PRINTED_ZONE,
      (_, time, hours, minutes = '00') => `${time}${hours}:${minutes}`,
    );
    if (!Number.isNaN(parseTimestamp(plain))) return plain;
  }
  const written = writtenOf(text);
  if (written === undefined || written.isClear !== (form === 'date')) return undefined;
  const [year, month, date] = gregorian(inOrder(written, form));
  const clock = clockOf(written.clock);
  if (clock === undefined) return undefined;
  const moment = `${fullYear(year)}-${month.padStart(2, '0')}-${date.padStart(2, '0')}${clock}`;
  return Number.isNaN(parseTimestamp(moment)) ? undefined : moment;
}

function inOrder({ year, numbers: [first, second] }: Written, form: TimeForm): [string, string, string] {
  if (form === 'day-first') return [year, second, first];
  return form === 'year-first' ? [first, second, year] : [year, first, second];
}

/** True for a day alone, for the midnight of one, and for no time. */
export function isDay(text: string): boolean {
  return isNoTime(text) || DAY_ALONE.test(text.trim());
}

/** True for a time of day alone: `14:05`, `2:05:33 PM`. */
export function isClock(text: string): boolean {
  return (clockOf(` ${plainTime(text)}`) ?? '') !== '';
}

/** The moment of a day and of the time of that day, which may be empty. @returns as `readTime` */
export function readDayAndClock(day: string, clock: string, form: TimeForm): string | undefined {
  const read = readTime(day, form);
  if (read === undefined || clock === '') return read;
  const time = clockOf(` ${plainTime(clock)}`);
  if (time === undefined) return undefined;
  const moment = new Date(parseTimestamp(read)).toISOString().slice(0, 10) + time;
  return Number.isNaN(parseTimestamp(moment)) ? undefined : moment;
}

/** True when a cell of a column of times says that there is none: it is empty, or a date of zeros. */
export function isNoTime(text: string): boolean {
  return text === '' || ZERO_DATE.test(text.trim());
}

/** Why a text is no time of a form: for dates in the other order that, too. */
export function whyNoTime(text: string, form: TimeForm | undefined): string {
  const reason = `${JSON.stringify(text)} is no time`;
  if (!isOrder(form)) return reason;
  const other = form === 'day-first' ? 'month-first' : 'day-first';
  const inWords = (order: TimeForm) => order.replace('-', ' ');
  return readTime(text, other) === undefined
    ? reason
    : `${reason}, ${inWords(form)}; ${inWords(other)} it is one`;
}

/** True when a form is one of the two orders of day and month before the year. */
export function isOrder(form: TimeForm | 'open' | undefined): form is 'month-first' | 'day-first' {
  return form === 'month-first' || form === 'day-first';
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
