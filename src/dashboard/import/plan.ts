import { counted, groupDigits } from '../../domain/group-digits.ts';
import { cellText } from '../../exchange/cell-text.ts';
import { keyOfTitles } from '../../exchange/column-names.ts';
import { type ColumnBatches, readOn } from '../../exchange/column-times.ts';
import { fillContinued } from '../../exchange/continued-rows.ts';
import {
  FIELDS,
  type Guess,
  guess,
  type Kind,
  type Mapping,
  REQUIRED,
} from '../../exchange/guess-columns.ts';
import type { TextEncoding } from '../../exchange/guess-encoding.ts';
import {
  type FilePlan,
  headRows,
  itemsWithin,
  planRows,
  type Wishes,
  whyTimeless,
} from '../../exchange/import-plan.ts';
import { madeRows } from '../../exchange/made-rows.ts';
import {
  describeZeros,
  judgeRefused,
  likedFrom,
  typeByNames,
  withRatingMin,
} from '../../exchange/proposals.ts';
import { textsOf } from '../../exchange/read-rows.ts';
import { type Made, type Row, recordOf } from '../../exchange/rows-to-records.ts';
import { add, addFeedback, addRefusal, emptySurvey, type Survey } from '../../exchange/survey-feedback.ts';
import { type TimeForm, timeFormOfNamed } from '../../exchange/time-formats.ts';
import { type OpenedFile, rowsOf, textOf } from './read-file.ts';

const SHOWN_ROWS = 5;

/** What was said on the page; the rest is proposed. */
export interface Said extends Pick<Wishes, 'leftOut' | 'guests' | 'zeroRating' | 'missingTime' | 'timeForm'> {
  readonly kind?: Kind;
  readonly hasHeader?: boolean;
  readonly mapping?: Mapping;
  readonly type?: string;
  readonly lowType?: string;
  /** Empty where ratings do not decide. */
  readonly ratingMin?: string;
  readonly separator?: string;
  /** The items that rows of feedback name are stored, too. */
  readonly takesItems?: boolean;
  /** Rows that cannot be stored are passed over. */
  readonly skipsBad?: boolean;
}

/** A file, its first rows and what they are taken for. */
export interface Looked {
  readonly opened: OpenedFile;
  readonly rows: readonly Row[];
  readonly start: Guess;
}

/** What the service has that a proposal goes by. */
export interface Service {
  readonly positiveTypes: readonly string[];
  readonly hasItems: boolean;
}

/** A file with what its first rows are taken for: as `furze init` takes them where each question is answered by Enter. */
export async function look(opened: OpenedFile): Promise<Looked> {
  const { file, head, isWhole, format, keys, apiKind } = opened;
  const rows = await headRows(file.name, head, isWhole, format, keys);
  const whole = {
    opened,
    rows,
    start: { kind: apiKind ?? 'feedback', hasHeader: false, mapping: {} },
  } as const;
  if (apiKind !== undefined || rows.length === 0) return whole;
  const texts = rows.map(textsOf);
  const found = guess(format.name === 'ndjson' ? [[...keys], ...texts] : texts);
  const start = { ...found, hasHeader: format.name === 'delimited' && found.hasHeader };
  return { ...whole, start: withLikelyColumns({ ...whole, start }) };
}

/** With the column of times that looks like one, and with titles in place of a key where one user has several rows. */
function withLikelyColumns(looked: Looked): Guess {
  const { start, rows } = looked;
  const names = columnNames(looked);
  const { Comment: _, UserId, ItemId, ...rest } = start.mapping;
  const keys = columnOf(rows, UserId ?? ItemId);
  const other = keyOfTitles(names, start.mapping) || planOf(looked, {}).plan.otherKey;
  const key = other === undefined || new Set(keys).size === keys.length ? -1 : names.indexOf(other);
  const both = { UserId: UserId ?? key, ItemId: ItemId ?? key };
  const isFeedback = start.kind !== 'feedback' && key >= 0;
  const known: Guess = isFeedback ? { ...start, kind: 'feedback', mapping: { ...rest, ...both } } : start;
  const { body, plan } = planOf({ ...looked, start: known }, {});
  const at = names.indexOf(whyTimeless(plan, body)?.guessInWords ?? '');
  const isOpen = at >= 0 && known.mapping.Timestamp === undefined;
  return isOpen ? { ...known, mapping: { ...known.mapping, Timestamp: at } } : known;
}

