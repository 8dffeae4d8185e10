import { createWriteStream, renameSync, rmSync } from 'node:fs';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import Papa from 'papaparse';
import type { Page } from '../domain/entities.ts';
import { OperatorError } from '../domain/operator-error.ts';
import { goesWithProcess } from '../platform/files/temporary-folder.ts';
import { withoutFormula } from './cell-text.ts';
import type { ApiRecord } from './copy-sources.ts';
import { API_FIELDS, type Kind } from './guess-columns.ts';
import { cellOfNames } from './rows-to-records.ts';

export const EXPORT_FORMATS = ['ndjson', 'csv', 'parquet'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export interface ExportForm {
  readonly format: Exclude<ExportFormat, 'parquet'>;
  /** Cells of CSV hold exact bytes; else no spreadsheet takes one for a formula. */
  readonly isRaw?: boolean;
}

/** Fields that hold several names. */
const NAMES: ReadonlySet<string> = new Set(['Labels', 'Categories', 'Subscribe']);

/** The name that stands for standard output. */
export const STDOUT = '-';

/**
 * Writes all records of a kind, in a form that an import reads back to the same records. A file appears whole or not at
 * all; a name that ends in .gz is packed.
 * @param onProgress told how many records are written
 * @returns the number of records
 * @throws OperatorError when it cannot be written
 */
export async function exportTo<Exported extends Kind | 'vectors'>(
  path: string,
  kind: Exported,
  { format, isRaw = false }: ExportForm & (Exported extends Kind ? object : { readonly format: 'ndjson' }),
  source: (kind: Exported) => AsyncIterable<Page<ApiRecord>>,
  onProgress: (records: number) => void,
): Promise<number> {
  let records = 0;
  async function* text(): AsyncGenerator<string> {
    if (format === 'csv') yield `${API_FIELDS[kind as Kind].join(',')}\r\n`;
    for await (const { rows } of source(kind)) {
      yield format === 'csv'
        ? toCsv(kind as Kind, rows, isRaw)
        : rows.map((row) => `${JSON.stringify(row)}\n`).join('');
      records += rows.length;
      onProgress(records);
    }
  }
  if (path === STDOUT) {
    await pipeline(Readable.from(text()), process.stdout, { end: false });
    return records;
  }
  const part = `${path}.part`;
  const keep = goesWithProcess(part);
  try {
    const file: Writable = createWriteStream(part);
    if (path.endsWith('.gz')) await pipeline(Readable.from(text()), createGzip(), file);
    else await pipeline(Readable.from(text()), file);
    renameSync(part, path);
  } catch (error) {
    rmSync(part, { force: true });
    // Any other is of what is read.
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw new OperatorError(`${path} cannot be written: ${(error as Error).message}`);
  } finally {
    keep();
  }
  return records;
}

function toCsv(kind: Kind, rows: readonly ApiRecord[], isRaw: boolean): string {
  const cells = rows.map((row) => {
    const values = API_FIELDS[kind].map((field) => {
      const value: unknown = Reflect.get(row, field);
      const cell = cellOf(field, value);
      // The sign of a number runs nothing.
      return isRaw || typeof value === 'number' ? cell : withoutFormula(cell);
    });
    // Reading takes a carriage return at the end of a row for a part of the line end, in quotes or not.
    const last = values.pop()!;
    return [...values, last.endsWith('\r') ? `${last}\r` : last];
  });
  return `${Papa.unparse(cells)}\r\n`;
}

export function cellOf(field: string, value: unknown): string {
  if (NAMES.has(field)) return cellOfNames(value);
  return value === undefined ? '' : String(value);
}
