import { OperatorError } from '../domain/operator-error.ts';
import { cellText, ratingOf } from './cell-text.ts';
import { mappingByNames } from './column-names.ts';
import { findTimeForm, timelessReading } from './column-times.ts';
import { findContinued } from './continued-rows.ts';
import { oneColumn, type RowFormat } from './file-format.ts';
import { guess, type Kind, type Mapping } from './guess-columns.ts';
import type { TextEncoding } from './guess-encoding.ts';
import { type ColumnPairs, kindByFields, mapColumns, whyLacking } from './map-columns.ts';
import { cellsOf, headRows, openHead, whyNoRows } from './open-head.ts';
import { OpenReading } from './open-reading.ts';
import { findStateColumns } from './order-states.ts';
import { readRows, textsOf } from './read-rows.ts';
import {
  API_COLUMNS,
  apiKindOf,
  DEFAULT_SEPARATOR,
  hasDecimalCommas,
  isExport,
  type Plan,
  type Row,
  separatorOf,
  type ZeroRating,
} from './rows-to-records.ts';
import type { TimeForm } from './time-formats.ts';
import { otherKey, titleOfItems, unsteadyIn, whyNoItems } from './told-by-rows.ts';

export interface FilePlan extends Plan {
  readonly path: string;
  readonly encoding: TextEncoding;
  readonly format: RowFormat;
  readonly hasHeader: boolean;
  /** Name of each column, from the header or, for JSON, the keys; `column 1` and so on where there is none. */
  readonly columns: readonly string[];
  readonly isApiForm: boolean;
  /** The file holds names of columns and no row. */
  readonly isEmpty?: boolean | undefined;
  /** The items that rows of feedback name with title and category: the first row of each that has these. */
  readonly isOfFeedback?: boolean | undefined;
  /** The columns of titles, categories and labels that were named in a file of feedback, with the item's own. */
  readonly itemFields?: Mapping | undefined;
  /** The columns that something is read from, or would be in a file of another kind. */
  readonly taken?: readonly number[] | undefined;
  /** The column that may have the key that is missing, if the rows are of feedback. */
  readonly otherKey?: string | undefined;
  /** The columns that tell something else in other rows of one item, such as the category of a customer. */
  readonly unsteady?: readonly number[] | undefined;
  /** The column of titles of items, told by its content. */
  readonly titleAt?: number | undefined;
  /** Why no column has the items, such as lists in cells; empty where that is not known. */
  readonly noItems?: string | undefined;
  /** Among its first rows there are values or ratings below 0. */
  readonly hasNegatives?: boolean | undefined;
  /** The order of day and month that was said, where the file shows the other one. */
  readonly unfitForm?: TimeForm | undefined;
}

/** Wishes of the caller for a file; the rest is guessed. */
export interface Wishes {
  readonly kind?: Kind | undefined;
  readonly map?: ColumnPairs | undefined;
  /** All columns by their fields, of which none is guessed. */
  readonly mapping?: Mapping | undefined;
  readonly type?: string | undefined;
  /** A rating from here on is of `type`, a lower one of `lowType`. */
  readonly ratingMin?: number | undefined;
  readonly lowType?: string | undefined;
  readonly separator?: string | undefined;
  /** The sign between columns. */
  readonly delimiter?: string | undefined;
  readonly timeForm?: TimeForm | undefined;
  readonly encoding?: TextEncoding | undefined;
  readonly hasHeader?: boolean | undefined;
  readonly missingTime?: 'now' | undefined;
  readonly guests?: readonly string[] | undefined;
  readonly zeroRating?: ZeroRating | undefined;
  /** States of orders whose rows are left out. */
  readonly leftOut?: readonly string[] | undefined;
  /** Cells are those that `export --raw` writes. */
  readonly isRaw?: boolean | undefined;
}

export const DEFAULT_TYPE = 'like';
export const DEFAULT_LOW_TYPE = 'read';

/** Text by which columns are guessed. */
export const HEAD_CHARACTERS = 64 * 1024;

/** A text that is a file's, or as if it were one. */
export interface PlannedText {
  /** How messages name it. */
  readonly path: string;
  /** Its beginning, of HEAD_CHARACTERS or all of it; the last line may be cut off. */
  readonly head: string;
  readonly isWhole: boolean;
  /** The whole text from its beginning; absent where it can be read once only. */
  readonly reread?: (() => AsyncIterable<string>) | undefined;
}

