import type { TableStats } from './data-store.ts';

/**
 * The cache store: what can be computed again. One packed list a user, never one per user and category,
 * so its size is bounded by users x cache_size x 8 bytes.
 */
export interface CacheStore {
  /** Replaces the users' lists in one transaction, and removes those of the users in `removed`. */
  putLists(lists: readonly UserList[], removed?: readonly number[]): Promise<void>;
  getList(userRow: number): Promise<UserList | undefined>;
  /** Small named values: generation numbers, times of the last fit, progress of jobs. */
  putState(name: string, value: unknown): Promise<void>;
  getState(name: string): Promise<unknown>;
  /** Large binary values by name (models); replaced as a whole. */
  putBlob(name: string, bytes: Uint8Array): Promise<void>;
  getBlob(name: string): Promise<Uint8Array | undefined>;
  getStats(): Promise<CacheStats>;
  getTables(): Promise<readonly TableStats[]>;
  ping(): Promise<void>;
  /** The lists at hand; undefined where they have to be asked for. */
  readonly local: LocalCache | undefined;
  close(): Promise<void>;
}

/** Small named values that outlive the process. */
export type SavedStates = Pick<CacheStore, 'putState' | 'getState'>;

export interface CacheStats {
  readonly lists: number;
  /** Bytes that the lists take on disk. */
  readonly listBytes: number;
  /** Bytes of the whole cache on disk. */
  readonly bytes: number;
  /** False while it cannot be read. */
  readonly isAvailable: boolean;
  /** Number of questions without an answer in time since the start. */
  readonly failures: number;
}

/** A user's cached list, best first. */
export interface UserList {
  readonly userRow: number;
  /** Number of the model generation that made it. */
  readonly generation: number;
  /** Time of its making, milliseconds since the epoch. */
  readonly madeMs: number;
  /** Up to when new items were taken in, milliseconds since the epoch; not before `madeMs`. */
  readonly knowsMs: number;
  readonly itemRows: Uint32Array;
  readonly scores: Float32Array;
  /** Where the data is shared between nodes; absent where this node alone knows what changes. */
  readonly basis?: ListBasis;
}

/** State that a list was made from. With a generation of the same number, it is as of now where all of this is. */
export interface ListBasis {
  /** Tells the user's feedback from any other: a whole number of 53 bits. */
  readonly version: number;
  /** Tells the settings of lists from others: 32 bits. */
  readonly settings: number;
}

/** The synchronous read of an embedded cache. */
export interface LocalCache {
  /** Lets go of the snapshot that reads look at; the next read sees what other threads have committed. */
  refresh(): void;
  readList(userRow: number): UserList | undefined;
}
