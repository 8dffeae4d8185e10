import type { UserList } from './cache-store.ts';

/*
 * A stored list, wherever it is kept: u8 form | u8 bytes of a row | u16 length | u32 generation | f64 time made | f64 time
 * up to which new items were taken in | f64 version, NaN where the list has no basis | u32 settings | f32 scores | rows of
 * as few bytes as the highest needs. Numbers are little-endian, times in milliseconds since the epoch. A list of 100 takes
 * 736 bytes where there are up to 16 million items.
 */
const FORM = 1;
const HEAD_BYTES = 36;
const SCORE_BYTES = 4;

/** @throws RangeError for a list of more than 65,535 entries */
export function packList({
  generation,
  madeMs,
  knowsMs,
  itemRows,
  scores,
  basis,
}: UserList): Uint8Array<ArrayBuffer> {
  const { length } = itemRows;
  if (length > 0xffff) throw new RangeError('this list is too long to be stored');
  let highest = 0;
  for (const row of itemRows) if (row > highest) highest = row;
  const rowBytes = Math.max(1, Math.ceil((32 - Math.clz32(highest)) / 8));
  const rowsAt = HEAD_BYTES + length * SCORE_BYTES;
  const bytes = new Uint8Array(rowsAt + length * rowBytes);
  const view = new DataView(bytes.buffer);
  bytes[0] = FORM;
  bytes[1] = rowBytes;
  view.setUint16(2, length, true);
  view.setUint32(4, generation, true);
  view.setFloat64(8, madeMs, true);
  view.setFloat64(16, knowsMs, true);
  view.setFloat64(24, basis?.version ?? Number.NaN, true);
  view.setUint32(32, basis?.settings ?? 0, true);
  new Float32Array(bytes.buffer, HEAD_BYTES, length).set(scores);
  for (let at = 0, to = rowsAt; at < length; at++) {
    let row = itemRows[at]!;
    for (let each = 0; each < rowBytes; each++) {
      bytes[to++] = row;
      row >>>= 8;
    }
  }
  return bytes;
}

/** Bytes that a packed list takes by its head; undefined for another form. */
export function packedLength(bytes: Uint8Array): number | undefined {
  if (bytes.length < HEAD_BYTES || bytes[0] !== FORM) return undefined;
  const rowBytes = bytes[1]!;
  const length = bytes[2]! | (bytes[3]! << 8);
  return rowBytes < 1 || rowBytes > 4 ? undefined : HEAD_BYTES + length * (SCORE_BYTES + rowBytes);
}

/** The list that was packed, in memory of its own; undefined for bytes of another form or length. */
export function unpackList(userRow: number, bytes: Uint8Array): UserList | undefined {
  if (packedLength(bytes) !== bytes.length) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const rowBytes = bytes[1]!;
  const length = view.getUint16(2, true);
  const itemRows = new Uint32Array(length);
  for (let at = 0, from = HEAD_BYTES + length * SCORE_BYTES; at < length; at++) {
    let row = 0;
    for (let shift = 0; shift < rowBytes * 8; shift += 8) row |= bytes[from++]! << shift;
    itemRows[at] = row;
  }
  const scoresAt = bytes.byteOffset + HEAD_BYTES;
  const version = view.getFloat64(24, true);
  return {
    userRow,
    generation: view.getUint32(4, true),
    madeMs: view.getFloat64(8, true),
    knowsMs: view.getFloat64(16, true),
    itemRows,
    scores: new Float32Array(bytes.buffer.slice(scoresAt, scoresAt + length * SCORE_BYTES)),
    ...(!Number.isNaN(version) && { basis: { version, settings: view.getUint32(32, true) } }),
  };
}
