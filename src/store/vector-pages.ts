import type { Page } from '../domain/entities.ts';
import { FurzeError } from '../domain/furze-error.ts';
import { type ItemVector, shortNumbers, type VectorSpace } from '../domain/vector-space.ts';
import type { LocalReads } from './data-store.ts';

/** Numbers of a page at most, unless one vector has more: some milliseconds of work. */
const NUMBERS_MAX = 32_768;

/** A vector as it is written as JSON. */
export interface PlainVector extends Pick<ItemVector, 'ItemId'> {
  readonly Vector: readonly number[];
}

/**
 * Vectors of a space by item row, at most `n`, from a cursor on.
 * @throws FurzeError INVALID_CURSOR
 */
export function vectorPage(
  reads: LocalReads,
  name: string,
  { dimensions }: VectorSpace,
  n: number,
  cursor: string,
): Page<PlainVector> {
  if (!/^\d{0,10}$/.test(cursor))
    throw new FurzeError('INVALID_CURSOR', 'cursor was not made by this server.');
  const rows: PlainVector[] = [];
  if (n === 0) return { cursor: '', rows };
  const most = Math.min(n, Math.max(1, Math.floor(NUMBERS_MAX / dimensions)));
  const found: { readonly row: number; readonly vector: Float32Array }[] = [];
  const next = reads.scanVectors(Number(cursor), (row, space, vector) => {
    if (space === name && vector.length === dimensions) found.push({ row, vector });
    return found.length < most;
  });
  for (const { row, vector } of found)
    rows.push({ ItemId: reads.itemIdAt(row)!, Vector: shortNumbers(vector) });
  return { cursor: next < 0 ? '' : String(next), rows };
}
