const FORM =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?(?:[Zz]|([+-])(\d{2})(?::?(\d{2}))?)?)?$/;

const MINUTE_MS = 60_000;
const DAY_MS = 1440 * MINUTE_MS;
/** The first and the last moment that four digits of year can write. */
const FIRST_MS = -62_167_219_200_000;
const LAST_MS = 253_402_300_799_999;

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Days from 0000-03-01 to 1970-01-01. */
const EPOCH_DAY = 719_468;
/** Days before each month of a year that begins in March, so that the leap day is its last. */
const DAYS_BEFORE = [306, 337, 0, 31, 61, 92, 122, 153, 184, 214, 245, 275];

/** Milliseconds since the Unix epoch at the start of a day that exists, year 0 to 9999. */
function midnightUtc(year: number, month: number, day: number): number {
  const years = month > 2 ? year : year - 1;
  const leapDays = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400);
  return (years * 365 + leapDays + DAYS_BEFORE[month - 1]! + day - 1 - EPOCH_DAY) * DAY_MS;
}

/** The number that `count` digits from `at` on write, NaN when there is anything else. */
function digits(text: string, at: number, count: number): number {
  let value = 0;
  for (let i = at; i < at + count; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (!(digit >= 0 && digit <= 9)) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}

/**
 * Reads `2022-03-04T05:06:07Z` and `2022-03-04T05:06:07.678Z` alone, the forms of bulk data, several times faster than the
 * pattern; NaN for all else.
 */
function parseCanonical(text: string): number {
  const hasFraction = text.length === 24 && text[19] === '.';
  if (!(hasFraction || text.length === 20) || text[text.length - 1] !== 'Z') return Number.NaN;
  if (text[4] !== '-' || text[7] !== '-' || text[10] !== 'T') return Number.NaN;
  if (text[13] !== ':' || text[16] !== ':') return Number.NaN;
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 2);
  const day = digits(text, 8, 2);
  const hour = digits(text, 11, 2);
  const minute = digits(text, 14, 2);
  const second = digits(text, 17, 2);
  const milliseconds = hasFraction ? digits(text, 20, 3) : 0;
  if (!(month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month))) return Number.NaN;
  if (!(hour <= 23 && minute <= 59 && second <= 59)) return Number.NaN;
  return midnightUtc(year, month, day) + (hour * 60 + minute) * MINUTE_MS + second * 1000 + milliseconds;
}

/**
 * Reads RFC 3339 / ISO 8601: a date alone is midnight UTC, a time without a zone is UTC, a space may stand for the
 * `T`, and a zone may be hours alone. A fraction is kept to the millisecond, the rest of it cut off. A leap second is the second after it.
 * @returns milliseconds since the Unix epoch, or NaN when the text has another form or names no moment that exists.
 */
export function parseTimestamp(text: string): number {
  const canonicalMs = parseCanonical(text);
  if (!Number.isNaN(canonicalMs)) return canonicalMs;
  const match = FORM.exec(text);
  if (match === null) return Number.NaN;
  const [
    ,
    yearText,
    monthText,
    dayText,
    hourText,
    minuteText,
    secondText,
    fraction,
    sign,
    zoneHour,
    zoneMinute,
  ] = match;
  const year = Number(yearText);
  const month = Number(monthText);
  const day = Number(dayText);
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return Number.NaN;
  let timeMs = midnightUtc(year, month, day);
  if (hourText === undefined) return timeMs;
  const hour = Number(hourText);
  const minute = Number(minuteText);
  const second = secondText === undefined ? 0 : Number(secondText);
  if (hour > 23 || minute > 59 || second > 60) return Number.NaN;
  timeMs += (hour * 60 + minute) * MINUTE_MS + second * 1000;
  if (fraction !== undefined) timeMs += Number(fraction.slice(0, 3).padEnd(3, '0'));
  if (sign !== undefined) {
    const offsetHour = Number(zoneHour);
    const offsetMinute = Number(zoneMinute ?? 0);
    if (offsetHour > 23 || offsetMinute > 59) return Number.NaN;
    const offsetMs = (offsetHour * 60 + offsetMinute) * MINUTE_MS;
    timeMs += sign === '-' ? offsetMs : -offsetMs;
  }
  // A leap second ends a day of UTC.
  if (second === 60 && (timeMs - FIRST_MS) % DAY_MS >= 1000) return Number.NaN;
  return timeMs >= FIRST_MS && timeMs <= LAST_MS ? timeMs : Number.NaN;
}

/** Two digits of each number below 100. */
const PAIRS = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, '0'));
/** Days whose text is remembered, by their number modulo this: eleven years of them side by side. */
const DAYS_KEPT = 4096;
const keptDays = new Float64Array(DAYS_KEPT).fill(Number.NaN);
const keptTexts = new Array<string>(DAYS_KEPT).fill('');

/** The text of a day with the `T` behind it. @param day days since the Unix epoch */
function dayText(day: number): string {
  const at = day & (DAYS_KEPT - 1);
  if (keptDays[at] !== day) {
    keptTexts[at] = new Date(day * DAY_MS).toISOString().slice(0, 11);
    keptDays[at] = day;
  }
  return keptTexts[at]!;
}

/**
 * Writes a moment as UTC, `2022-03-04T05:06:07Z`, with `.678` only when it has milliseconds.
 * @param timeMs milliseconds since the Unix epoch, year 0 to 9999
 */
export function formatTimestamp(timeMs: number): string {
  const moment = Math.trunc(timeMs);
  const day = Math.floor(moment / DAY_MS);
  const inDay = moment - day * DAY_MS;
  const second = Math.floor(inDay / 1000);
  const minute = Math.floor(second / 60);
  const hour = Math.floor(minute / 60);
  const text = `${dayText(day)}${PAIRS[hour]}:${PAIRS[minute - hour * 60]}:${PAIRS[second - minute * 60]}`;
  const milliseconds = inDay - second * 1000;
  return milliseconds === 0 ? `${text}Z` : `${text}.${String(milliseconds).padStart(3, '0')}Z`;
}
