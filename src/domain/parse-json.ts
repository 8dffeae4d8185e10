import { FurzeError } from './furze-error.ts';
import type { Limits } from './request-limits.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Limits of a body, beyond its depth. */
export interface BodyBounds {
  /** Entries of a body that is an array. */
  readonly recordsMax?: number;
  readonly valuesMax?: number;
}

/**
 * Parses a body, once its shape is known to be within bounds.
 * @throws FurzeError INVALID_JSON, INVALID_BODY when it is nested too deep or holds too many values, BATCH_TOO_LARGE
 */
export function parseJson(json: Uint8Array, limits: Limits, bounds: BodyBounds = {}): unknown {
  if (json.length === 0) throw new FurzeError('INVALID_JSON', 'The body is empty.');
  checkShape(json, limits, bounds);
  let text: string;
  try {
    text = utf8.decode(json);
  } catch {
    throw new FurzeError('INVALID_JSON', 'The body is not valid UTF-8.');
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new FurzeError('INVALID_JSON', `The body is not valid JSON: ${(error as SyntaxError).message}.`);
  }
}

function checkShape(json: Uint8Array, { jsonDepthMax }: Limits, bounds: BodyBounds): void {
  const { recordsMax, valuesMax = Number.POSITIVE_INFINITY } = bounds;
  const { depth, entries, values } = scanJson(json, jsonDepthMax);
  if (depth > jsonDepthMax) {
    throw refusal('INVALID_BODY', `must not be nested deeper than ${jsonDepthMax} arrays and objects`);
  }
  if (recordsMax !== undefined && entries > recordsMax) {
    throw refusal('BATCH_TOO_LARGE', `holds ${entries} records and may hold at most ${recordsMax}`);
  }
  if (values > valuesMax) throw refusal('INVALID_BODY', `must not hold more than ${valuesMax} values`);
}

function refusal(code: 'INVALID_BODY' | 'BATCH_TOO_LARGE', message: string): FurzeError {
  return new FurzeError(code, `The body ${message}.`, [{ path: '', message }]);
}

/** Numbers of the parts of a JSON text, by its brackets. */
export interface JsonShape {
  /** Arrays and objects within each other; one above the limit when the scan stopped there. */
  readonly depth: number;
  /** Entries of the outermost array or object. */
  readonly entries: number;
  /** About how many values there are in all, at any depth. */
  readonly values: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACKET = 0x5d;
const CLOSING_BRACE = 0x7d;
/** Blanks and line ends are at most this. */
const BLANK_MAX = 0x20;

/**
 * Looks over a text before it is parsed: a parser takes a minute and gigabytes for brackets nested without end, and
 * has no limits of its own. One pass, nothing allocated. Of a text that is not JSON it tells anything.
 * @param depthMax the scan stops when arrays and objects are nested deeper
 */
export function scanJson(json: Uint8Array, depthMax: number): JsonShape {
  const { length } = json;
  let depth = 0;
  let deepest = 0;
  let entryCommas = 0;
  let values = 1;
  let hasEntries = false;
  for (let at = 0; at < length; at++) {
    const byte = json[at]!;
    if (depth === 1 && !hasEntries && byte > BLANK_MAX) hasEntries = !isClosing(byte);
    if (byte === QUOTE) {
      at = endOfText(json, at);
    } else if (byte === COMMA) {
      values++;
      if (depth === 1) entryCommas++;
    } else if (byte === OPENING_BRACKET || byte === OPENING_BRACE) {
      values++;
      if (++depth > deepest) deepest = depth;
      if (depth > depthMax) break;
    } else if (isClosing(byte)) {
      depth--;
    }
  }
  return { depth: deepest, entries: hasEntries ? entryCommas + 1 : 0, values };
}

function isClosing(byte: number): boolean {
  return byte === CLOSING_BRACKET || byte === CLOSING_BRACE;
}

/** The position of the quote that ends the text that starts at `start`, or the end of all. */
function endOfText(json: Uint8Array, start: number): number {
  const { length } = json;
  let at = start + 1;
  for (; at < length; at++) {
    const byte = json[at]!;
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at++;
  }
  return length;
}
