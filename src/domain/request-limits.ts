/**
 * Limits on what a caller sends and asks for; all but the length of an id are configuration keys. A breach is a clear 413 or
 * 400, but for a page, which ends early.
 */
export interface Limits {
  readonly bodyBytesMax: number;
  readonly batchRecordsMax: number;
  readonly sessionRecordsMax: number;
  /** Bytes of the body of a request for a session, which is read on the thread that serves. */
  readonly sessionBytesMax: number;
  /** Arrays and objects within each other in a body. */
  readonly jsonDepthMax: number;
  /** Labels, categories or subscriptions of one record. */
  readonly labelsMax: number;
  /** UTF-8 bytes of one label, category or subscription. */
  readonly labelBytesMax: number;
  /** UTF-8 bytes of one comment. */
  readonly commentBytesMax: number;
  /** UTF-8 bytes of an id, a feedback type or a category in a path. */
  readonly idBytesMax: number;
  /** The largest `n` of a list. */
  readonly nMax: number;
  /** The largest `offset` of a list. */
  readonly offsetMax: number;
  /** Bytes of records as stored from which on a page ends early with its cursor. */
  readonly pageBytesMax: number;
}

export const DEFAULT_LIMITS: Limits = Object.freeze({
  bodyBytesMax: 64 * 1024 * 1024,
  batchRecordsMax: 100_000,
  sessionRecordsMax: 1000,
  sessionBytesMax: 1024 * 1024,
  jsonDepthMax: 32,
  labelsMax: 512,
  labelBytesMax: 1024,
  commentBytesMax: 64 * 1024,
  idBytesMax: 512,
  nMax: 10_000,
  offsetMax: 10_000,
  pageBytesMax: 4 * 1024 * 1024,
});
