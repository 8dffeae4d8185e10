import { Readable } from 'node:stream';
import Papa from 'papaparse';
import { OperatorError } from '../domain/operator-error.ts';
import type { RowFormat } from './file-format.ts';
import type { Row } from './records.ts';

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

/** A character that stands in no text, for files in which a quote is a quote. */
const NO_QUOTE = '\u0000';

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
