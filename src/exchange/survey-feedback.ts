import { getOrPut } from '../domain/get-or-put.ts';
import { OperatorError } from '../domain/operator-error.ts';
import { parseTimestamp } from '../domain/rfc3339.ts';
import { BusyUsers, mayBeNobody } from './busy-users.ts';
import { cellText, ratingOf } from './cell-text.ts';
import type { FilePlan } from './import-plan.ts';
import type { MadeRow } from './made-rows.ts';
import { stateOf } from './order-states.ts';
import type { RefusedRow } from './refused-rows.ts';
import { RepeatShare } from './repeat-share.ts';
import { plainNumber, type Row, textOf } from './rows-to-records.ts';

/** The contents of files, found by reading them through as an import does. */
export interface Survey {
  /** Rows of all files. */
  rows: number;
  /** Rows that an import would refuse, and the first of them by reason, which differ by more than numbers and quoted text. */
  refused: number;
  readonly refusals: Map<string, { readonly first: RefusedRow[]; rows: number }>;
  /** Feedback by its type. */
  readonly types: Map<string, number>;
  /** Feedback whose value is below 0, by its type. */
  readonly negatives: Map<string, number>;
  /** Rows by the state of their order, by the path and the name of the column. */
  readonly states: Map<string, Map<string, Map<string, number>>>;
  /** Rows that are left out by the state of their order, by that. */
  readonly leftOut: Map<string, number>;
  /** Least and largest rating; undefined where no column has ratings that decide about the type. */
  ratingMin: number | undefined;
  ratingMax: number | undefined;
  /** Ratings by how many there are of each; of more different ones none are kept. */
  readonly ratings: Map<number, number>;
  readonly users: BusyUsers;
  /** The share that is repeated, of what has a time. */
  readonly repeats: RepeatShare;
  /** Feedback of times that can hardly be, such as `after now`, and the first of these times. */
  readonly oddTimes: Map<string, { readonly first: string; rows: number }>;
  /** Time of the newest record that is not after now, milliseconds of Unix time; undefined where none has a time. */
  newestMs: number | undefined;
}

/** Clocks and zones differ by less. */
const DAY_MS = 24 * 60 * 60 * 1000;
/** A column with more types than this holds something else. */
const TYPES_MAX = 1000;
/** States of a column that are counted; more are none. */
const STATES_MAX = 50;
/** Reasons that are told apart, and rows of one that are kept. */
const REASONS_MAX = 20;
const REFUSALS_MAX = 3;

export function emptySurvey(): Survey {
  return {
    ...{ rows: 0, refused: 0, refusals: new Map(), types: new Map(), negatives: new Map() },
    ...{ states: new Map(), leftOut: new Map(), oddTimes: new Map(), ratings: new Map() },
    users: new BusyUsers(),
    repeats: new RepeatShare(),
    ...{ ratingMin: undefined, ratingMax: undefined, newestMs: undefined },
  };
}

/** Counts a row of a file, but for what is refused; rows of feedback that items are taken out of are counted as feedback. */
export function addRow(plan: FilePlan, survey: Survey, { cells = [], made }: MadeRow): void {
  if (plan.isOfFeedback) return;
  survey.rows++;
  addStates(plan, survey, cells);
  if ('leftOut' in made) add(survey.leftOut, made.leftOut);
  else if ('record' in made && plan.kind === 'feedback') addFeedback(plan, survey, made.record, cells);
}

/** The user of a row whose id may mean nobody; undefined for any other row. */
export function guestOf({ mapping }: FilePlan, { cells = [] }: MadeRow): string | undefined {
  const id = cellText(textOf(cells[mapping.UserId ?? -1]));
  return mayBeNobody(id) ? id : undefined;
}

/** Counts the states of a row's order. */
function addStates({ path, states = [] }: FilePlan, survey: Survey, cells: Row): void {
  if (states.length === 0) return;
  const columns = getOrPut(survey.states, path, () => new Map<string, Map<string, number>>());
  for (const column of states) {
    const counts = getOrPut(columns, column.name, () => new Map<string, number>());
    const state = stateOf(column, cellText(textOf(cells[column.at])));
    if (counts.size < STATES_MAX || counts.has(state)) add(counts, state);
  }
}

/** Counts one more of several. */
function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** Counts a row that is not stored. */
export function addRefusal(survey: Survey, row: RefusedRow): void {
  survey.refused++;
  const { refusals } = survey;
  const reason = row.reason.replaceAll(/".*?"|\d+/g, '*');
  const others = getOrPut(
    refusals,
    refusals.has(reason) || refusals.size < REASONS_MAX ? reason : '',
    () => ({
      first: [],
      rows: 0,
    }),
  );
  others.rows++;
  if (others.first.length < REFUSALS_MAX) others.first.push(row);
}

/** Counts a row of feedback. @throws OperatorError when its types are too many to be types */
function addFeedback(
  { path, mapping, hasDecimalCommas = false }: FilePlan,
  survey: Survey,
  record: Partial<Record<'FeedbackType' | 'UserId' | 'ItemId' | 'Timestamp' | 'Value', unknown>>,
  cells: Row,
): void {
  if (mapping.FeedbackType === undefined && mapping.Rating !== undefined)
    addRating(survey, cells[mapping.Rating], hasDecimalCommas);
  const { types, negatives } = survey;
  const type = String(record.FeedbackType ?? '');
  add(types, type);
  survey.users.add(String(record.UserId));
  if (types.size > TYPES_MAX) {
    throw new OperatorError(
      `${path}: the column of the feedback type holds more than ${TYPES_MAX} types; name another with --map type=COLUMN`,
    );
  }
  if (Number(record.Value ?? 0) < 0) add(negatives, type);
  const time = String(record.Timestamp ?? '');
  const timeMs = time === '' ? Number.NaN : parseTimestamp(time);
  if (!Number.isNaN(timeMs) && !(Number(record.Value ?? 0) < 0))
    survey.repeats.add(type, String(record.UserId), String(record.ItemId), timeMs);
  const isLate = timeMs > Date.now() + DAY_MS;
  if (isLate || timeMs < 0)
    getOrPut(survey.oddTimes, isLate ? 'after now' : 'before 1970', () => ({ first: time, rows: 0 })).rows++;
  if (!isLate && timeMs > (survey.newestMs ?? Number.NEGATIVE_INFINITY)) survey.newestMs = timeMs;
}

function addRating(survey: Survey, cell: unknown, hasDecimalCommas: boolean): void {
  const text = cellText(String(cell ?? ''));
  const rating = text === '' ? Number.NaN : Number(plainNumber(ratingOf(text), hasDecimalCommas));
  if (!Number.isFinite(rating)) return;
  if (survey.ratings.size < STATES_MAX || survey.ratings.has(rating))
    survey.ratings.set(rating, (survey.ratings.get(rating) ?? 0) + 1);
  survey.ratingMax = Math.max(rating, survey.ratingMax ?? rating);
  survey.ratingMin = Math.min(rating, survey.ratingMin ?? rating);
}
