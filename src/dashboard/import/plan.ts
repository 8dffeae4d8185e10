import { counted, groupDigits } from '../../domain/group-digits.ts';
import { fillContinued } from '../../exchange/continued-rows.ts';
import { FIELDS, type Kind, type Mapping, REQUIRED } from '../../exchange/guess-columns.ts';
import {
  columnOf,
  type FilePlan,
  itemsWithin,
  type Reading,
  type Wishes,
  whyTimeless,
} from '../../exchange/import-plan.ts';
import { type MadeRow, madeRows } from '../../exchange/made-rows.ts';
import {
  describeZeros,
  judgeRefused,
  likedFrom,
  readProposed,
  typeByNames,
  withRatingMin,
} from '../../exchange/proposals.ts';
import { textsOf } from '../../exchange/read-rows.ts';
import { guestState, type Made, type Row, recordOf } from '../../exchange/rows-to-records.ts';
import { addRefusal, addRow, emptySurvey, guestOf, type Survey } from '../../exchange/survey-feedback.ts';
import { timeFormOfNamed } from '../../exchange/time-formats.ts';
import { type OpenedFile, textOf } from './read-file.ts';

const SHOWN_ROWS = 5;

/** What was said on the page; the rest is proposed. */
export interface Said extends Pick<Wishes, 'leftOut' | 'guests' | 'zeroRating' | 'missingTime' | 'timeForm'> {
  readonly kind?: Kind;
  readonly hasHeader?: boolean;
  /** The sign between columns. */
  readonly delimiter?: string;
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

/** What the service has that a proposal goes by. */
export interface Service {
  readonly positiveTypes: readonly string[];
  readonly hasItems: boolean;
}

/** A file, what its first rows are taken for, and the plan by what was said. */
export interface Planned extends Reading {
  readonly opened: OpenedFile;
  /** The first times, as they are written. */
  readonly times: readonly string[];
}

/** What a file holds by its first rows: as `furze init` takes it where each question is answered by Enter. */
export async function look(
  opened: OpenedFile,
  { kind, mapping, hasHeader, delimiter = '' }: Said,
): Promise<Reading> {
  const { file, head, isWhole, encoding } = opened;
  const text = { path: file.name, head, isWhole, reread: () => textOf(opened, () => {}) };
  const sign = /["\r\n]/.test(delimiter) || delimiter === '' ? undefined : delimiter;
  return readProposed(text, { kind, mapping, hasHeader, encoding, delimiter: sign });
}

/** The plan of a file by what was said of its rows. */
export function planOf(opened: OpenedFile, reading: Reading, said: Said): Planned {
  const { type, lowType, separator, timeForm, missingTime, leftOut } = said;
  const all = { type, lowType, separator: separator || undefined, timeForm, missingTime, leftOut };
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  const plan: FilePlan = { ...reading.plan, ...given };
  const times = plan.kind === 'users' ? [] : columnOf(reading.body, plan.mapping.Timestamp).filter(Boolean);
  return { ...reading, opened, plan, times };
}

/** Choices that are missing before a file can be read through. */
export function openQuestions({ plan, body, times }: Planned): string[] {
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
  const taken = { ...withRatingMin(plan), guests: undefined };
  const [all, named] = [emptySurvey(), emptySurvey()];
  const apart = new Set<string>();
  await readThrough(opened, taken, tell, (row) => {
    const guest = guestOf(plan, row);
    if (guest !== undefined) apart.add(guest);
    count(taken, all, row);
    count(taken, named, guest === undefined ? row : { ...row, made: { leftOut: guestState(guest) } });
  });
  const guests = [...all.users.find().nobody.keys()];
  if (guests.length === apart.size) return { all, named, guests };
  // A zero may be a user like others.
  const others = emptySurvey();
  const without = { ...taken, guests };
  await readThrough(opened, without, tell, (row) => count(without, others, row));
  return { all, named: others, guests };
}

function count(plan: FilePlan, survey: Survey, row: MadeRow): void {
  addRow(plan, survey, row);
  if ('refusal' in row.made)
    addRefusal(survey, { path: plan.path, line: row.line, reason: row.made.refusal });
}

async function readThrough(
  opened: OpenedFile,
  plan: FilePlan,
  tell: (share: number) => boolean,
  onRow: (row: MadeRow) => void,
): Promise<void> {
  let share = 0;
  const text = textOf(opened, (bytes) => {
    share = bytes / Math.max(1, opened.file.size);
  });
  for await (const rows of madeRows(plan, text)) {
    rows.forEach(onRow);
    if (!tell(share)) break;
  }
}

/** A proposal that can be taken or not. */
export interface Proposal {
  readonly text: string;
  readonly isTaken: boolean;
  /** What it means to take it or not. */
  readonly means: (isTaken: boolean) => Said;
}

/** What can be said before a file is read through. */
export function choicesOf({ plan, times }: Planned, said: Said): Proposal[] {
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
