import Papa, { type ParseResult } from 'papaparse';
import { groupDigits } from '../domain/group-digits.ts';
import { OperatorError } from '../domain/operator-error.ts';
import type { RowFormat } from './file-format.ts';
import { type LostNumber, lostNumbers } from './lost-number.ts';
import { parseObject, rowsWithin } from './nested-rows.ts';
import { type Row, textOf, whyUnfit } from './rows-to-records.ts';
import { isSum, saysMore, type Unrolled } from './wide-tables.ts';

type DelimitedFormat = Extract<RowFormat, { name: 'delimited' }>;

/** A row with the number, from 1, of the line that it begins on. */
export interface ReadRow {
  readonly line: number;
  readonly cells: Row;
}

export interface BadRow {
  readonly line: number;
  readonly reason: string;
}

/** Rows in the order of the file, some hundreds at a time. */
export type RowBatches = AsyncIterable<readonly (ReadRow | BadRow)[]>;

/** A character that stands in no text, for files in which a quote is a quote. */
const NO_QUOTE = '\u0000';
/** What stands in the cells of a line that databases draw between names and rows, in one of them several in a row. */
const RULE = /^[-+=\s]*$/;
const DRAWN = /[-=]{3}/;
/** Beyond this a row is none: a quote is never closed, or a whole file is one line. What the API takes is far shorter. */
export const ROW_CHARACTERS_MAX = 2 ** 24;
const TOO_LONG = `a row of more than ${groupDigits(ROW_CHARACTERS_MAX)} characters`;

/**
 * Splits text into rows. Lines without a value are passed over, and so are those above the names of columns.
 * @param name of the file, for errors
 * @param keys for JSON, the keys whose values are a row's cells
 * @throws OperatorError when a quote is never closed or a row is longer than ROW_CHARACTERS_MAX, with its line
 */
export function readRows(
  name: string,
  chunks: AsyncIterable<string>,
  format: RowFormat,
  keys: readonly string[],
): RowBatches {
  if (format.name === 'ndjson') return readJsonLines(name, chunks, keys, format.list);
  const rows = readDelimited(name, chunks, format);
  return format.unrolled === undefined ? rows : unroll(rows, format.unrolled);
}

/** A row for each cell that says something of a table whose first row has the names. */
async function* unroll(
  batches: AsyncIterable<readonly ReadRow[]>,
  { columns, names, none }: Unrolled,
): RowBatches {
  let head: Row | undefined;
  for await (const batch of batches)
    yield batch.flatMap(({ line, cells }): (ReadRow | BadRow)[] => {
      if (head === undefined) {
        head = cells;
        return [{ line, cells: names }];
      }
      const reason = whyUnfit(cells, head.length);
      if (reason !== undefined) return [{ line, reason }];
      const own = cells.slice(0, head.length).filter((_, at) => !columns.includes(at));
      if (own.some((cell) => isSum(textOf(cell)))) return [];
      const given = columns.filter((at) => saysMore(textOf(cells[at]), none));
      return given.map((at) => ({ line, cells: [...own, itemNamed(textOf(head![at])), cells[at]] }));
    });
}

/** The item of a column: forms have it behind the question, `How was it? [Tea]`. */
function itemNamed(name: string): string {
  return /\[([^[\]]+)\]\s*$/.exec(name)?.[1] ?? name;
}

async function* readDelimited(
  name: string,
  chunks: AsyncIterable<string>,
  format: DelimitedFormat,
): AsyncGenerator<readonly ReadRow[]> {
  const { above = 0 } = format;
  let line = 1;
  for await (const { rows, fault } of parsePieces(chunks, format)) {
    const batch: ReadRow[] = [];
    for (const cells of rows) {
      if (format.newline === '\n') cells.push(withoutReturn(cells.pop()!));
      if (line > above && !isNoRow(cells)) batch.push({ line, cells });
      line++;
      if (format.isQuoted) for (const cell of cells) line += countLines(cell);
    }
    yield batch;
    if (fault !== undefined) throw new OperatorError(`${name}:${line}: ${fault}`);
  }
}

function isNoRow(cells: readonly string[]): boolean {
  if (cells.every((cell) => cell === '')) return true;
  return cells.every((cell) => RULE.test(cell)) && cells.some((cell) => DRAWN.test(cell));
}

/** The last cell of a line without what stands of the line end before the line feed. */
function withoutReturn(cell: string): string {
  return cell.endsWith('\r') ? cell.slice(0, -1) : cell;
}

/** Rows, and why the one behind them cannot be read. */
interface ParsedPiece {
  readonly rows: string[][];
  readonly fault?: string;
}

