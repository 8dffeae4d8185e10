/** What a caller may send at most. Each is a configuration key; a breach is a clear 413 or 400. */
export interface Limits {
  /** Bytes of a request body. */
  readonly bodyBytesMax: number;
  /** Records in one batch. */
  readonly batchRecordsMax: number;
  /** Labels, categories or subscriptions of one record. */
  readonly labelsMax: number;
  /** UTF-8 bytes of one comment. */
  readonly commentBytesMax: number;
  /** UTF-8 bytes of an id, a feedback type or a category in a path. */
  readonly idBytesMax: number;
  /** The largest `n` of a list. */
  readonly nMax: number;
}

export const DEFAULT_LIMITS: Limits = Object.freeze({
  bodyBytesMax: 64 * 1024 * 1024,
  batchRecordsMax: 100_000,
  labelsMax: 512,
  commentBytesMax: 64 * 1024,
  idBytesMax: 512,
  nMax: 10_000,
});
