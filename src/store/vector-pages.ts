import type { Page } from '../domain/entities.ts';
import { FurzeError } from '../domain/furze-error.ts';
import { type ItemVector, shortNumbers, type VectorSpace } from '../domain/vector-space.ts';
import { turns } from '../platform/concurrency/event-loop-turns.ts';
import type { LocalReads } from './data-store.ts';

/** Numbers of a page at most, and those that are looked at in one turn, unless one vector has more: some milliseconds of work. */
const NUMBERS_MAX = 32_768;
/** Turns after which a page ends early, however few vectors it has: others are of other spaces. */
const TURNS_MAX = 256;

/** A vector as it is written as JSON. */
export interface PlainVector extends Pick<ItemVector, 'ItemId'> {
  readonly Vector: readonly number[];
}

/**
 * Vectors of a space by item row, at most `n`, from a cursor on.
 * @throws FurzeError INVALID_CURSOR
 */
export async function vectorPage(
  reads: Pick<LocalReads, 'scanVectors' | 'itemIdAt'>,
  name: string,
  { dimensions }: VectorSpace,
  n: number,
  cursor: string,
): Promise<Page<PlainVector>> {
  if (!/^\d{0,10}$/.test(cursor))
    throw new FurzeError('INVALID_CURSOR', 'cursor was not made by this server.');
  const rows: PlainVector[] = [];
  if (n === 0) return { cursor: '', rows };
  const most = Math.min(n, Math.max(1, Math.floor(NUMBERS_MAX / dimensions)));
  let next = Number(cursor);
  for (let turn = 0; next >= 0 && rows.length < most && turn < TURNS_MAX; turn++) {
    if (turn > 0) await turns.take();
    let numbers = 0;
    const found: { readonly row: number; readonly vector: Float32Array }[] = [];
    next = reads.scanVectors(next, (row, space, vector) => {
      numbers += vector.length;
      if (space === name && vector.length === dimensions) found.push({ row, vector });
      return rows.length + found.length < most && numbers < NUMBERS_MAX;
    });
    for (const { row, vector } of found)
      rows.push({ ItemId: reads.itemIdAt(row)!, Vector: shortNumbers(vector) });
  }
  return { cursor: next < 0 ? '' : String(next), rows };
}
