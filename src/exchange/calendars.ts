/** Years of other calendars, as shops in Thailand, Iran and Japan write them, as those of the Gregorian one. */

/** Thai years from 1900 to 2057, which no feedback has in another calendar, and Persian ones from 1921 to 2041. */
const [THAI_FROM, THAI_TO, THAI_AHEAD] = [2443, 2600, 543];
const [PERSIAN_FROM, PERSIAN_TO, PERSIAN_BEHIND] = [1300, 1420, 621];
/** What may be a date of one of these years: ISO 8601 with a zone is Gregorian. */
export const OTHER_YEAR = /^(?:1[34]|2[456])\d\d(?!.*T.*(?:Z|[+-]\d\d:?\d\d)$)/;
/** The Persian new year is on one of the days from 20 March on; its first six months have 31 days, the others 30. */
const [NEW_YEAR_FROM, NEW_YEAR_DAYS, LONG_MONTHS] = [19, 4, 6];
const DAY_MS = 86_400_000;

/** Years before the first of an era, by its name; a new year of one is written `元`. */
const ERAS = { 明治: 1867, 大正: 1911, 昭和: 1925, 平成: 1988, 令和: 2018, 民國: 1911, 民国: 1911 } as const;
const ERA = /(明治|大正|昭和|平成|令和|民國|民国) ?(\d{1,3}|元)(?=[年./-])/;
const SIGNS = /(\d{4}) ?年 ?(\d{1,2}) ?月 ?(\d{1,2}) ?日?/;

let persian: Intl.DateTimeFormat | undefined;

/** A date in signs of Chinese and Japanese with its year, of an era or not, in front of dashes: `2024-3-5` of `令和6年3月5日`. */
export function withoutSigns(text: string): string {
  const inYears = text.replace(ERA, (_, era: keyof typeof ERAS, year) =>
    String(ERAS[era] + (year === '元' ? 1 : Number(year))),
  );
  return inYears.replace(SIGNS, '$1-$2-$3');
}

/** A day in the Gregorian calendar; one of another calendar than the Thai and the Persian stays as it is. */
export function gregorian(day: readonly [year: string, month: string, date: string]): typeof day {
  const year = Number(day[0]);
  if (year >= THAI_FROM && year <= THAI_TO) return [String(year - THAI_AHEAD), day[1], day[2]];
  if (year < PERSIAN_FROM || year > PERSIAN_TO) return day;
  const [month, date] = [Number(day[1]), Number(day[2])];
  const days = (month - 1) * 30 + Math.min(month - 1, LONG_MONTHS) + date - 1;
  const found = new Date(newYear(year) + days * DAY_MS);
  return [String(found.getUTCFullYear()), String(found.getUTCMonth() + 1), String(found.getUTCDate())];
}

/** When a Persian year begins, milliseconds of Unix time. */
function newYear(year: number): number {
  persian ??= new Intl.DateTimeFormat('en-u-ca-persian-nu-latn', {
    timeZone: 'UTC',
    month: 'numeric',
    day: 'numeric',
  });
  const days = Array.from({ length: NEW_YEAR_DAYS }, (_, at) =>
    Date.UTC(year + PERSIAN_BEHIND, 2, NEW_YEAR_FROM + at),
  );
  return days.find((day) => persian!.format(day).startsWith('1/1')) ?? days[1]!;
}
