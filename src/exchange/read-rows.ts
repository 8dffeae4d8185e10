import { Readable } from 'node:stream';
import Papa from 'papaparse';
import { OperatorError } from '../domain/operator-error.ts';
import type { Row } from './records.ts';

export type Newline = '\r\n' | '\n' | '\r';

/** How a file's rows are written. */
export type RowFormat =
  | {
      readonly name: 'delimited';
      readonly delimiter: string;
      /** Quotes keep delimiters and line ends within a cell. */
      readonly isQuoted: boolean;
      readonly newline: Newline;
    }
  /** One JSON object a line. */
  | { readonly name: 'ndjson' };

type DelimitedFormat = Extract<RowFormat, { name: 'delimited' }>;

/** A row with the number, from 1, of the line that it begins on. */
export interface ReadRow {
  readonly line: number;
  readonly cells: Row;
}

/** A line that is no row. */
export interface BadRow {
  readonly line: number;
  readonly reason: string;
}

/** Rows in the order of the file, some hundreds at a time. */
export type RowBatches = AsyncIterable<readonly (ReadRow | BadRow)[]>;

/** Separators that are tried on the first lines. */
const DELIMITERS = ['::', '\t', '|', ';', ','];

/** A character that stands in no text, for files in which a quote is a quote. */
const NO_QUOTE = '\u0000';

/** Tells by its first lines how a file is written. @param head the first lines */
export function detectFormat(head: string): RowFormat {
  if (/^\s*\{/.test(head)) return { name: 'ndjson' };
  const first = head.slice(0, head.indexOf('\n') < 0 ? undefined : head.indexOf('\n'));
  const delimiter = DELIMITERS.find((candidate) => first.includes(candidate)) ?? ',';
  return {
    name: 'delimited',
    delimiter: delimiter === '|' ? leastOf(first) : delimiter,
    isQuoted: delimiter !== '::',
    newline: newlineOf(head),
  };
}

/** The line end of a text. */
export function newlineOf(head: string): Newline {
  const at = head.search(/[\r\n]/);
  if (at < 0 || head[at] === '\n') return '\n';
  return head[at + 1] === '\n' ? '\r\n' : '\r';
}

/** A bar also stands between labels within a cell: the comma or semicolon beside it is the delimiter. */
function leastOf(line: string): string {
  return [',', ';'].find((candidate) => line.includes(candidate)) ?? '|';
}

/**
 * Splits text into rows. Blank lines are passed over.
 * @param keys for JSON, the keys whose values are a row's cells
 * @throws OperatorError when a quote is never closed
 */
export function readRows(
  chunks: AsyncIterable<string>,
  format: RowFormat,
  keys: readonly string[],
): RowBatches {
  return format.name === 'ndjson' ? readJsonLines(chunks, keys) : readDelimited(chunks, format);
}

async function* readDelimited(
  chunks: AsyncIterable<string>,
  format: DelimitedFormat,
): AsyncGenerator<readonly ReadRow[]> {
  let line = 1;
  for await (const rows of parseChunks(chunks, format)) {
    const batch: ReadRow[] = [];
    for (const cells of rows) {
      if (cells.length > 1 || cells[0] !== '') batch.push({ line, cells });
      line++;
      if (format.isQuoted) for (const cell of cells) line += countLines(cell);
    }
    yield batch;
  }
}

/** The parser's callbacks as an iteration: it rests while the rows it found are dealt with. */
async function* parseChunks(
  chunks: AsyncIterable<string>,
  { delimiter, isQuoted, newline }: DelimitedFormat,
): AsyncGenerator<string[][]> {
  type Step = { readonly rows: string[][]; readonly resume: () => void } | { readonly error?: Error };
  const steps: Step[] = [];
  let wake = () => {};
  const hand = (step: Step) => {
    steps.push(step);
    wake();
  };
  const source = Readable.from(chunks);
  Papa.parse<string[]>(source, {
    delimiter,
    newline,
    quoteChar: isQuoted ? '"' : NO_QUOTE,
    chunk: ({ data, errors }, parser) => {
      parser.pause();
      if (errors.some(({ code }) => code === 'MissingQuotes')) {
        hand({ error: new OperatorError('a quote is opened and never closed') });
      } else hand({ rows: data, resume: () => parser.resume() });
    },
    complete: () => hand({}),
    error: (error: Error) => hand({ error }),
  });
  try {
    for (;;) {
      while (steps.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const step = steps.shift()!;
      if (!('rows' in step)) {
        if (step.error !== undefined) throw step.error;
        return;
      }
      yield step.rows;
      step.resume();
    }
  } finally {
    source.destroy();
  }
}

function countLines(cell: string): number {
  let count = 0;
  for (let at = cell.indexOf('\n'); at >= 0; at = cell.indexOf('\n', at + 1)) count++;
  return count;
}

/** Lines of a text that comes in pieces. */
export async function* splitLines(chunks: AsyncIterable<string>): AsyncGenerator<readonly string[]> {
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop()!;
    yield lines;
  }
  if (rest !== '') yield [rest];
}

async function* readJsonLines(
  chunks: AsyncIterable<string>,
  keys: readonly string[],
): AsyncGenerator<readonly (ReadRow | BadRow)[]> {
  let line = 0;
  for await (const lines of splitLines(chunks)) {
    const batch: (ReadRow | BadRow)[] = [];
    for (const text of lines) {
      line++;
      if (text.trim() === '') continue;
      const value = parseObject(text);
      batch.push(
        value === undefined
          ? { line, reason: 'is no JSON object' }
          : { line, cells: keys.map((key) => value[key]) },
      );
    }
    yield batch;
  }
}

/** The object that a text is in JSON, or undefined. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
