import { type FileHandle, open } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { decompress as unzstd } from 'fzstd';
import {
  type AsyncBuffer,
  type Compressors,
  type FileMetaData,
  parquetMetadataAsync,
  parquetReadObjects,
  type RowGroup,
} from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { OperatorError } from '../domain/operator-error.ts';
import { refuseDevice } from '../platform/files/refuse-device.ts';

export interface VectorBatch {
  readonly ids: readonly string[];
  readonly vectors: readonly Float32Array[];
  readonly ofUsers: boolean;
}

/** Snappy, which most files have, is in the library. */
export const COMPRESSORS: Compressors = {
  GZIP: (bytes, length) => gunzipSync(bytes, { maxOutputLength: Math.max(1, length) }),
  ZSTD: (bytes, length) => unzstd(bytes, new Uint8Array(length)),
};

/** A file of so many bytes has at most as many rows, so many values a byte, nulls among them, and unpacks to so many bytes a byte. */
const VALUES_A_BYTE = 8;
const UNPACKED_A_BYTE = 1100;

/** Names of columns, in small letters without dashes and underscores; the first that is there counts. */
const ID_NAMES = ['itemid', 'userid', 'id', 'item', 'user', 'iid', 'uid', 'movieid', 'productid', 'sku'];
const VECTOR_NAMES = ['vector', 'features', 'factors', 'embedding', 'embeddings', 'emb'];
/** The column that says whose a vector is where a file has both sides. */
const OF = 'Of';
const USER = 'user';

/**
 * Reads ids and vectors out of a Parquet file, a row group at a time: ids are text or whole numbers, vectors lists of floats
 * or their bytes (32 bits, little-endian). A number that is missing is NaN.
 * @param hold is told bytes before they are held, and may throw: a small file may say the same vector again and again
 * @throws OperatorError when it is no such file
 */
export async function* readParquetVectors(
  file: AsyncBuffer | ArrayBuffer,
  name: string,
  hold: (bytes: number) => void = () => {},
): AsyncGenerator<VectorBatch> {
  const metadata = await inWords(name, () => parquetMetadataAsync(file));
  if (metadata.row_groups.length === 0) return;
  const columns = columnsOf(metadata, name);
  const ofUsers = columns.id.toLowerCase().replace(/[-_]/g, '').startsWith('user');
  let rowStart = 0;
  const held = (value: unknown) => {
    hold(lengthOf(value) * 4);
    return numbersOf(value);
  };
  for (const group of metadata.row_groups) {
    const { num_rows } = group;
    await inWords(name, () => checkSizes(file, group, Object.values(columns)));
    hold(4 * Number(num_rows));
    const rowEnd = rowStart + Number(num_rows);
    const asked = {
      file,
      metadata,
      columns: Object.values(columns),
      rowStart,
      rowEnd,
      utf8: false,
      compressors: COMPRESSORS,
    };
    const rows = await inWords(name, () => parquetReadObjects(asked));
    rowStart = rowEnd;
    for (const isUsers of [false, true]) {
      const some = rows.filter((row) =>
        columns.of === undefined ? ofUsers === isUsers : (textOf(row[columns.of]) === USER) === isUsers,
      );
      if (some.length === 0) continue;
      const ids = some.map((row) => textOf(row[columns.id]));
      yield { ids, vectors: some.map((row) => held(row[columns.vector])), ofUsers: isUsers };
    }
  }
}

/**
 * Compares what a row group says that it holds with its bytes: a header of a few bytes may say millions of nulls.
 * @param names the columns that are read; all when absent
 * @throws RangeError when that cannot be
 */