/** A plan by the first rows of a file. */
export interface Reading {
  readonly plan: FilePlan;
  /** The first rows, without names of columns. */
  readonly body: readonly Row[];
  /** Columns by the fields that they would be of in a file of any kind. */
  readonly guessed: Mapping;
  /** The fault that keeps the plan from being used; undefined where there is none. */
  readonly open?: OperatorError | undefined;
}

/**
 * Guesses by the first text of a file how it becomes records.
 * @param known what its data set says of it, which goes before every guess
 * @throws OperatorError when it is empty, a needed column is not there or times are not understood
 */
export async function planFile(
  path: string,
  head: string,
  isWhole: boolean,
  wishes: Wishes,
  known: Partial<FilePlan> = {},
  reread?: PlannedText['reread'],
): Promise<FilePlan> {
  const { plan, open } = await readPlan({ path, head, isWhole, reread }, wishes, known);
  if (open !== undefined) throw open;
  return plan;
}

/** As `planFile`, with what is told where something is open. @throws OperatorError when it is empty, or for a column that is not there */
export async function readPlan(
  { path, head, isWhole, reread }: PlannedText,
  wishes: Wishes,
  known: Partial<FilePlan> = {},
): Promise<Reading> {
  const asked = (wishes.map ?? []).map(([, column]) => column);
  const { format, keys, rows } = await openHead(path, head, isWhole, wishes, known, asked);
  const base = basePlan(path, format, wishes);
  if (known.mapping !== undefined) {
    const rest = { columns: [], mapping: {}, hasHeader: false, isApiForm: false, timeForm: undefined };
    const plan = { ...base, kind: wishes.kind ?? 'feedback', ...rest, ...known, format };
    return { plan, body: rows, guessed: known.mapping };
  }
  const kindByKeys = wishes.map === undefined ? apiKindOf(keys) : undefined;
  // The export of a store that has no records of a kind is an empty text.
  const apiKind = rows.length === 0 && head.trim() === '' ? wishes.kind : kindByKeys;
  if (apiKind !== undefined) {
    const more = { columns: API_COLUMNS, hasHeader: false, mapping: {}, timeForm: undefined };
    const plan = { ...base, kind: wishes.kind ?? apiKind, isApiForm: true, ...more };
    return { plan, body: await headRows(path, head, isWhole, format, API_COLUMNS), guessed: {} };
  }
  if (rows.length === 0) throw new OperatorError(`${path} ${whyNoRows(head, isWhole, format)}`);
  const texts = format.name === 'ndjson' ? [keys, ...rows.map(textsOf)] : rows.map(textsOf);
  // A column that was asked for by its name tells that the first row has the names.
  const isNamed = asked.some((column) => texts[0]!.includes(column));
  const found = guess(texts, isNamed || wishes.hasHeader === true);
  const guessed = wishes.mapping ?? found.mapping;
  const kind = wishes.kind ?? kindByFields(found.kind, found.mapping, wishes.map);
  const hasHeader =
    format.name === 'delimited' &&
    (wishes.hasHeader ?? (found.hasHeader || asked.some((column) => !/^column \d+$/.test(column))));
  const columns = format.name === 'ndjson' ? keys : namesOf(rows[0]!, hasHeader);
  const isOfFeedback = kind === 'items' && found.kind === 'feedback' && !isExport(kind, columns);
  const likely = isOfFeedback && wishes.mapping === undefined ? withoutTime(guessed) : guessed;
  const parted = format.name !== 'delimited' || columns.length > 1 ? undefined : oneColumn(path, head);
  const { mapping, itemFields } = mapColumns({ path, kind, columns }, likely, wishes.map, parted);
  const body = rows.slice(hasHeader ? 1 : 0);
  const ofFile = { kind, columns, hasHeader, isOfFeedback, mapping, others: guessed };
  const plan = { ...planRows({ path, format, wishes }, ofFile, body), itemFields };
  const isEmpty = hasHeader && isWhole && body.length === 0;
  const fault = whyLacking(plan, plan.otherKey, parted);
  const more = fault === undefined && reread !== undefined ? reread() : none();
  const batches = cellsOf(readRows(path, more, format, keys));
  const timed = await timesOf(plan, body, batches, wishes.timeForm).catch((error: unknown) => {
    if (!(error instanceof OperatorError)) throw error;
    return error;
  });
  const isUnknown = timed instanceof OpenReading && timed.open === 'time';
  const timeless = { ...plan, mapping: withoutTime(mapping) };
  if (isUnknown && wishes.missingTime === 'now') return { plan: timeless, body, guessed, open: fault };
  const whole = { ...plan, isEmpty, ...(timed instanceof OperatorError ? {} : timed) };
  const open = isUnknown
    ? timed.of(columns, whyTimeless(timeless, body)?.guessInWords)
    : timed instanceof OperatorError
      ? timed
      : whyTimeless(whole, body);
  return { plan: whole, body, guessed, open: fault ?? open };
}

