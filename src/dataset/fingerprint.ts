import { FNV_BASIS, fnvWord } from '../domain/hash.ts';
import type { Interactions } from './interactions.ts';
import type { HeldOutPairs, StoreRows } from './training-data.ts';

/**
 * A 32-bit FNV-1a hash of the shape, the entries and the weights. Two data sets that differ are told apart
 * with high probability; it guards against mixing up, not against forgery.
 */
export function fingerprint({ userCount, itemCount, byUser }: Interactions): number {
  let hash = FNV_BASIS;
  const mix = (value: number) => {
    hash = fnvWord(hash, value);
  };
  mix(userCount);
  mix(itemCount);
  for (const value of byUser.indptr) mix(value);
  for (const value of byUser.indices) mix(value);
  if (byUser.weights !== null) {
    const bits = new Uint32Array(byUser.weights.buffer, byUser.weights.byteOffset, byUser.weights.length);
    for (const value of bits) mix(value);
  }
  return hash >>> 0;
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
