import { FurzeError } from '../../../domain/furze-error.ts';
import { FNV_BASIS, fnv } from '../../../domain/hash.ts';
import { readRow, readType, tripleKey } from './record-layout.ts';

/*
 * A cursor is base64url of: version | kind | position | checksum (4 bytes). The position is the key of the last entry
 * shown, so a walk goes on behind it whatever was inserted or removed since.
 */
const CURSOR_VERSION = 1;
const HEAD_BYTES = 2;
const CHECKSUM_BYTES = 4;

export type CursorKind = 'users' | 'items' | 'feedback';

const KIND_BYTES: Record<CursorKind, number> = { users: 1, items: 2, feedback: 3 };

export function encodeCursor(kind: CursorKind, position: Uint8Array): string {
  const bytes = Buffer.alloc(HEAD_BYTES + position.length + CHECKSUM_BYTES);
  bytes[0] = CURSOR_VERSION;
  bytes[1] = KIND_BYTES[kind];
  bytes.set(position, HEAD_BYTES);
  const end = bytes.length - CHECKSUM_BYTES;
  bytes.writeUInt32LE(checksum(bytes.subarray(0, end)), end);
  return bytes.toString('base64url');
}

/**
 * @returns the position in the cursor, undefined for `""`
 * @throws FurzeError INVALID_CURSOR for anything that `encodeCursor` did not make for this kind
 */
export function decodeCursor(kind: CursorKind, cursor: string): Uint8Array | undefined {
  if (cursor === '') return undefined;
  const bytes = Buffer.from(cursor, 'base64url');
  const end = bytes.length - CHECKSUM_BYTES;
  const valid =
    end > HEAD_BYTES &&
    bytes[0] === CURSOR_VERSION &&
    bytes[1] === KIND_BYTES[kind] &&
    bytes.readUInt32LE(end) === checksum(bytes.subarray(0, end)) &&
    bytes.toString('base64url') === cursor;
  if (!valid) {
    const message = 'must be the Cursor of an earlier page of the same list';
    throw new FurzeError('INVALID_CURSOR', `The cursor ${message}.`, [{ path: 'cursor', message }]);
  }
  return bytes.subarray(HEAD_BYTES, end);
}

/** Where a walk over feedback stands: behind this record. */
export interface FeedbackPosition {
  readonly userRow: number;
  readonly itemRow: number;
  readonly type: number;
}

export function encodeFeedbackCursor(position: FeedbackPosition): string {
  return encodeCursor('feedback', tripleKey(position.userRow, position.itemRow, position.type));
}

/** @throws FurzeError INVALID_CURSOR */
export function decodeFeedbackCursor(cursor: string): FeedbackPosition | undefined {
  const key = decodeCursor('feedback', cursor);
  if (key === undefined) return undefined;
  return { userRow: readRow(key, 0), itemRow: readRow(key, 4), type: readType(key, 8) };
}

/** The checksum catches accidents; a forged cursor is no more than a position. */
function checksum(bytes: Uint8Array): number {
  let hash = FNV_BASIS;
  for (const byte of bytes) hash = fnv(hash, byte);
  return hash >>> 0;
}
