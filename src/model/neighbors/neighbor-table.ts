/** The neighbors of every row as shared arrays, and as self-describing bytes. */

import { filled, sharedF32, sharedU32 } from '../../memory/shared-arrays.ts';
import type { PartSaving } from '../part/learned-part.ts';
import { decodeNested, encodeNested, type FrameKind, refuseModel } from '../part/model-bytes-and-checksum.ts';
import type { ServedItems } from '../part/served-items.ts';
import type { RankedRows } from './similarity-search.ts';

/** "FRZN", little-endian. */
const KIND: FrameKind = {
  magic: 0x4e5a5246,
  version: 2,
  name: 'table of neighbors',
};

/** Description of a table beside its entries. */
export interface NeighborTableHeader {
  readonly rowCount: number;
  /** Hash of the data that it was made from, a uint32. */
  readonly fingerprint: number;
  /** The share of the true neighbors that was found, measured; 1 when all pairs were compared. */
  readonly recall: number;
}

/** The neighbors of row r are the entries starts[r] .. starts[r + 1] - 1, best first. Any thread may read it. */
export interface NeighborTable extends NeighborTableHeader {
  /** rowCount + 1 of them. */
  readonly starts: Uint32Array<SharedArrayBuffer>;
  readonly rows: Uint32Array<SharedArrayBuffer>;
  readonly scores: Float32Array<SharedArrayBuffer>;
}

/** A table while threads fill it: row r has `counts[r]` entries from r * k on. */
export interface NeighborDraft {
  readonly k: number;
  readonly rowCount: number;
  readonly rows: Uint32Array<SharedArrayBuffer>;
  readonly scores: Float32Array<SharedArrayBuffer>;
  readonly counts: Uint32Array<SharedArrayBuffer>;
}

/** An empty draft. @param k the most neighbors that a row can have, 1 or more */
export function createDraft(rowCount: number, k: number): NeighborDraft {
  return {
    k,
    rowCount,
    rows: sharedU32(rowCount * k),
    scores: sharedF32(rowCount * k),
    counts: sharedU32(rowCount),
  };
}

/** Bytes of shared memory that a draft takes; its table takes no more, and both stand together while it is packed. */
export function draftBytes(rowCount: number, k: number): number {
  return rowCount * (k * 8 + 4);
}

/** Bytes of a table of so many rows of at most `k`, of the one that it replaces, and of their copy to be saved. */
export function tableModelsBytes(rowCount: number, k: number): number {
  return 3 * draftBytes(rowCount, k);
}

/** The neighbors of a row as views; empty for a row that the table does not have, such as that of a newer item. */
export function neighborsAt(table: NeighborTable, row: number): RankedRows {
  const from = table.starts[row] ?? 0;
  const to = row >= 0 ? (table.starts[row + 1] ?? from) : from;
  return { rows: table.rows.subarray(from, to), scores: table.scores.subarray(from, to) };
}

/**
 * A table of a draft that is full, without its gaps.
 * @param order the table's row for each row of the draft; the same ones when absent
 */
export function packDraft(
  draft: NeighborDraft,
  fingerprint: number,
  recall = 1,
  order?: Uint32Array,
): NeighborTable {
  const { rowCount, k, counts } = draft;
  const rowOf = (row: number) => order?.[row] ?? row;
  const starts = sharedU32(rowCount + 1);
  for (let row = 0; row < rowCount; row++) starts[rowOf(row) + 1] = counts[row]!;
  for (let row = 0; row < rowCount; row++) starts[row + 1]! += starts[row]!;
  const entries = starts[rowCount]!;
  const table = {
    rowCount,
    fingerprint,
    recall,
    starts,
    rows: sharedU32(entries),
    scores: sharedF32(entries),
  };
  for (let row = 0; row < rowCount; row++) {
    const to = row * k + counts[row]!;
    table.rows.set(draft.rows.subarray(row * k, to), starts[rowOf(row)]);
    table.scores.set(draft.scores.subarray(row * k, to), starts[rowOf(row)]);
  }
  if (order !== undefined) for (let at = 0; at < entries; at++) table.rows[at] = order[table.rows[at]!]!;
  return table;
}

/** A table by rows of the store, of one by rows of a matrix, which it uses up. */
export function spreadTable(table: NeighborTable, { rows, rowCount }: ServedItems): NeighborTable {
  const starts = sharedU32(rowCount + 1);
  for (let at = 0, row = 0; row <= rowCount; row++) {
    while (at < rows.length && rows[at]! < row) at++;
    starts[row] = table.starts[at]!;
  }
  for (let at = 0; at < table.rows.length; at++) table.rows[at] = rows[table.rows[at]!]!;
  return { ...table, rowCount, starts };
}

export function encodeNeighborTable(table: NeighborTable): Uint8Array {
  return encodeNested(KIND, table);
}

/**
 * Reads what `encodeNeighborTable` wrote into shared memory.
 * @throws FurzeError INTERNAL when the bytes are no table, of another version, cut short or damaged
 */
export function decodeNeighborTable(bytes: Uint8Array): NeighborTable {
  const { rowCount, fingerprint, recall, starts, rows, scores } = decodeNested(KIND, bytes) as NeighborTable;
  const sound = [rowCount, fingerprint].every((value) => Number.isInteger(value) && value >= 0);
  if (!sound || !(recall >= 0 && recall <= 1)) refuseModel(KIND, 'its description is incomplete');
  const fits =
    starts?.length === rowCount + 1 && [rows, scores].every((of) => of?.length === starts[rowCount]);
  if (!fits) refuseModel(KIND, 'its size does not fit its shape');
  if (!isAscending(starts)) refuseModel(KIND, 'its rows are in disorder');
  if (greatest(rows) >= rowCount) refuseModel(KIND, 'it names rows that it does not have');
  return {
    ...{ rowCount, fingerprint, recall },
    starts: filled(sharedU32(starts.length), starts),
    rows: filled(sharedU32(rows.length), rows),
    scores: filled(sharedF32(scores.length), scores),
  };
}

/* Loops, because a function a number takes several times as long, and a start waits for millions of them. */

function isAscending(numbers: Uint32Array): boolean {
  for (let at = 1; at < numbers.length; at++) if (numbers[at]! < numbers[at - 1]!) return false;
  return true;
}

/** -1 for none. */
function greatest(numbers: Uint32Array): number {
  let max = -1;
  for (let at = 0; at < numbers.length; at++) if (numbers[at]! > max) max = numbers[at]!;
  return max;
}

/** Storage of a part's table, as bytes of this name. */
export function tableSaving(name: string): PartSaving<NeighborTable> {
  return { name, encode: encodeNeighborTable, decode: decodeNeighborTable };
}
