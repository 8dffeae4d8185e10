/** A response, free of any transport. */
export interface Reply {
  readonly status: number;
  readonly contentType: string;
  /** Ready to send; strings go out as UTF-8. */
  readonly body: string | Uint8Array;
  readonly headers?: readonly (readonly [name: string, value: string])[];
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** A 200 that carries a value as JSON. */
export function json(value: unknown): Reply {
  return jsonText(JSON.stringify(value));
}

/** A 200 that carries JSON text as it is. */
export function jsonText(text: string): Reply {
  return { status: 200, contentType: JSON_TYPE, body: text };
}

/** The answer to a write: the number of rows it touched. */
export function writeResult(rowAffected: number): Reply {
  return jsonText(`{"RowAffected":${rowAffected}}`);
}

/** The bytes of a body on the wire. */
export function byteLengthOf(body: string | Uint8Array): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
}
