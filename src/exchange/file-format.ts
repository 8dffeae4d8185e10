import { OperatorError } from '../domain/operator-error.ts';

/** With a line feed a carriage return before it is part of the line end, in some lines or all. */
export type Newline = '\n' | '\r';

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

/** Delimiters that are tried on the first lines. */
const DELIMITERS = ['::', '\t', '|', ';', ','];

/**
 * Tells by its first lines how a file is written.
 * @param head the first lines
 * @throws OperatorError when it is one JSON array, which cannot be read row by row
 */
export function detectFormat(head: string): RowFormat {
  if (/^\s*\[\s*[[{]/.test(head))
    throw new OperatorError('It is one JSON array; write an object a line (NDJSON): jq -c ".[]" FILE');
  if (/^\s*\{/.test(head)) return { name: 'ndjson' };
  const [first = ''] = head.split(/[\r\n]/, 1);
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
  return head[at] === '\r' && head[at + 1] !== '\n' ? '\r' : '\n';
}

/** A bar also stands between labels within a cell: the comma or semicolon beside it is the delimiter. */
function leastOf(line: string): string {
  return [',', ';'].find((candidate) => line.includes(candidate)) ?? '|';
}