/** The columns of a file of rows, as guessed or said. */
interface KnownColumns extends Pick<FilePlan, 'kind' | 'columns' | 'hasHeader' | 'isOfFeedback'> {
  /** Fields of the kind, and the column of states where one was named. */
  readonly mapping: Mapping;
  /** Fields of another kind, whose columns are no states. */
  readonly others: Mapping;
}

/** How rows become records by their columns and the first of them, but for the form of times that nobody has said. */
function planRows(
  { path, format, wishes }: { readonly path: string; readonly format: RowFormat; readonly wishes: Wishes },
  { kind, columns, mapping: given, others, ...known }: KnownColumns,
  body: readonly Row[],
): FilePlan {
  const { State: state, ...plain } = given;
  const mapping = labelled(kind, columns, plain);
  const used = { ...others, ...mapping };
  const states = kind === 'feedback' ? findStateColumns(columns, body.map(textsOf), used, state) : [];
  return {
    ...{ ...basePlan(path, format, wishes), kind, columns, ...known, mapping, states, isApiForm: false },
    timeForm: wishes.timeForm,
    width: format.name === 'delimited' ? columns.length : undefined,
    unsteady: kind === 'feedback' ? unsteadyIn(body, used.ItemId) : [],
    titleAt: kind === 'feedback' ? titleOfItems(columns, body, used.ItemId, Object.values(used)) : undefined,
    noItems: whyNoItems(columns, body, used),
    continued: kind === 'feedback' ? findContinued(body, mapping, states) : undefined,
    ...numbersIn(body, mapping, format),
    keepsBlanks: isExport(kind, columns),
    separator: wishes.separator ?? separatorIn(body, kind, columns, used),
    otherKey: otherKey(columns, body, mapping, used.Comment, wishes.kind),
    taken: [...Object.values(used), ...states.map(({ at }) => at)],
  };
}

/** The reading that is open where all feedback would be of now, though the first rows have what looks like times. */
export function whyTimeless(
  { path, kind, columns, mapping, timeForm: form, missingTime, taken = [] }: FilePlan,
  body: readonly Row[],
): OpenReading | undefined {
  const isTimeless = kind === 'feedback' && (mapping.Timestamp === undefined || form === undefined);
  if (!isTimeless || missingTime === 'now' || isExport(kind, columns) || body.length === 0) return undefined;
  return timelessReading(path, columns, mapping.Timestamp, (at) =>
    taken.includes(at) ? [] : columnOf(body, at),
  );
}

function namesOf(first: Row, hasHeader: boolean): string[] {
  const bare = first.map((_, at) => `column ${at + 1}`);
  if (!hasHeader) return bare;
  // One that came before would be taken for the first of its name.
  const names = first.map(String);
  return names.map((name, at) => {
    if (name.trim() === '') return bare[at]!;
    return names.indexOf(name) === at ? name : `${name} (${bare[at]})`;
  });
}

function withoutTime({ Timestamp: _, ...others }: Mapping): Mapping {
  return others;
}

/** With categories as labels, too, which tell what a new item is like, unless a column has labels of its own. */
function labelled(kind: Kind, columns: readonly string[], mapping: Mapping): Mapping {
  const { Categories, Labels } = mapping;
  const isOpen = kind === 'items' && Categories !== undefined && Labels === undefined;
  return isOpen && !isExport(kind, columns) ? { ...mapping, Labels: Categories } : mapping;
}

