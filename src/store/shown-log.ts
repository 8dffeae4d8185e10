/** Lists that were shown, and feedback that names the list it came of: a bounded log beside the data. */
import type { TableStats } from './data-store.ts';

/** Which list it was, as its token tells. */
export interface ListName {
  readonly placement: string;
  /** Variant of an experiment; `''` for none. */
  readonly variant: string;
  /** Generation that served; 0 for none. */
  readonly generation: number;
  /** Time of the answer, milliseconds since the epoch. */
  readonly timeMs: number;
  /** The edition of the experiment; absent for none. */
  readonly edition?: string;
  /** The way in which its entries were chosen; absent where only its ranking chose them. */
  readonly plan?: string;
  /** Milliseconds that the answer took; absent where no experiment asks for it. */
  readonly tookMs?: number;
}

/** Items of a list that a user has seen, or one that the user has given feedback on; none where the list could not be made. */
export interface ShownRecord {
  readonly userId: string;
  /** Time at which it was shown, or the feedback came; milliseconds since the epoch. */
  readonly timeMs: number;
  readonly list: ListName;
  readonly itemRows: readonly number[];
  /** Places of the items, from 1; empty for those of feedback. */
  readonly places: readonly number[];
  /** Type of the feedback; absent where items were shown. */
  readonly feedbackType?: string;
}

/** The records of one user by time, the latest of very many. */
export interface ShownToUser {
  readonly userId: string;
  readonly records: readonly ShownRecord[];
}

/** Bounds of the log: whatever is first reached. */
export interface ShownBounds {
  readonly retentionMs: number;
  readonly bytesMax: number;
}

export interface ShownLog {
  /** Resolves once the records are durable. @throws FurzeError OVERLOADED, STORE_UNAVAILABLE */
  append(records: readonly ShownRecord[]): Promise<void>;
  /** Removes all of a user. @throws FurzeError STORE_UNAVAILABLE */
  forget(userId: string): Promise<void>;
  /** The latest of a user, by time. @param most records at most */
  ofUser(userId: string, most?: number): Promise<readonly ShownRecord[]>;
  /** All users in the byte order of their ids, some at a time. */
  walk(): AsyncIterable<readonly ShownToUser[]>;
  /** Entries and bytes of its tables. @throws FurzeError STORE_UNAVAILABLE */
  getTables(): Promise<readonly TableStats[]>;
  /** Removes what is beyond the bounds, the oldest first. */
  prune(nowMs: number): Promise<void>;
  /** @throws FurzeError STORE_UNAVAILABLE once nothing more is acknowledged until a restart */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Most records of a user that are looked at, the latest. */
export const USER_RECORDS_MAX = 10_000;

/** A record less its user and time, as text. */
export function packShown({ list, itemRows, places, feedbackType }: ShownRecord): string {
  const { placement, variant, generation, timeMs, edition, plan, tookMs } = list;
  const isInOrder = places.every((place, at) => place === at + 1);
  const last = feedbackType ?? (isInOrder ? 0 : places);
  const more: unknown[] = [edition ?? '', plan ?? '', tookMs ?? ''];
  while (more.at(-1) === '') more.pop();
  return JSON.stringify([placement, variant, generation, timeMs, itemRows, last, ...more]);
}

/** The record of a text that `packShown` has made. */
export function unpackShown(userId: string, timeMs: number, text: string): ShownRecord {
  const [placement, variant, generation, listMs, itemRows, last, edition, plan, tookMs] = JSON.parse(
    text,
  ) as [
    ...[string, string, number, number, number[]],
    ...[number[] | string | 0, string | undefined, string | undefined, number | undefined],
  ];
  const more = {
    ...(edition && { edition }),
    ...(plan && { plan }),
    ...(tookMs !== undefined && { tookMs }),
  };
  const list = { placement, variant, generation, timeMs: listMs, ...more };
  const record = { userId, timeMs, list, itemRows };
  if (typeof last === 'string') return { ...record, places: [], feedbackType: last };
  return { ...record, places: last === 0 ? itemRows.map((_, at) => at + 1) : last };
}
