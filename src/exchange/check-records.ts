import { decodeFeedback, decodeItems, decodeUsers } from '../domain/decode.ts';
import { FurzeError } from '../domain/errors.ts';
import { DEFAULT_LIMITS } from '../domain/limits.ts';
import type { Kind } from './columns.ts';

/** Records in the form of the API as a request body. */
export function encodeBatch(records: readonly object[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(JSON.stringify(records), 'utf8'));
}

/** Why the API would refuse a record: the field and the reason; undefined when it would take it. */
export function findFault(kind: Kind, record: object): string | undefined {
  const batch = { json: new Uint8Array(Buffer.from(JSON.stringify(record), 'utf8')), single: true };
  try {
    decodeAs(kind, batch);
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

/** True when the API would take all the records. */
export function areValid(kind: Kind, json: Uint8Array<ArrayBuffer>): boolean {
  try {
    decodeAs(kind, { json, single: false });
    return true;
  } catch (error) {
    if (error instanceof FurzeError) return false;
    throw error;
  }
}

function decodeAs(kind: Kind, batch: { json: Uint8Array<ArrayBuffer>; single: boolean }): void {
  if (kind === 'users') decodeUsers(batch, DEFAULT_LIMITS);
  else if (kind === 'items') decodeItems(batch, DEFAULT_LIMITS);
  else decodeFeedback(batch, DEFAULT_LIMITS, 0);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof FurzeError)) throw error;
  const place = error.places[0];
  return place === undefined ? error.message : `${place.path.split('/').at(-1)} ${place.message}`;
}