/** Parses piece by piece; the row that a piece ends within is kept for the next. */
async function* parsePieces(
  pieces: AsyncIterable<string>,
  { delimiter, isQuoted, newline }: DelimitedFormat,
): AsyncGenerator<ParsedPiece> {
  const parser = new Papa.Parser({ delimiter, newline, quoteChar: isQuoted ? '"' : NO_QUOTE });
  let rest = '';
  let enough = 0;
  for await (const piece of pieces) {
    rest += piece;
    if (rest.length < enough) continue;
    const { data: rows, meta } = parser.parse(rest, 0, true) as ParseResult<string[]>;
    // A row longer than a piece is looked at again only when there is twice as much of it.
    enough = meta.cursor === 0 ? Math.min(rest.length * 2, ROW_CHARACTERS_MAX + 1) : 0;
    rest = rest.slice(meta.cursor);
    if (rest.length > ROW_CHARACTERS_MAX) {
      yield {
        rows,
        fault: isQuoted ? `${TOO_LONG}; a quote may be opened in it and never closed` : TOO_LONG,
      };
      return;
    }
    if (rows.length > 0) yield { rows };
  }
  const { data: rows, errors } = parser.parse(rest, 0, false) as ParseResult<string[]>;
  if (errors.some(({ code }) => code === 'MissingQuotes')) {
    yield { rows: rows.slice(0, -1), fault: 'a quote is opened and never closed' };
    return;
  }
  yield { rows };
}

function countLines(cell: string): number {
  let count = 0;
  for (let at = cell.indexOf('\n'); at >= 0; at = cell.indexOf('\n', at + 1)) count++;
  return count;
}

/**
 * The keys of the rows in some lines of JSON, in the order in which they come first.
 * @param asked keys that may be those of whole objects, whose values are columns otherwise
 */
export function keysOf(text: string, list?: string, asked: readonly string[] = []): string[] {
  const keys = new Set<string>();
  for (const line of text.split('\n')) {
    const object = parseObject(line) ?? {};
    for (const row of rowsWithin(object, list)) for (const key of Object.keys(row)) keys.add(key);
    for (const key of asked) if (Object.hasOwn(object, key)) keys.add(key);
  }
  return [...keys];
}

/** A text that is there as a whole, as one that comes in pieces. */
export async function* once(text: string): AsyncGenerator<string> {
  yield text;
}

/** Cells as a person would read them. */
export function textsOf(cells: Row): string[] {
  return cells.map(textOf);
}

/** Lines of a text that comes in pieces. @param name of the file @throws OperatorError for one that is too long */
export async function* splitLines(
  name: string,
  chunks: AsyncIterable<string>,
): AsyncGenerator<readonly string[]> {
  let begun: string[] = [];
  let begunLength = 0;
  let line = 1;
  for await (const chunk of chunks) {
    const lines = chunk.split('\n');
    const last = lines.pop()!;
    if (lines.length > 0) {
      lines[0] = begun.join('') + lines[0];
      line += lines.length;
      yield lines;
      begun = [];
      begunLength = 0;
    }
    begun.push(last);
    begunLength += last.length;
    if (begunLength > ROW_CHARACTERS_MAX)
      throw new OperatorError(`${name}:${line}: ${TOO_LONG}; write an object a line (NDJSON)`);
  }
  if (begunLength > 0) yield [begun.join('')];
}

async function* readJsonLines(
  name: string,
  chunks: AsyncIterable<string>,
  keys: readonly string[],
  list: string | undefined,
): AsyncGenerator<readonly (ReadRow | BadRow)[]> {
  const isFlat = !keys.some((key) => key.includes('.'));
  let line = 0;
  for await (const lines of splitLines(name, chunks)) {
    const batch: (ReadRow | BadRow)[] = [];
    for (const given of lines) {
      line++;
      const text = given.trim();
      if (text === '') continue;
      const value = parseObject(text);
      if (value === undefined) {
        batch.push({ line, reason: 'is no JSON object' });
        continue;
      }
      const lost = lostNumbers(text);
      // Whole objects can be asked for, too.
      const found = isFlat ? [value] : rowsWithin(value, list).map((row) => ({ ...value, ...row }));
      for (const row of found) batch.push({ line, cells: cellsOf(row, keys, lost) });
    }
    yield batch;
  }
}

function cellsOf(
  value: Readonly<Record<string, unknown>>,
  keys: readonly string[],
  lost: ReadonlyMap<string, LostNumber> | undefined,
): Row {
  return keys.map((key) => lost?.get(key) ?? value[key]);
}
