/** The `vectors` table: numbers of items in spaces, as they were given. */
import { readRow, rowKey, writeRow } from '../format/record-layout.ts';
import type { DataTables } from './data-tables.ts';
import { entriesFrom, readBytes, type Table } from './engine.ts';

/** Entries that are read at once while all are walked through: at most 1 MiB each, some kilobytes usually. */
const WALKED_ENTRIES = 64;

/** (item row, name of the space in UTF-8), the key of a vector: an item's lie side by side. */
function vectorKey(itemRow: number, space: string): Uint8Array {
  const name = Buffer.from(space);
  const key = new Uint8Array(4 + name.length);
  key.set(name, 4);
  return writeRow(key, 0, itemRow);
}

function readVectorKey(key: Uint8Array): { readonly row: number; readonly space: string } {
  return { row: readRow(key, 0), space: Buffer.from(key.subarray(4)).toString() };
}

/** @param vector numbers, or their bytes as they are kept */
export function putVector(
  { vectors }: DataTables,
  itemRow: number,
  space: string,
  vector: Float32Array | Uint8Array,
): void {
  const { buffer, byteOffset, byteLength } = vector;
  vectors.put(vectorKey(itemRow, space), new Uint8Array(buffer, byteOffset, byteLength));
}

/** @returns false where there was none */
export function removeVector({ vectors }: DataTables, itemRow: number, space: string): boolean {
  const key = vectorKey(itemRow, space);
  if (readBytes(vectors, key) === undefined) return false;
  vectors.remove(key);
  return true;
}

/** Removes the vectors of an item in all spaces, those that the configuration has no more too. */
export function removeVectors({ vectors }: DataTables, itemRow: number): void {
  const keys = [...vectors.getKeys({ start: rowKey(itemRow), end: vectorKey(itemRow, LAST_NAME) })];
  for (const key of keys) vectors.remove(key);
}

/** No name of a space sorts behind it. */
const LAST_NAME = '\u{10ffff}';

/** The vector of an item, the caller's own; undefined for none with so many numbers. */
export function readVector(
  tables: DataTables,
  itemRow: number,
  space: string,
  dimensions: number,
): Float32Array | undefined {
  const vectors = vectorsOf(tables);
  const bytes = vectors && readBytes(vectors, vectorKey(itemRow, space));
  return bytes?.length === dimensions * 4 ? numbersOf(bytes) : undefined;
}

/** See `LocalReads.scanVectors`. */
export function scanVectors(
  tables: DataTables,
  fromRow: number,
  visit: (itemRow: number, space: string, vector: Float32Array) => unknown,
): number {
  const vectors = vectorsOf(tables);
  if (vectors === undefined) return -1;
  let start = rowKey(fromRow);
  let isMore = true;
  let last = -1;
  for (let isFirst = true; isMore; isFirst = false) {
    let count = 0;
    for (const { key, value } of entriesFrom(vectors, start, WALKED_ENTRIES, !isFirst)) {
      const { row, space } = readVectorKey(key);
      // All of an item, or none.
      if (last >= 0 && row !== last) return row;
      start = Uint8Array.from(key);
      count++;
      if (visit(row, space, numbersOf(value)) === false) last = row;
    }
    isMore = count === WALKED_ENTRIES;
  }
  return -1;
}

/** A folder of before that is only read has no such table. */
function vectorsOf({ vectors }: DataTables): Table | undefined {
  return vectors as Table | undefined;
}

/**
 * Numbers in a buffer of their own, for those of the store may lie at any address. The length of a reused buffer is not its
 * view's own: to copy all of the view takes a thousand times as long.
 */
function numbersOf({ buffer, byteOffset, length }: Uint8Array): Float32Array {
  return new Float32Array(buffer.slice(byteOffset, byteOffset + (length & ~3)));
}
