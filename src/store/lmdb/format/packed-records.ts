import { deserialize, serialize } from 'node:v8';
import type { RecordList } from '../../data-store.ts';

/** Records in one piece: unpacking it takes a fraction of a millisecond. */
const PIECE_RECORDS = 128;

/** A few records as they are, or many as bytes. */
export type Packed<T> =
  | readonly T[]
  | { readonly pieces: readonly Uint8Array<ArrayBuffer>[]; readonly length: number };

/**
 * Records to be sent to another thread: a few as they are, which costs least, and many as bytes, a piece at a time, so that
 * the receiving thread need not read all of a large commit at once.
 */
export function packRecords<T>(records: readonly T[]): Packed<T> {
  if (records.length <= PIECE_RECORDS) return records;
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (let from = 0; from < records.length; from += PIECE_RECORDS) {
    // Of its own buffer, which is handed over whole.
    pieces.push(Uint8Array.from(serialize(records.slice(from, from + PIECE_RECORDS))));
  }
  return { pieces, length: records.length };
}

/** The records on the receiving side. */
export function unpackRecords<T>(packed: Packed<T>): RecordList<T> {
  return 'pieces' in packed ? new PackedRecords<T>(packed.pieces, packed.length) : packed;
}

/** The buffers of records that are worth being transferred rather than copied. */
export function recordBuffers(packed: Packed<unknown>): ArrayBuffer[] {
  return 'pieces' in packed ? packed.pieces.map(({ buffer }) => buffer) : [];
}

/** Packed records, each piece read when its first record is asked for, and again by who asks again. */
class PackedRecords<T> implements RecordList<T> {
  readonly length: number;
  private readonly pieces: readonly Uint8Array[];

  constructor(pieces: readonly Uint8Array[], length: number) {
    this.pieces = pieces;
    this.length = length;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const piece of this.pieces) yield* deserialize(piece) as T[];
  }
}