function columnNames({ opened, rows, start }: Looked, hasHeader = start.hasHeader): readonly string[] {
  if (opened.format.name === 'ndjson') return opened.keys;
  return rows[0]!.map((name, at) => (hasHeader ? String(name) : `column ${at + 1}`));
}

/** How rows become records by what was said, and what the first of them tell. */
export function planOf(
  looked: Looked,
  said: Said,
): { readonly plan: FilePlan; readonly body: readonly Row[]; readonly times: readonly string[] } {
  const { opened, rows, start } = looked;
  const { file, format, apiKind, encoding } = opened;
  const { kind = start.kind, hasHeader = start.hasHeader, mapping: all = start.mapping } = said;
  const body = rows.slice(hasHeader ? 1 : 0);
  const isOfFeedback = kind === 'items' && start.kind === 'feedback';
  const isOwn = ([field]: [string, number]) =>
    FIELDS[kind].includes(field) && !(isOfFeedback && field === 'Timestamp' && said.mapping === undefined);
  const mapping: Mapping = Object.fromEntries(Object.entries(all).filter(isOwn));
  const times = kind === 'users' ? [] : columnOf(body, mapping.Timestamp);
  const form = timeFormOfNamed(times);
  const wishes = {
    ...{ type: said.type, lowType: said.lowType, separator: said.separator || undefined },
    ...{ leftOut: said.leftOut, guests: said.guests, zeroRating: said.zeroRating },
    ...{ missingTime: said.missingTime, encoding: encoding as TextEncoding },
    timeForm: said.timeForm ?? (form === 'open' ? undefined : form),
  };
  const columns = {
    kind,
    columns: columnNames(looked, hasHeader),
    hasHeader,
    isOfFeedback,
    mapping,
    others: all,
  };
  const plan = planRows({ path: file.name, format, wishes }, columns, body);
  return { body, times, plan: { ...plan, isApiForm: apiKind !== undefined } };
}

/** Reads a column on to where its form or the order of month and day is told; undefined where nothing in the file tells. */
export async function formInFile(
  opened: OpenedFile,
  at: number,
  isOpen: boolean,
): Promise<TimeForm | undefined> {
  async function* values(): ColumnBatches {
    for await (const { rows } of rowsOf(opened))
      yield rows.flatMap((row) => ('cells' in row ? textsOf([row.cells[at]]).map(cellText) : []));
  }
  const form = await readOn(values(), isOpen);
  return form === 'open' ? undefined : form;
}

/** Choices that are missing before a file can be read through. */
export function openQuestions({ plan, body, times }: ReturnType<typeof planOf>): string[] {
  const { kind, mapping, timeForm: form, isApiForm } = plan;
  if (isApiForm) return [];
  const questions = REQUIRED[kind]
    .filter((field) => !(field in mapping))
    .map((field) => `which column is ${field}`);
  const { UserId: user, ItemId: item } = mapping;
  if (kind === 'feedback' && user !== undefined && user === item)
    questions.push('which of UserId and ItemId is another column');
  if (times.length === 0 && whyTimeless(plan, body) !== undefined)
    questions.push('which column is Timestamp, or that all of it is of now');
  if (times.length === 0 || form !== undefined) return questions;
  const isOpen = timeFormOfNamed(times) === 'open';
  return [
    ...questions,
    isOpen
      ? `how the times are written, since nothing tells whether the day or the month of "${times[0]}" comes first`
      : 'how the times are written',
  ];
}

