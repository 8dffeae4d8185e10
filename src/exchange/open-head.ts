/** The first rows of a file, in the form in which it seems to be written. */

import { cellText } from './cell-text.ts';
import { detectFormat, newlineOf, type RowFormat } from './file-format.ts';
import { keysOf, once, readRows, textsOf } from './read-rows.ts';
import type { Row } from './rows-to-records.ts';
import { unrolledIn } from './wide-tables.ts';

/**
 * The form of a text and its first rows, with a row for each cell of a table that has a column for each item.
 * @param head its beginning, all of it where it is whole @param known what its data set says of it @param asked columns by name
 */
export async function openHead(
  path: string,
  head: string,
  isWhole: boolean,
  {
    delimiter,
    hasHeader,
  }: { readonly delimiter?: string | undefined; readonly hasHeader?: boolean | undefined },
  known: { readonly format?: RowFormat; readonly mapping?: object } = {},
  asked: readonly string[] = [],
): Promise<{ readonly format: RowFormat; readonly keys: string[]; readonly rows: readonly Row[] }> {
  const format = formatOf(path, head, known.format, delimiter);
  const keys = format.name === 'ndjson' ? keysOf(head, format.list, asked) : [];
  const rows = await headRows(path, head, isWhole, format, keys);
  if (format.name === 'ndjson' || hasHeader === false || known.mapping !== undefined)
    return { format, keys, rows };
  const unrolled = unrolledIn(rows.map((row) => textsOf(row).map(cellText)));
  if (unrolled === undefined || unrolled.columns.some((at) => asked.includes(String(rows[0]![at]))))
    return { format, keys, rows };
  const whole = { ...format, unrolled };
  return { format: whole, keys, rows: await headRows(path, head, isWhole, whole, keys) };
}

/** Why a text has none. */
export function whyNoRows(head: string, isWhole: boolean, format: RowFormat): string {
  if (head.trim() === '') return 'holds no rows';
  if (format.name === 'ndjson')
    return 'has no line that is a JSON object; write an object a line (NDJSON), as jq -c does';
  return isWhole ? 'holds no rows' : 'has no end of a row in its first 64 KB; a quote may never be closed';
}

export async function* cellsOf(batches: ReturnType<typeof readRows>): AsyncGenerator<readonly Row[]> {
  for await (const batch of batches) yield batch.flatMap((row) => ('cells' in row ? [row.cells] : []));
}

/** The names that a file gives its columns: its first row or, for JSON, the keys. */
export async function columnNames(
  path: string,
  head: string,
  isWhole: boolean,
  delimiter?: string,
): Promise<string[]> {
  const { format, keys, rows } = await openHead(path, head, isWhole, { delimiter });
  return format.name === 'ndjson' ? keys : textsOf(rows[0] ?? []);
}

function formatOf(
  path: string,
  head: string,
  known: RowFormat | undefined,
  delimiter: string | undefined,
): RowFormat {
  if (known === undefined || delimiter !== undefined) return detectFormat(head, delimiter, path);
  return known.name === 'delimited' ? { ...known, newline: newlineOf(head) } : known;
}

/** The rows of a beginning, without the last one where that may be cut off, also within a quoted cell. */
export async function headRows(
  path: string,
  head: string,
  isWhole: boolean,
  format: RowFormat,
  keys: readonly string[],
): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const batch of cellsOf(readRows(path, once(head), format, keys))) {
    rows.push(...batch);
    // The next batch is what follows the last line end.
    if (!isWhole) break;
  }
  // Names of columns that come again, as in files put behind one another, tell nothing of the values.
  return rows.filter((row, at) => at === 0 || row.some((cell, each) => cell !== rows[0]![each]));
}
