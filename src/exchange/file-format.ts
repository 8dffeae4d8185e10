import { OperatorError } from '../domain/operator-error.ts';
import { listOfItems, parseObject } from './nested-rows.ts';
import { OpenReading } from './open-reading.ts';
import type { Unrolled } from './wide-tables.ts';

/** With a line feed a carriage return before it is part of the line end, in some lines or all. */
export type Newline = '\n' | '\r';

/** The form in which a file's rows are written. */
export type RowFormat =
  | {
      readonly name: 'delimited';
      readonly delimiter: string;
      /** Quotes keep delimiters and line ends within a cell. */
      readonly isQuoted: boolean;
      readonly newline: Newline;
      /** Lines above the names of columns, which are no rows: the title of a report, remarks, Excel's own line. */
      readonly above?: number;
      /** Cells that become rows. */
      readonly unrolled?: Unrolled | undefined;
    }
  /** One JSON object a line; with a list, one of its elements is a row: see `rowsWithin`. */
  | { readonly name: 'ndjson'; readonly list?: string | undefined };

const DELIMITERS = ['::', '\t', '|', ';', ','];

const OF_OBJECTS = "write each on a line of its own, as jq -c '.[]' does";

/** Excel's own first line, which names the delimiter: `sep=;`. */
const EXCEL_LINE = /^"?sep=(.)"?$/i;

/**
 * Tells by its first lines how a file is written.
 * @param head the first lines
 * @param said what stands between columns, where that is known; of several files one may have another sign
 * @param name what an error calls the file
 * @throws OperatorError when it is one JSON array of lists
 */
export function detectFormat(head: string, said?: string, name = 'The file'): RowFormat {
  if (/^\s*\[\s*\[/.test(head))
    throw new OperatorError(
      `${name} is one JSON array of lists; write an object for each, with names for its values`,
    );
  if (/^\s*\{/.test(head)) {
    const [one, ...others] = Object.values(parseObject(head) ?? {}).map((value) =>
      value !== null && typeof value === 'object' ? Object.keys(value).join() : '',
    );
    if (others.length > 0 && one !== '' && others.every((keys) => keys === one))
      throw new OperatorError(`${name} is one JSON object of objects; ${OF_OBJECTS}`);
    return { name: 'ndjson', list: listOfItems(head) };
  }
  const lines = head.split(/\r\n|[\r\n]/, LINES_COMPARED);
  const excel = EXCEL_LINE.exec(lines[0]!)?.[1];
  const above = excel === undefined ? linesAbove(lines, head) : 1;
  const bare = withoutQuoted(lines[above] ?? '');
  const delimiter = said !== undefined && bare.includes(said) ? said : (excel ?? delimiterOf(bare, head));
  return {
    name: 'delimited',
    delimiter,
    isQuoted: delimiter !== '::',
    newline: newlineOf(head),
    ...(above > 0 && { above }),
  };
}

/**
 * How many lines stand above the names of columns: those before the first line of words in two or more columns that fills more than
 * half as many as the lines behind it do.
 */
function linesAbove(lines: readonly string[], head: string): number {
  const found = lines.findIndex((line, at) => {
    const delimiter = delimiterOf(withoutQuoted(line), head);
    const [names = 0, ...counts] = lines.slice(at).map((each) => cellsIn(each, delimiter).length);
    const rows = counts.filter((count) => count > 0).sort((one, other) => one - other);
    const usual = rows[rows.length >> 1] ?? 0;
    return names > 1 && names * 2 > usual && (!line.startsWith('#') || names >= usual);
  });
  const names = lines[found] ?? '';
  const isWords = cellsIn(names, delimiterOf(withoutQuoted(names), head)).every(
    (cell) => !/^\W*\d/.test(cell),
  );
  const blank = lines.findIndex((line) => line.trim() !== '');
  return found > 0 && isWords ? found : Math.max(0, blank);
}

/** The cells of a line that are not empty, roughly: a sign within quotes parts none. */
function cellsIn(line: string, delimiter: string): string[] {
  const cells = line.replace(/"[^"]*"/g, (cell) => cell.replaceAll(delimiter, '')).split(delimiter);
  return cells.filter((cell) => /[\p{L}\p{N}]/u.test(cell));
}

function withoutQuoted(line: string): string {
  return line.replace(/"[^"]*"/g, '');
}

function delimiterOf(line: string, head: string): string {
  const delimiter = DELIMITERS.find((candidate) => line.includes(candidate)) ?? (isNumbers(head) ? ' ' : ',');
  return delimiter === '|' ? leastOf(line) : delimiter;
}

/** True where each of the first lines is three or four numbers with a blank between two of them. */
function isNumbers(head: string): boolean {
  const [first = '', ...others] = wholeLines(head);
  const parts = first.split(' ').length;
  return [first, ...others].every((line) => NUMBERS.test(line) && line.split(' ').length === parts);
}

const NUMBERS = /^-?\d+(?:\.\d+)?(?: -?\d+(?:\.\d+)?){2,3}$/;

/** Lines in which a sign is looked for. */
const LINES_COMPARED = 20;
/** Signs that stand within names, numbers and times. */
const WITHIN_CELLS = /[\p{L}\p{N}\s"'()._-]/gu;

/**
 * The sign, none of those that are tried, that stands equally often in each of the first lines.
 * @param head the first lines; the last one may be cut off
 */
function unusualDelimiter(head: string): string | undefined {
  const whole = wholeLines(head);
  const [first = ''] = whole;
  const countOf = (line: string, sign: string) => line.split(sign).length;
  return [...new Set(first.replace(WITHIN_CELLS, ''))].find((sign) =>
    whole.every((line) => countOf(line, sign) === countOf(first, sign)),
  );
}

/** Some of the first lines; the last one may be cut off. */
function wholeLines(head: string): string[] {
  const lines = head.split(/[\r\n]+/).filter((line) => line !== '');
  return lines.slice(0, Math.max(1, Math.min(LINES_COMPARED, lines.length - 1)));
}

/** True when a sign between columns is one of those that are tried. */
export function isUsualDelimiter(sign: string): boolean {
  return DELIMITERS.includes(sign);
}

export function newlineOf(head: string): Newline {
  const at = head.search(/[\r\n]/);
  return head[at] === '\r' && head[at + 1] !== '\n' ? '\r' : '\n';
}

/** A bar also stands between labels within a cell: the comma or semicolon beside it is the delimiter. */
function leastOf(line: string): string {
  return [',', ';'].find((candidate) => line.includes(candidate)) ?? '|';
}

/** The fault of a file of which one column was found where there are to be more. */
export function oneColumn(path: string, head: string): OpenReading {
  const sign = unusualDelimiter(head);
  const finding = `${path}: only one column was found`;
  if (sign === undefined)
    return new OpenReading(
      'delimiter',
      finding,
      '; if another sign than , ; tab | or :: stands between columns, name it with --delimiter',
    );
  const often = `${finding}, but ${JSON.stringify(sign)} stands equally often in each line`;
  return new OpenReading('delimiter', often, `; if it is between columns, say --delimiter '${sign}'`, sign);
}
