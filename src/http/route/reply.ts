/** A response, free of any transport. */
export interface Reply {
  readonly status: number;
  readonly contentType: string;
  /** Ready to send; strings go out as UTF-8. */
  readonly body: string | Uint8Array;
  /**
   * Instead of a body: its parts, each asked for when the peer has taken those before it, so that a long answer is
   * never whole in memory. A part takes a few milliseconds to make at most and is some ten KiB.
   */
  readonly parts?: Iterable<string> | AsyncIterable<string | Uint8Array>;
  /** Parts come as things happen: between them nobody is late, and a stop of the service ends the answer. */
  readonly lasts?: boolean;
  /** Called instead when the parts are not asked for: the caller is gone, or there is no memory for the answer. */
  readonly discard?: () => void;
  readonly headers?: ReplyHeaders;
}

export type ReplyHeaders = readonly (readonly [name: string, value: string])[];

/** Types of pages and of their files, which say by themselves how long they are kept. */
const FILE_TYPE = /^(text\/(html|css|javascript)|image\/)/;

/**
 * Headers of every reply beside its request id: any page may read it, no browser guesses its type, and no cache on the way hands
 * what is data to another, who may have no key.
 */
export function commonHeaders(contentType: string): ReplyHeaders {
  return [
    ['Access-Control-Allow-Origin', '*'],
    ['X-Content-Type-Options', 'nosniff'],
    ...(FILE_TYPE.test(contentType) ? [] : [['Cache-Control', 'no-store'] as const]),
    ...(contentType === '' ? [] : [['Content-Type', contentType] as const]),
  ];
}

const HTML_TYPE = 'text/html; charset=utf-8';

/** A page runs the scripts of this server alone and none in its text, talks to this server alone, and sits in no frame. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** A page for people, with what keeps strangers' scripts out of it. */
export function page(html: string): Reply {
  return {
    status: 200,
    contentType: HTML_TYPE,
    body: html,
    headers: [
      ['Content-Security-Policy', PAGE_POLICY],
      ['Referrer-Policy', 'no-referrer'],
      ['Cache-Control', 'no-cache'],
    ],
  };
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

/** The same with headers of its own. */
export function jsonWith(text: string, headers: ReplyHeaders): Reply {
  return { status: 200, contentType: JSON_TYPE, body: text, headers };
}

const SOURCE_HEADER = 'X-Furze-Source';
/** The token of a list of a placement. */
export const TOKEN_HEADER = 'X-Furze-Recommendation';
/** The item that a list goes by. */
export const SEED_HEADER = 'X-Furze-Seed';
/** Pages of other origins may read them. */
const FOR_PAGES = [
  'Access-Control-Expose-Headers',
  [TOKEN_HEADER, SOURCE_HEADER, SEED_HEADER].join(', '),
] as const;
/** The meaning of `SOURCE_HEADER`, for the OpenAPI document. */
export const SOURCE_HEADERS: Readonly<Record<string, string>> = {
  [SOURCE_HEADER]:
    'What made the answer, in order: personal (the own list of the user), session, sequence, pins, or names of recommenders such as popular; none for an empty answer',
};
/** By source; there are as many as orders of recommenders that happen to fill an answer. */
const headersBySource = new Map<string, ReplyHeaders>();

/** The headers that tell what made an answer. */
export function sourceHeaders(source: string): ReplyHeaders {
  let headers = headersBySource.get(source);
  if (headers === undefined) {
    headers = [[SOURCE_HEADER, source], FOR_PAGES];
    headersBySource.set(source, headers);
  }
  return headers;
}

export function byteLengthOf(body: string | Uint8Array): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
}

/** The header that tells the item that a list goes by. */
export function seedHeaders(seed: string | undefined): ReplyHeaders {
  return seed === undefined ? [] : [[SEED_HEADER, encodeURIComponent(seed)]];
}
