import { OperatorError } from '../domain/operator-error.ts';
import { isNoEvent, isOfChange } from './column-names.ts';
import { OpenReading } from './open-reading.ts';
import {
  DateOrder,
  isNoTime,
  isOrder,
  readTime,
  TIME_FORMS,
  type TimeForm,
  timeForm,
  timeFormOfNamed,
} from './time-formats.ts';

export interface FoundForm {
  /** Undefined where it holds no times. */
  readonly timeForm: TimeForm | undefined;
  /** The order of day and month that was said, where the file shows the other one. */
  readonly unfitForm?: TimeForm;
}

/** A column of a whole file, some values at a time. */
export type ColumnBatches = AsyncIterable<readonly string[]>;

/**
 * Tells how a column of times is written.
 * @param shown how a message names it
 * @param first its values in the beginning of the file
 * @param more those of the whole file, where its beginning does not tell; empty where it can be read once only
 * @param wish what the caller says; the order of month and day means nothing where a file has other times or shows the
 *   other order, as one of several may
 * @throws OperatorError when it is not understood, or is not of the form that was said
 */
export async function findTimeForm(
  shown: string,
  first: readonly string[],
  more: ColumnBatches,
  wish: TimeForm | undefined,
): Promise<FoundForm> {
  const values = first.filter((value) => !isNoTime(value));
  const form = timeFormOfNamed(values);
  if (isOrder(wish)) return orderSaid(values, more, form, wish);
  if (wish !== undefined) {
    refuseUnfit(shown, values, form, wish);
    return { timeForm: wish };
  }
  const isEmpty = values.length === 0;
  const found = form === 'open' || isEmpty ? await readOn(more, form === 'open') : form;
  // What is no time is refused row by row.
  if (found !== 'open' && (found !== undefined || isEmpty)) return { timeForm: found };
  const example = exampleOf(values.find((value) => timeForm([value]) === undefined) ?? values[0]);
  if (found === 'open') {
    throw new OpenReading(
      'date-order',
      `${shown}${example} do not tell whether the month or the day comes first`,
      '; say --time-format month-first or day-first',
    );
  }
  const other = values.find((value) => timeForm([values[0]!, value]) === undefined);
  if (values.every((value) => timeForm([value]) !== undefined) && other !== undefined) {
    throw new OperatorError(
      `${shown} are of several forms, such as ${JSON.stringify(values[0])} and ${JSON.stringify(other)}; --time-format says which, and rows of another are refused`,
    );
  }
  throw new OpenReading(
    'time',
    `${shown}${example} are not understood`,
    `; say --time-format ${TIME_FORMS.slice(0, -1).join(', ')} or ${TIME_FORMS.at(-1)}`,
  );
}

function exampleOf(value: string | undefined): string {
  return value === undefined ? '' : ` (such as ${JSON.stringify(value)})`;
}

/** The order that was said, unless the file has other times or a number above 12 shows the other order. */
async function orderSaid(
  values: readonly string[],
  more: ColumnBatches,
  form: TimeForm | 'open' | undefined,
  wish: 'month-first' | 'day-first',
): Promise<FoundForm> {
  const isOther = form !== undefined && form !== 'open' && !isOrder(form);
  if (isOther && values.some((value) => readTime(value, wish) === undefined)) return { timeForm: form };
  const order = new DateOrder();
  for (const value of values) order.add(value);
  if (order.shown === undefined && form !== undefined) {
    for await (const batch of more) {
      for (const value of batch) order.add(value);
      if (order.shown !== undefined) break;
    }
  }
  const { shown } = order;
  return shown === undefined || shown === wish ? { timeForm: wish } : { timeForm: shown, unfitForm: wish };
}

/** @throws OperatorError when fewer than half of the values are of the form that was said, and all of another */
function refuseUnfit(
  shown: string,
  values: readonly string[],
  form: TimeForm | 'open' | undefined,
  wish: TimeForm,
): void {
  const unfit = values.filter((value) => readTime(value, wish) === undefined);
  if (form === undefined || form === wish || unfit.length * 2 <= values.length) return;
  const fitting = form === 'open' ? 'month-first or day-first' : form;
  throw new OperatorError(`${shown}${exampleOf(unfit[0])} are not ${wish}; --time-format ${fitting} fits`);
}

/**
 * Reads on until there are times, and to where the order of their numbers is told.
 * @param isOpen whether the beginning has dates that do not tell it
 */
export async function readOn(more: ColumnBatches, isOpen: boolean): Promise<TimeForm | 'open' | undefined> {
  let wasOpen = isOpen;
  const order = new DateOrder();
  for await (const batch of more) {
    if (!wasOpen) {
      const form = timeForm(batch.filter((value) => timeForm([value]) !== undefined));
      if (form === undefined) continue;
      if (form !== 'open') return form;
      wasOpen = true;
    }
    for (const value of batch) order.add(value);
    if (order.isSure) break;
  }
  return wasOpen ? (order.form ?? 'open') : undefined;
}

/** Part of a date with its year, in whatever language or order. */
const LIKE_TIME = /(?:19|20)\d\d\D{1,12}\d|\d\D{1,12}(?:19|20)\d\d|\d{1,2}[-/.]\d{1,2}[-/.]\d\d/;
/** Unix time from 2008 to 2033, seconds: few other numbers of ten digits are all of it. */
const [LIKELY_FROM, LIKELY_TO] = [1.2e9, 2e9];

/**
 * The reading that is open where all feedback would be of now: no row has a time in its column of times, or columns of unknown
 * names look as if they had times.
 * @param at the column of times
 * @param free the values of a column that nothing else is read from
 */
export function timelessReading(
  path: string,
  columns: readonly string[],
  at: number | undefined,
  free: (at: number) => readonly string[],
): OpenReading | undefined {
  const times = columns.filter((name, each) => !isNoEvent(name) && mayBeTimes(free(each)));
  const likely = times.find((name) => !isOfChange(name)) ?? times[0];
  if (at === undefined && likely === undefined) return undefined;
  const finding =
    at === undefined
      ? `${path}: no column is known to have the times of the feedback, and "${likely}" looks as if it had times`
      : `${path}: no row has a time in "${columns[at]}"`;
  const advice = '; --map time=COLUMN names the column, and --missing-time now stores all of it as of now';
  return new OpenReading('time', finding, advice, columns.join(', '), likely ?? '');
}

/** True when more than half of the values look like times. */
function mayBeTimes(values: readonly string[]): boolean {
  const given = values.filter((value) => !isNoTime(value));
  const form = timeForm(given);
  if (form === 'date' || form === 'open' || isOrder(form)) return true;
  const alike = given.filter((value) => LIKE_TIME.test(value) || isUnixTime(Number(value)));
  return alike.length * 2 > given.length;
}

function isUnixTime(number: number): boolean {
  return [1, 1000].some((per) => number >= LIKELY_FROM * per && number < LIKELY_TO * per);
}