export async function checkSizes(
  file: AsyncBuffer | ArrayBuffer,
  { num_rows, columns }: RowGroup,
  names?: readonly string[],
): Promise<void> {
  const rows = Number(num_rows);
  if (!(rows >= 0 && rows <= file.byteLength))
    throw new RangeError(`it says ${rows} rows in ${file.byteLength} bytes`);
  for (const { meta_data: chunk } of columns) {
    if (chunk === undefined || names?.includes(chunk.path_in_schema[0]!) === false) continue;
    const start = Number(chunk.dictionary_page_offset || chunk.data_page_offset);
    const bytes = await file.slice(start, start + Number(chunk.total_compressed_size));
    const reader = { view: new DataView(bytes), offset: 0 };
    let [values, unpacked] = [0, 0];
    while (reader.offset < bytes.byteLength - 1) {
      const page = parquetHeader(reader);
      const { data_page_header, data_page_header_v2, dictionary_page_header } = page;
      const said = data_page_header ?? data_page_header_v2 ?? dictionary_page_header;
      const sizes = [said?.num_values ?? 0, page.uncompressed_page_size, page.compressed_page_size];
      if (!sizes.every((size) => size >= 0)) throw new RangeError('a page of it has a size below 0');
      values += sizes[0]!;
      unpacked += sizes[1]!;
      reader.offset += sizes[2]!;
    }
    if (values > VALUES_A_BYTE * file.byteLength || unpacked > UNPACKED_A_BYTE * file.byteLength)
      throw new RangeError(
        `it says ${values} values, ${unpacked} bytes unpacked, in ${file.byteLength} bytes`,
      );
  }
}

export async function openParquet(
  path: string,
): Promise<{ readonly file: AsyncBuffer; readonly handle: FileHandle }> {
  refuseDevice(path);
  const handle = await open(path);
  const { size: byteLength } = await handle.stat();
  const slice = async (start: number, end = byteLength) => {
    const bytes = new Uint8Array(end - start);
    await handle.read(bytes, 0, bytes.length, start);
    return bytes.buffer;
  };
  return { file: { byteLength, slice }, handle };
}

/** Vectors of items and users as a Parquet file. */
export function parquetOfVectors(batches: readonly VectorBatch[]): Uint8Array<ArrayBuffer> {
  const of = batches.flatMap(({ ids, ofUsers }) => ids.map(() => (ofUsers ? USER : 'item')));
  const vectors = batches.flatMap((batch) => batch.vectors.map(bytesOf));
  return new Uint8Array(
    parquetWriteBuffer({
      columnData: [
        { name: 'Id', type: 'STRING', data: batches.flatMap(({ ids }) => ids) },
        { name: OF, type: 'STRING', data: of },
        // Floats of a model have nothing to be packed.
        { name: 'Vector', type: 'BYTE_ARRAY', data: vectors, codec: 'UNCOMPRESSED', statistics: false },
      ],
    }),
  );
}

function columnsOf({ schema, row_groups }: FileMetaData, name: string) {
  const names = [
    ...new Set(
      row_groups.flatMap(({ columns }) => columns.map(({ meta_data }) => meta_data?.path_in_schema[0] ?? '')),
    ),
  ];
  const plain = (text: string) => text.toLowerCase().replace(/[-_]/g, '');
  const first = (wanted: readonly string[]) =>
    wanted.map((want) => names.find((column) => plain(column) === want)).find((found) => found !== undefined);
  const id = first(ID_NAMES);
  const of = names.includes(OF) ? OF : undefined;
  const others = names.filter((column) => column !== id && column !== of);
  const vector = first(VECTOR_NAMES) ?? (others.length === 1 ? others[0] : undefined);
  if (id !== undefined && vector !== undefined) return { id, vector, ...(of !== undefined && { of }) };
  const has = schema.length === 0 || names.length === 0 ? 'it has none' : `it has ${names.join(', ')}`;
  throw new OperatorError(
    `${name} needs a column with ids, as ItemId, and one with vectors, as Vector or features; ${has}.`,
  );
}

function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  // An object is no id, and one of others may have no text.
  return typeof value === 'object' ? '' : String(value ?? '');
}

/** Numbers that a value makes. */
function lengthOf(value: unknown): number {
  if (value instanceof Uint8Array) return value.length / 4;
  return Array.isArray(value) ? value.length : 0;
}

function numbersOf(value: unknown): Float32Array {
  if (value instanceof Uint8Array && value.length % 4 === 0)
    return new Float32Array(new Uint8Array(value).buffer);
  // What is neither has a length of 0, which is refused where the length is known.
  return Array.isArray(value)
    ? Float32Array.from(value as unknown[], (number) => (typeof number === 'number' ? number : Number.NaN))
    : new Float32Array(0);
}

function bytesOf(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}

/** Tells an error of reading as what is wrong with the file. */
export async function inWords<T>(name: string, read: () => Promise<T> | T): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw new OperatorError(`${name} cannot be read as Parquet: ${(error as Error).message}.`);
  }
}
