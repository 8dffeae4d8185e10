import { cellText } from '../../exchange/cell-text.ts';
import { type ColumnBatches, readOn } from '../../exchange/column-times.ts';
import { fillContinued, findContinued } from '../../exchange/continued-rows.ts';
import {
  FIELDS,
  type Guess,
  guess,
  type Kind,
  type Mapping,
  REQUIRED,
} from '../../exchange/guess-columns.ts';
import { findStateColumns } from '../../exchange/order-states.ts';
import { textsOf } from '../../exchange/read-rows.ts';
import {
  hasDecimalCommas,
  isExport,
  type Made,
  type Plan,
  type Row,
  recordOf,
  separatorOf,
} from '../../exchange/rows-to-records.ts';
import { type TimeForm, timeFormOfNamed } from '../../exchange/time-formats.ts';
import { type OpenedFile, rowsOf } from './read-file.ts';

/** Rows by which columns are guessed. */
const GUESS_ROWS = 5000;
const SHOWN_ROWS = 5;

/** Choices on the page. */
export interface Choices extends Pick<Plan, 'kind' | 'type' | 'lowType' | 'separator' | 'leftOut'> {
  readonly mapping: Mapping;
  /** Form of the times, where that was said or the whole file tells it. */
  readonly timesAre: TimeForm | undefined;
  readonly ratingMin: string;
}

/** The first rows of a file, by which its columns are guessed. */
export async function firstRows(opened: OpenedFile): Promise<Row[]> {
  const first: Row[] = [];
  for await (const { rows } of rowsOf(opened)) {
    for (const row of rows) if ('cells' in row) first.push(row.cells);
    if (first.length >= GUESS_ROWS) break;
  }
  return first.slice(0, GUESS_ROWS);
}

/** Guessed meanings of the columns. */
export function guessFile({ format, keys, apiKind }: OpenedFile, rows: readonly Row[]): Guess {
  if (apiKind !== undefined) return { kind: apiKind, hasHeader: false, mapping: {} };
  const texts = rows.map(textsOf);
  return format.name === 'ndjson' ? { ...guess([[...keys], ...texts]), hasHeader: false } : guess(texts);
}

export function columnNames(
  { format, keys }: OpenedFile,
  rows: readonly Row[],
  hasHeader: boolean,
): readonly string[] {
  if (format.name === 'ndjson') return keys;
  return rows[0]!.map((name, at) => (hasHeader ? String(name) : `column ${at + 1}`));
}

export function planOf(
  { format, keys, apiKind }: OpenedFile,
  body: readonly Row[],
  names: readonly string[],
  { timesAre, ratingMin, ...chosen }: Choices,
): Plan {
  const { kind } = chosen;
  const { State: state, ...mapping } = chosen.mapping;
  const isRated = kind === 'feedback' && 'Rating' in mapping && ratingMin !== '';
  const numbers = [...columnOf(body, mapping.Value), ...columnOf(body, mapping.Rating)];
  const form = timeFormOfNamed(timesOf(body, { kind, mapping }));
  const states = kind === 'feedback' ? findStateColumns(names, body.map(textsOf), mapping, state) : [];
  return {
    ...{ ...chosen, mapping, states },
    continued: kind === 'feedback' ? findContinued(body, mapping, states) : undefined,
    separator:
      chosen.separator ||
      separatorOf([...columnOf(body, mapping.Categories), ...columnOf(body, mapping.Labels)]),
    timeForm: timesAre ?? (form === 'open' ? undefined : form),
    hasDecimalCommas: hasDecimalCommas(numbers, format, body.flatMap(textsOf)),
    ratingMin: isRated ? Number(ratingMin) : undefined,
    keepsBlanks: isExport(kind, names),
    isRaw: format.name !== 'delimited',
    width: format.name === 'delimited' ? names.length : undefined,
    columns: keys,
    isApiForm: apiKind !== undefined,
  };
}

/** The values of the column of times in some rows. */
export function timesOf(
  body: readonly Row[],
  { kind, mapping }: { readonly kind: Kind; readonly mapping: Plan['mapping'] },
): string[] {
  return kind === 'users' ? [] : columnOf(body, mapping.Timestamp);
}

/** Order of month and day, by the whole file; undefined where nothing in it tells. */
export async function orderInFile(opened: OpenedFile, at: number): Promise<TimeForm | undefined> {
  async function* values(): ColumnBatches {
    for await (const { rows } of rowsOf(opened))
      yield rows.flatMap((row) => ('cells' in row ? textsOf([row.cells[at]]).map(cellText) : []));
  }
  const form = await readOn(values(), true);
  return form === 'open' ? undefined : form;
}

/** Choices that are missing before a file can be sent. */
export function openQuestions(
  { kind, mapping, timeForm: form, isApiForm }: Plan,
  times: readonly string[],
): string[] {
  if (isApiForm) return [];
  const questions = REQUIRED[kind]
    .filter((field) => !(field in mapping))
    .map((field) => `which column is ${field}`);
  const { UserId: user, ItemId: item } = mapping;
  if (kind === 'feedback' && user !== undefined && user === item)
    questions.push('which of UserId and ItemId is another column');
  if (times.length === 0 || form !== undefined) return questions;
  const isOpen = timeFormOfNamed(times) === 'open';
  return [
    ...questions,
    isOpen
      ? `how the times are written, since nothing tells whether the day or the month of "${times[0]}" comes first`
      : 'how the times are written',
  ];
}

/** A row as it will be stored, a text a field, or why it is not. */
export type Preview = Exclude<Made, { readonly record: object }> | { readonly cells: readonly string[] };

/** The fields of a preview. */
export function previewFields(kind: Kind): readonly string[] {
  return FIELDS[kind].filter((field) => !['Rating', 'State', 'Clock'].includes(field));
}

/** The first rows as they will be stored, with times as they are written while it is open how. */
export function previewOf(body: readonly Row[], plan: Plan): Preview[] {
  const { Timestamp: at, ...others } = plan.mapping;
  const isOpen = areTimesOpen(plan);
  const used = isOpen ? { ...plan, mapping: others as Plan['mapping'] } : plan;
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
export function areTimesOpen({ kind, mapping, timeForm: form, isApiForm }: Plan): boolean {
  return isApiForm !== true && kind !== 'users' && mapping.Timestamp !== undefined && form === undefined;
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
