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
  /** What models are judged by. */
  readonly heldOut: HeldOutPairs;
  /** Distinct pairs left out; of some nothing can be told, so they are not judged by. */
  readonly pairCount: number;
  /** The time of the first record left out, Infinity when there is none. */
  readonly sinceTime: number;
}

/** Distinct pairs, by user. */
class PairSet {
  private readonly items = new Map<number, Set<number>>();

  constructor({ userRows, itemRows }: TimedPairs, positions: Uint32Array) {
    for (const at of positions) {
      const known = this.items.get(userRows[at]!);
      if (known === undefined) this.items.set(userRows[at]!, new Set([itemRows[at]!]));
      else known.add(itemRows[at]!);
    }
  }

  get size(): number {
    let size = 0;
    for (const items of this.items.values()) size += items.size;
    return size;
  }

  has(userRow: number, itemRow: number): boolean {
    return this.items.get(userRow)?.has(itemRow) === true;
  }

  columns(): HeldOutPairs {
    const userRows = Array.from(this.items, ([user, items]) =>
      new Array<number>(items.size).fill(user),
    ).flat();
    const itemRows = Array.from(this.items.values(), (items) => [...items]).flat();
    return { userRows: Uint32Array.from(userRows), itemRows: Uint32Array.from(itemRows) };
  }
}

/**
 * Splits positive feedback by `holdOut`. Every record of a pair left out is left out, so that an item which a user
 * liked in two ways is not learned from the other record.
 */
export function leaveOut(pairs: TimedPairs, seed: number): LeftOut {
  const { late, judged, sinceTime } = holdOut(pairs, seed);
  const left = new PairSet(pairs, late);
  const userRows = new Uint32Array(pairs.userRows.length);
  const itemRows = new Uint32Array(pairs.userRows.length);
  let count = 0;
  for (let at = 0; at < userRows.length; at++) {
    const user = pairs.userRows[at]!;
    const item = pairs.itemRows[at]!;
    if (left.has(user, item)) continue;
    userRows[count] = user;
    itemRows[count++] = item;
  }
  return {
    userRows: userRows.subarray(0, count),
    itemRows: itemRows.subarray(0, count),
    heldOut: new PairSet(pairs, judged).columns(),
    pairCount: left.size,
    sinceTime,
  };
}

/** A hash of all pairs, those held out among them: `fingerprint` alone does not see a pair that is held out. */
export function fingerprintOfAll(interactions: Interactions, { userRows, itemRows }: HeldOutPairs): number {
  let hash = fingerprint(interactions);
  for (let at = 0; at < userRows.length; at++) {
    for (const row of [userRows[at]!, itemRows[at]!]) {
      hash = Math.imul(hash ^ row, 0x01000193);
      hash ^= hash >>> 15;
    }
  }
  return hash >>> 0;
}
