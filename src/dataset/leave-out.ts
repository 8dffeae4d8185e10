import { fnvWord } from '../domain/hash.ts';
import { fingerprint, type Interactions } from './interactions.ts';

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
 * A hash of all pairs, those held out among them, and of whose they are: `fingerprint` alone does not see a pair that is
 * held out, nor that a user has come in another's place.
 */
export function fingerprintOfAll(
  interactions: Interactions,
  { userRows, itemRows }: HeldOutPairs,
  { users, items }: StoreRows,
): number {
  let hash = fingerprint(interactions);
  for (const rows of [userRows, itemRows, users, items]) {
    for (const row of rows) {
      hash = fnvWord(hash, row);
    }
  }
  return hash >>> 0;
}