/** What all rows of a file tell. */
export interface Findings {
  readonly all: Survey;
  /** The same without the rows of guests under one id, and the ids. */
  readonly named: Survey;
  readonly guests: readonly string[];
}

/** Reads a file through. @param tell told the share of it that is read, 0 to 1; stops where it gives false */
export async function findingsOf(
  opened: OpenedFile,
  plan: FilePlan,
  tell: (share: number) => boolean = () => true,
): Promise<Findings> {
  const { guests: _, ...taken } = withRatingMin(plan);
  const all = await readThrough(opened, taken, tell);
  const guests = [...all.users.find().nobody.keys()];
  const named = guests.length === 0 ? all : await readThrough(opened, { ...taken, guests }, tell);
  return { all, named, guests };
}

async function readThrough(
  opened: OpenedFile,
  plan: FilePlan,
  tell: (share: number) => boolean,
): Promise<Survey> {
  const survey = emptySurvey();
  let share = 0;
  const text = textOf(opened, (bytes) => {
    share = bytes / Math.max(1, opened.file.size);
  });
  for await (const rows of madeRows(plan, text)) {
    survey.rows += rows.length;
    for (const { line, cells = [], made } of rows) {
      if ('leftOut' in made) add(survey.leftOut, made.leftOut);
      else if ('refusal' in made) addRefusal(survey, { path: plan.path, line, reason: made.refusal });
      else if (plan.kind === 'feedback') addFeedback(plan, survey, made.record, cells);
    }
    if (!tell(share)) break;
  }
  return survey;
}

/** A proposal that can be taken or not. */
export interface Proposal {
  readonly text: string;
  readonly isTaken: boolean;
  /** What it means to take it or not. */
  readonly means: (isTaken: boolean) => Said;
}

/** What can be said before a file is read through. */
export function choicesOf({ plan, times }: ReturnType<typeof planOf>, said: Said): Proposal[] {
  const { kind, isApiForm, hasHeader, format, states = [] } = plan;
  const proposals: (Proposal | false)[] = [
    states.length > 0 && {
      text: `Leave out orders that were cancelled or came back (${states.map(({ name }) => name).join(', ')})`,
      isTaken: said.leftOut === undefined,
      means: (isTaken) => ({ leftOut: isTaken ? undefined : [] }),
    },
    format.name === 'delimited' && {
      text: 'The first row names the columns',
      isTaken: hasHeader,
      means: (isTaken) => ({ hasHeader: isTaken }),
    },
    kind === 'feedback' &&
      !isApiForm &&
      times.length === 0 && {
        text: 'It tells no times: all of it is of now',
        isTaken: said.missingTime === 'now',
        means: (isTaken) => ({ missingTime: isTaken ? 'now' : undefined }),
      },
  ];
  return proposals.filter((one) => one !== false);
}

/** A file that can be sent. */
export interface Settled {
  /** One after the other: items that feedback tells of, then the feedback. */
  readonly plans: readonly FilePlan[];
  readonly proposals: readonly Proposal[];
  /** Why it is not to be sent; undefined where it can be. */
  readonly stop: string | undefined;
}

