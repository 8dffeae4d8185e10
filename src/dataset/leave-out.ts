import { fnvWord } from '../domain/hash.ts';
import { holdOut, type TimedPairs } from './holdout.ts';
import { fingerprint, type Interactions } from './interactions.ts';

/** The pairs held out, as columns; each once. */
export interface HeldOutPairs {
  readonly userRows: Uint32Array;
  readonly itemRows: Uint32Array;
}

/** Positive feedback without what is held out, and what is. */
export interface LeftOut {
  readonly userRows: Uint32Array;
  readonly itemRows: Uint32Array;
  /** Of each record that stays, where the records have weights. */
  readonly weights?: Float32Array;
  /** What models are judged by. */
  readonly heldOut: HeldOutPairs;
  /** Distinct pairs left out; of some nothing can be told, so they are not judged by. */
  readonly pairCount: number;
  /** The time as of which is judged, Infinity when nothing is left out. */
  readonly sinceTime: number;
}

/** One number for a pair. */
const keyOf = (userRow: number, itemRow: number) => userRow * 2 ** 32 + itemRow;

/** The distinct pairs at these positions, a user's together. */
function columns({ userRows, itemRows }: TimedPairs, positions: Uint32Array): HeldOutPairs {
  const items = new Map<number, Set<number>>();
  for (const at of positions) {
    const known = items.get(userRows[at]!);
    if (known === undefined) items.set(userRows[at]!, new Set([itemRows[at]!]));
    else known.add(itemRows[at]!);
  }
  const users = Array.from(items, ([user, theirs]) => new Array<number>(theirs.size).fill(user)).flat();
  const theirs = Array.from(items.values(), (rows) => [...rows]).flat();
  return { userRows: Uint32Array.from(users), itemRows: Uint32Array.from(theirs) };
}

/**
 * Splits positive feedback by `holdOut`. Every record of a pair left out is left out, so that an item which a user
 * liked in two ways is not learned from the other record.
 */
export function leaveOut(pairs: TimedPairs & { readonly weights?: Float32Array }, seed: number): LeftOut {
  const { late, judged, sinceTime } = holdOut(pairs, seed);
  const left = new Set<number>();
  for (const at of late) left.add(keyOf(pairs.userRows[at]!, pairs.itemRows[at]!));
  const userRows = new Uint32Array(pairs.userRows.length);
  const itemRows = new Uint32Array(pairs.userRows.length);
  const weights = pairs.weights && new Float32Array(pairs.userRows.length);
  let count = 0;
  for (let at = 0; at < userRows.length; at++) {
    const user = pairs.userRows[at]!;
    const item = pairs.itemRows[at]!;
    if (left.has(keyOf(user, item))) continue;
    userRows[count] = user;
    if (weights !== undefined) weights[count] = pairs.weights![at]!;
    itemRows[count++] = item;
  }
  return {
    userRows: userRows.subarray(0, count),
    itemRows: itemRows.subarray(0, count),
    ...(weights !== undefined && { weights: weights.subarray(0, count) }),
    heldOut: columns(pairs, judged),
    pairCount: left.size,
    sinceTime,
  };
}

/** A hash of all pairs, those held out among them: `fingerprint` alone does not see a pair that is held out. */
export function fingerprintOfAll(interactions: Interactions, { userRows, itemRows }: HeldOutPairs): number {
  let hash = fingerprint(interactions);
  for (let at = 0; at < userRows.length; at++) {
    for (const row of [userRows[at]!, itemRows[at]!]) {
      hash = fnvWord(hash, row);
    }
  }
  return hash >>> 0;
}
