import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { SchemaElement } from 'hyparquet';
import { fileWriter, ParquetWriter } from 'hyparquet-writer';
import type { Page } from '../domain/entities.ts';
import { hashText } from '../domain/hash.ts';
import { OperatorError } from '../domain/operator-error.ts';
import { goesWithProcess } from '../platform/files/temporary-folder.ts';
import type { ApiRecord } from './copy-sources.ts';
import { cellOf } from './export-file.ts';
import { API_FIELDS, type Kind } from './guess-columns.ts';

/** Parts by the hash of a record's first id, so that all of a user stands in one of them. */
const PARTS = 8;
/** Rows that wait to be written together, of each part. */
const GROUP_ROWS = 20_000;
/** Numbers of vectors in as many rows at most. */
const GROUP_NUMBERS = 2 ** 21;

/** Bytes from which on a part goes on in another file: below 128 MB with the group that is written last. */
const FILE_BYTES = 100e6;
const VECTOR_FIELDS = ['ItemId', 'Vector'];
const TYPES: Readonly<Record<string, Partial<SchemaElement>>> = {
  Timestamp: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
  Value: { type: 'DOUBLE' },
  IsHidden: { type: 'BOOLEAN' },
};
const TEXT: Partial<SchemaElement> = { type: 'BYTE_ARRAY', converted_type: 'UTF8' };

/** One part, in one file after the other. */
class Part {
  private readonly prefix: string;
  private readonly fields: readonly string[];
  private rows: ApiRecord[] = [];
  private numbers = 0;
  private writer: ParquetWriter | undefined;
  private files = 0;

  constructor(prefix: string, fields: readonly string[]) {
    this.prefix = prefix;
    this.fields = fields;
  }

  add(row: ApiRecord): void {
    this.rows.push(row);
    this.numbers += (Reflect.get(row, 'Vector') as readonly number[] | undefined)?.length ?? 0;
    if (this.rows.length >= GROUP_ROWS || this.numbers >= GROUP_NUMBERS) this.flush();
  }

  finish(): void {
    if (this.rows.length > 0) this.flush();
    this.writer?.finish();
    this.writer = undefined;
  }

  /** Begins a file, where none is begun. */
  open(): ParquetWriter {
    this.writer ??= new ParquetWriter({
      writer: fileWriter(`${this.prefix}-${this.files++}.parquet`),
      schema: schemaOf(this.fields),
    });
    return this.writer;
  }

  private flush(): void {
    const writer = this.open();
    const columnData = this.fields.map((field) => ({
      name: field,
      data: this.rows.map((row) => columnValue(field, Reflect.get(row, field))),
    }));
    writer.write({ columnData, rowGroupSize: this.rows.length });
    this.rows = [];
    this.numbers = 0;
    if (writer.writer.offset >= FILE_BYTES) this.finish();
  }
}

/**
 * Writes all records of a kind into Parquet files of at most 128 MB in a new folder, which appears whole or not at all.
 * @param onProgress told how many records are written
 * @returns the number of records
 * @throws OperatorError when it cannot be written
 */
export async function exportParquet(
  folder: string,
  kind: Kind | 'vectors',
  pages: AsyncIterable<Page<ApiRecord>>,
  onProgress: (records: number) => void,
): Promise<number> {
  const fields = kind === 'vectors' ? VECTOR_FIELDS : API_FIELDS[kind];
  const key = kind === 'feedback' ? 'UserId' : fields[0]!;
  const unfinished = `${folder}.part`;
  const keep = goesWithProcess(unfinished);
  let records = 0;
  try {
    if (existsSync(folder) && readdirSync(folder).length > 0)
      throw new OperatorError(
        `There is something in ${folder} already. Nothing is written over it; name a new folder.`,
      );
    rmSync(unfinished, { recursive: true, force: true });
    mkdirSync(unfinished);
    const parts = Array.from({ length: PARTS }, (_, at) => new Part(join(unfinished, `part-${at}`), fields));
    for await (const { rows } of pages) {
      for (const row of rows) parts[hashText(String(Reflect.get(row, key))) % PARTS]!.add(row);
      records += rows.length;
      onProgress(records);
    }
    // A folder without files would be no export, so one of nothing has a file without rows.
    if (records === 0) parts[0]!.open();
    for (const part of parts) part.finish();
    // Fails where there is a folder with anything in it.
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw new OperatorError(`${folder} cannot be written: ${(error as Error).message}`);
  } finally {
    keep();
  }
  return records;
}

function schemaOf(fields: readonly string[]): SchemaElement[] {
  const columns = fields.flatMap((name): SchemaElement[] =>
    name === 'Vector'
      ? [
          { name, num_children: 1, converted_type: 'LIST', repetition_type: 'OPTIONAL' },
          { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
          { name: 'element', type: 'FLOAT', repetition_type: 'OPTIONAL' },
        ]
      : [{ name, repetition_type: 'OPTIONAL', ...(TYPES[name] ?? TEXT) }],
  );
  return [{ name: 'root', num_children: fields.length }, ...columns];
}

/** A value of a column; several names stand with | between them, as in CSV. */
function columnValue(field: string, value: unknown): unknown {
  if (field === 'Vector') return value;
  if (field === 'Timestamp')
    return value === '' || value === undefined ? undefined : new Date(value as string);
  return TYPES[field] === undefined ? cellOf(field, value) : value;
}
