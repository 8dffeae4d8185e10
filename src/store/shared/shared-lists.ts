import type { PostgresDsn, RedisDsn } from '../dsn.ts';

/** Where nodes share their lists. Plain data: it goes to the workers as it is. It may hold a password: never logged. */
export interface SharedPlace {
  readonly dsn: RedisDsn | PostgresDsn;
  /** Tells the lists of this data store from those of others in the same place. */
  readonly tag: string;
  /** Time that a list is kept, milliseconds. */
  readonly ttlMs: number;
  /** Longest wait for the place, milliseconds; when absent, an answer 50 and all else 2000. */
  readonly waitMs?: number;
}

/** A user's list as bytes. */
export type PackedList = readonly [userRow: number, bytes: Uint8Array];

/** Number of the store's lists, and their bytes in the place: estimates where there are thousands. */
export interface SharedStats {
  readonly lists: number;
  readonly bytes: number;
}

/** Users' lists in a place that several nodes share, and that may lose any of them at any time. */
export interface SharedLists {
  /** The lists of these users, in their order. @throws Error when the place cannot be asked */
  get(userRows: readonly number[]): Promise<readonly (Uint8Array | undefined)[]>;
  /** Stores lists, and removes those of other users. @throws Error when some of it could not be done */
  change(lists: readonly PackedList[], removed: readonly number[]): Promise<void>;
  getStats(): Promise<SharedStats>;
  /** @throws Error when the place cannot be used, saying why */
  ping(): Promise<void>;
  /** Lets go of a connection that does not answer; the next call opens another. */
  reset(): void;
  close(): Promise<void>;
}