/**
 * The items of a file of feedback that has their titles or categories; the feedback then has no such comments.
 * @returns undefined for a file that tells nothing of items
 */
export function itemsWithin(
  plan: FilePlan,
): { readonly items: FilePlan; readonly feedback: FilePlan } | undefined {
  const { kind, columns, isApiForm, hasHeader, mapping, format } = plan;
  if (kind !== 'feedback' || isApiForm || (format.name === 'delimited' && !hasHeader)) return undefined;
  // Tags in orders are of the order.
  const steady = columns.map((name, at) => (plan.unsteady?.includes(at) ? '' : name));
  const { Labels: _, ...byName }: Mapping = mappingByNames(steady);
  const { Comment = plan.titleAt, Categories, Labels }: Mapping = { ...byName, ...plan.itemFields };
  const isItems = Comment !== undefined || Categories !== undefined;
  if (!isItems || mapping.ItemId === undefined || isExport(kind, columns)) return undefined;
  const named = { ItemId: mapping.ItemId, Comment, Categories, Labels } as Mapping;
  const known = Object.fromEntries(Object.entries(named).filter(([, at]) => at !== undefined));
  const { Comment: own, ...others } = mapping;
  const ofItems = labelled('items', columns, known);
  const told = { ...plan, itemFields: undefined };
  return {
    items: {
      ...told,
      kind: 'items',
      mapping: ofItems,
      states: [],
      continued: undefined,
      soldAt: plan.mapping.Timestamp,
      isOfFeedback: true,
    },
    feedback: { ...told, mapping: own === undefined || own === Comment ? others : mapping },
  };
}

/** The part of a plan that is said, or usual, and never guessed. */
function basePlan(path: string, format: RowFormat, wishes: Wishes) {
  return {
    path,
    format,
    encoding: wishes.encoding ?? 'utf-8',
    type: wishes.type ?? DEFAULT_TYPE,
    lowType: wishes.lowType ?? DEFAULT_LOW_TYPE,
    ratingMin: wishes.ratingMin,
    separator: wishes.separator ?? DEFAULT_SEPARATOR,
    missingTime: wishes.missingTime,
    leftOut: wishes.leftOut,
    guests: wishes.guests,
    zeroRating: wishes.zeroRating,
    isRaw: wishes.isRaw === true || format.name !== 'delimited',
  } as const;
}

async function* none(): AsyncGenerator<string> {}

/** The values of a column, as texts. */
export function columnOf(rows: readonly Row[], at: number | undefined): string[] {
  return at === undefined ? [] : rows.map((row) => cellText(textsOf([row[at]])[0]!));
}

function numbersIn(rows: readonly Row[], { Value, Rating }: Mapping, format: RowFormat) {
  const numbers = [...columnOf(rows, Value), ...columnOf(rows, Rating).map(ratingOf)];
  return {
    hasDecimalCommas: hasDecimalCommas(numbers, format, rows.flatMap(textsOf)),
    hasNegatives: numbers.some((number) => /^\s*-|-\s*$/.test(number)),
  };
}

/** The sign between categories and labels in a cell: that of exports in an export. */
function separatorIn(
  rows: readonly Row[],
  kind: Kind,
  columns: readonly string[],
  { Categories, Labels }: Mapping,
): string {
  if (isExport(kind, columns)) return DEFAULT_SEPARATOR;
  return separatorOf([...columnOf(rows, Categories), ...columnOf(rows, Labels)]);
}

/** The form of the column of times. @throws OperatorError when it is not understood */
async function timesOf(
  { path, columns, mapping }: Pick<FilePlan, 'path' | 'columns' | 'mapping'>,
  body: readonly Row[],
  more: AsyncIterable<readonly Row[]>,
  wish: TimeForm | undefined,
): Promise<Pick<FilePlan, 'timeForm' | 'unfitForm'>> {
  const at = mapping.Timestamp;
  if (at === undefined) return { timeForm: wish };
  async function* rest() {
    for await (const rows of more) yield columnOf(rows, at);
  }
  return findTimeForm(`${path}: the times in "${columns[at]}"`, columnOf(body, at), rest(), wish);
}
