import type { Interactions } from './interactions.ts';

/** The pairs held out, as columns; each once. */
export interface HeldOutPairs {
  readonly userRows: Uint32Array;
  readonly itemRows: Uint32Array;
}

/** The row in the store of each row of a matrix, ascending. */
export interface StoreRows {
  readonly users: Uint32Array;
  readonly items: Uint32Array;
}

/**
 * Data that models are trained on and judged by. All arrays are in shared memory. Rows of the matrix are those users and
 * items of the store that have positive feedback.
 */
export interface TrainingData {
  readonly interactions: Interactions;
  readonly rows: StoreRows;
  /** Rows that the store had ever given: what came later is not part of this. */
  readonly userRowCount: number;
  readonly itemRowCount: number;
  /** By rows of the matrix. */
  readonly heldOut: HeldOutPairs;
  /** Time of the first feedback left out, milliseconds since the epoch; Infinity when none is. */
  readonly heldOutSinceMs: number;
  /** Tells this data from other data. */
  readonly fingerprint: number;
  /** Distinct pairs, those held out among them and those of users outside the sample. */
  readonly positives: number;
  /** The share of the users that are learned from; 1 unless all would take more memory than there may be. */
  readonly userShare: number;
}

/** Pairs of a user and an item as columns, in any order. */
export interface PairColumns {
  readonly userRows: ArrayLike<number>;
  readonly itemRows: ArrayLike<number>;
}

/** The labels of a row; none for one that has none or does not exist. */
export type LabelsOf = (row: number) => readonly string[];

/** Data that a model may read beside `TrainingData`. Each is read from the store when it is asked for. */
export interface TrainingReads {
  /** Users and items that there are: rows are never used again, so there may be more rows than these. */
  readonly userCount: number;
  readonly itemCount: number;
  /** The row of an id in the store; -1 for none. */
  itemRow(itemId: string): number;
  userRow(userId: string): number;
  /** The labels of all items, read at once. */
  itemLabels(): LabelsOf;
  /** The labels of all users, read at once. */
  userLabels(): LabelsOf;
  /**
   * Pairs that were read before what is held out and are not positive, known or held out. Users by row of the matrix,
   * the number of its users for one that has none; items by row of the store. Where a sample of the users is learned
   * from, the others' are left out, for what these like is not known.
   */
  readPairs(data: TrainingData): PairColumns;
  /**
   * Hands out, user by user, when the user gave the latest positive feedback on each of the items that it has in
   * `data.interactions`, milliseconds since the epoch, in the order of these; every user with any is visited once.
   */
  readTimes(data: TrainingData, visit: (userRow: number, timesMs: Float64Array) => void): void;
}

/** Held-out records, by rows of the store. */
export function heldOutInStore({ heldOut, rows }: Pick<TrainingData, 'heldOut' | 'rows'>): HeldOutPairs {
  return {
    userRows: heldOut.userRows.map((row) => rows.users[row]!),
    itemRows: heldOut.itemRows.map((row) => rows.items[row]!),
  };
}
