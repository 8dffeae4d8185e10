import { FurzeError } from './furze-error.ts';
import type { Limits } from './request-limits.ts';
import { formatTimestamp, parseTimestamp } from './rfc3339.ts';

/** Where a value stands: written out only when there is an error to tell. */
export type Place = string | (() => string);

/** The place of a field of a record. @param record its position in a batch, `''` for a body of one */
export function at(record: string | number, field: string): () => string {
  return () => (record === '' ? `/${field}` : `/${record}/${field}`);
}

export function refuseBody(place: Place, message: string): FurzeError {
  return fault('INVALID_BODY', place, message);
}

function fault(code: 'INVALID_BODY' | 'INVALID_PARAMETER', place: Place, message: string): FurzeError {
  const path = typeof place === 'string' ? place : place();
  return new FurzeError(code, `${path} ${message}.`, [{ path, message }]);
}

/**
 * Checks an id, a feedback type or a category: 1 to `limits.idBytesMax` bytes of UTF-8, without
 * U+0000.
 * @param place JSON pointer or parameter name, for the error
 * @throws FurzeError `code`, by default INVALID_BODY
 */
export function checkId(
  id: string,
  place: Place,
  limits: Limits,
  code: 'INVALID_BODY' | 'INVALID_PARAMETER' = 'INVALID_BODY',
): string {
  const length = id.length;
  if (length === 0) throw fault(code, place, 'must not be empty');
  let bytes = length;
  for (let i = 0; i < length; i++) {
    const unit = id.charCodeAt(i);
    if (unit === 0) throw fault(code, place, 'must not contain U+0000');
    if (unit < 0x80) continue;
    bytes += unit < 0x800 ? 1 : 2;
    if (unit < 0xd800 || unit > 0xdfff) continue;
    // A pair is four bytes for two units; half a pair has no UTF-8 and two such ids would be stored as one.
    const next = id.charCodeAt(i + 1);
    if (unit > 0xdbff || !(next >= 0xdc00 && next <= 0xdfff)) {
      throw fault(code, place, 'must be well-formed Unicode');
    }
    i++;
  }
  if (bytes > limits.idBytesMax)
    throw fault(code, place, `must be at most ${limits.idBytesMax} bytes of UTF-8`);
  return id;
}

/** As `checkId`, and without a slash. */
export function checkItemId(
  id: string,
  place: Place,
  limits: Limits,
  code: 'INVALID_BODY' | 'INVALID_PARAMETER' = 'INVALID_BODY',
): string {
  if (id.includes('/')) throw fault(code, place, 'must not contain a slash');
  return checkId(id, place, limits, code);
}

/** Labels, categories and the like; undefined when none are given. @throws FurzeError INVALID_BODY */
export function checkTexts(
  values: readonly string[] | null | undefined,
  place: Place,
  limits: Limits,
): readonly string[] | undefined {
  if (values === null || values === undefined) return undefined;
  if (values.length > limits.labelsMax)
    throw fault('INVALID_BODY', place, `must hold at most ${limits.labelsMax} entries`);
  for (let i = 0; i < values.length; i++) checkText(values[i]!, place, limits.labelBytesMax, i);
  return values;
}

/** A comment; undefined when none is given. @throws FurzeError INVALID_BODY */
export function checkComment(
  comment: string | null | undefined,
  place: Place,
  limits: Limits,
): string | undefined {
  if (comment === null || comment === undefined) return undefined;
  checkText(comment, place, limits.commentBytesMax);
  return comment;
}

/** The canonical form of a timestamp; `""` stays. @throws FurzeError INVALID_BODY */
export function checkTimestamp(timestamp: string | null | undefined, place: Place): string | undefined {
  if (timestamp === null || timestamp === undefined) return undefined;
  if (timestamp === '') return '';
  const timeMs = parseTimestamp(timestamp);
  if (Number.isNaN(timeMs)) {
    throw fault('INVALID_BODY', place, 'must be a date and time as RFC 3339 has it, or a date');
  }
  return isCanonical(timestamp) ? timestamp : formatTimestamp(timeMs);
}

/** True when a text that parses is already what `formatTimestamp` would write. */
function isCanonical(timestamp: string): boolean {
  return timestamp.length === 20 && timestamp.charCodeAt(10) === 0x54 && timestamp.charCodeAt(19) === 0x5a;
}

/**
 * A text is kept as UTF-8, so half of a surrogate pair could not be given back.
 * @param entry its position in a list, for the error
 */
function checkText(text: string, place: Place, bytesMax: number, entry?: number): void {
  const { length } = text;
  // A UTF-16 unit is at most three bytes of UTF-8, so short texts need no count.
  if (length * 3 > bytesMax && Buffer.byteLength(text) > bytesMax) {
    throw fault('INVALID_BODY', within(place, entry), `must be at most ${bytesMax} bytes of UTF-8`);
  }
  if (!text.isWellFormed()) throw fault('INVALID_BODY', within(place, entry), 'must be well-formed Unicode');
}

function within(place: Place, entry: number | undefined): Place {
  const path = typeof place === 'string' ? place : place();
  return entry === undefined ? path : `${path}/${entry}`;
}