/** The plan with what all rows tell, as `furze init` proposes it, and with what was said. */
export function settle(planned: FilePlan, findings: Findings, said: Said, service: Service): Settled {
  const { guests = findings.guests } = said;
  const survey = guests.length === 0 ? findings.all : findings.named;
  const zeros = planned.kind === 'feedback' ? describeZeros(survey) : undefined;
  const { zeroRating = zeros === undefined ? undefined : 'none' } = said;
  const isRated = survey.ratingMax !== undefined;
  const proposed = isRated ? String(likedFrom(survey.ratingMax!)) : '';
  const { ratingMin = proposed } = said;
  const plan: FilePlan = {
    ...{ ...planned, guests, zeroRating },
    type: said.type ?? typeOf(planned, service),
    ratingMin: isRated && ratingMin !== '' ? Number(ratingMin) : undefined,
  };
  const within = itemsWithin(plan);
  const takesItems = within !== undefined && (said.takesItems ?? !service.hasItems);
  const { isFew, lacking } = judgeRefused(survey);
  const { skipsBad = isFew } = said;
  const bad = `${counted(survey.refused, 'rows')} of ${groupDigits(survey.rows)} cannot be stored`;
  const proposals: (Proposal | false)[] = [
    findings.guests.length > 0 && {
      text: `Leave out ${describeGuests(findings)}, who looks like all guests together`,
      isTaken: guests.length > 0,
      means: (isTaken) => ({ guests: isTaken ? undefined : [] }),
    },
    zeros !== undefined && {
      text: `${zeros}: 0 means that none was given, as where it is empty, so that the row is a "${plan.type}" all the same`,
      isTaken: zeroRating === 'none',
      means: (isTaken) => ({ zeroRating: isTaken ? 'none' : 'lowest' }),
    },
    within !== undefined && {
      text: 'Store the items that its rows name, too, with their titles and categories',
      isTaken: takesItems,
      means: (isTaken) => ({ takesItems: isTaken }),
    },
    survey.refused > 0 && {
      text: `Pass over what cannot be stored: ${bad}${lacking === '' ? '' : `, among them ${lacking}`}${isFew ? '' : '. That many are rather a sign of a column that was mistaken, or of times read wrongly'}`,
      isTaken: skipsBad,
      means: (isTaken) => ({ skipsBad: isTaken }),
    },
  ];
  return {
    plans: takesItems ? [within.items, within.feedback] : [plan],
    proposals: proposals.filter((one) => one !== false),
    stop: survey.refused > 0 && !skipsBad ? `${bad}.` : undefined,
  };
}

/** The type of rows without one: the only positive one of the service, else what the names of the file tell. */
function typeOf(plan: FilePlan, { positiveTypes: positive }: Service): string {
  const likely = plan.mapping.Rating === undefined ? typeByNames(plan) : plan.type;
  return positive.length === 0 || (positive.length > 1 && positive.includes(likely)) ? likely : positive[0]!;
}

function describeGuests({ all, guests }: Findings): string {
  const rows = all.users.find().nobody;
  return guests.map((id) => `${counted(rows.get(id) ?? 0, 'rows')} of user ${id}`).join(', ');
}

/** A row as it will be stored, a text a field, or why it is not. */
export type Preview = Exclude<Made, { readonly record: object }> | { readonly cells: readonly string[] };

/** The fields of a preview. */
export function previewFields(kind: Kind): readonly string[] {
  return FIELDS[kind].filter((field) => !['Rating', 'State', 'Clock'].includes(field));
}

/** The first rows as they will be stored, with times as they are written while it is open how. */
export function previewOf(body: readonly Row[], plan: FilePlan): Preview[] {
  const { Timestamp: at, ...others } = plan.mapping;
  const isOpen = areTimesOpen(plan);
  const used = isOpen ? { ...plan, mapping: others as FilePlan['mapping'] } : plan;
  const shownRows = body.slice(0, SHOWN_ROWS).map(fillContinued(plan.continued));
  return shownRows.map((row) => {
    const made = recordOf(row, used);
    if ('leftOut' in made) return { leftOut: made.leftOut };
    if ('refusal' in made) return made;
    const record = isOpen ? { ...made.record, Timestamp: row[at!] } : made.record;
    return { cells: previewFields(plan.kind).map((field) => shown(Reflect.get(record, field))) };
  });
}

/** True when there are times whose form is open. */
export function areTimesOpen({ kind, mapping, timeForm: form, isApiForm }: FilePlan): boolean {
  return !isApiForm && kind !== 'users' && mapping.Timestamp !== undefined && form === undefined;
}

function shown(value: unknown): string {
  return Array.isArray(value) ? value.join(', ') : textsOf([value])[0]!;
}

/** The values that a column has. */
function columnOf(body: readonly Row[], at: number | undefined): string[] {
  return at === undefined
    ? []
    : body.map((row) => cellText(textsOf([row[at]])[0]!)).filter((value) => value !== '');
}
