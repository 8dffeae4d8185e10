import type { ITEM_FIELDS, Stored, USER_FIELDS } from './entity-fields.ts';
import type { LabelFields } from './labels.ts';

/**
 * The three kinds of entity and what lists of them look like, in the field names of the HTTP API. A stored entity has
 * every field. Timestamps are RFC 3339 text here, and milliseconds since the Unix epoch wherever rows are read.
 */

/** A user as stored and as answered. */
export interface User extends Stored<typeof USER_FIELDS>, LabelFields {
  readonly UserId: string;
}

/** An item as stored and as answered. `Timestamp` is RFC 3339 UTC, or `""` for an item without one. */
export interface Item extends Stored<typeof ITEM_FIELDS>, LabelFields {
  readonly ItemId: string;
}

/** One feedback; the triple (FeedbackType, UserId, ItemId) is unique. `Timestamp` is RFC 3339 UTC. */
export interface Feedback {
  readonly FeedbackType: string;
  readonly UserId: string;
  readonly ItemId: string;
  readonly Timestamp: string;
  readonly Comment: string;
  /** A rating, a duration, an amount; absent for 0. */
  readonly Value?: number;
  /** True where it came without a time, so that `Timestamp` is that of its arrival; never of stored feedback. */
  readonly isUntimed?: true;
  /** Token of the list that it came of: given with a write and kept beside what was shown, never with the feedback. */
  readonly Recommendation?: string;
}

/** A page of a walk: `cursor` is opaque and `""` on the last page. */
export interface Page<T> {
  readonly cursor: string;
  readonly rows: T[];
}

/** An entry of a ranked list; higher scores are better. */
export interface ScoredEntry {
  readonly Id: string;
  readonly Score: number;
}

/** Records to write: a JSON body as it came (checked and decoded by the writer), or decoded records. */
export type Batch<T> =
  | { readonly json: Uint8Array<ArrayBuffer>; readonly single: boolean }
  | { readonly records: readonly T[] };

const TITLE_LENGTH_MAX = 200;

/** The title of an item by its comment, which may be long. */
export function titleOf(comment: string): string {
  return comment.length > TITLE_LENGTH_MAX ? `${comment.slice(0, TITLE_LENGTH_MAX)}…` : comment;
}
