import { FurzeError } from './errors.ts';
import type { Limits } from './limits.ts';
import { scanJson } from './scan-json.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** What a body may hold at most, beyond its depth. */
export interface BodyBounds {
  /** Entries of a body that is an array. */
  readonly recordsMax?: number;
  /** Values in all. */
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
