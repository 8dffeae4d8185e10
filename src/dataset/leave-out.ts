import { holdOut, type TimedPairs } from './holdout.ts';

/** The pairs held out, as columns; each once. */
export interface HeldOutPairs {
  readonly userRows: Uint32Array;
  readonly itemRows: Uint32Array;
}

/** Positive feedback without what is held out, and what is. */
export interface LeftOut {
  readonly userRows: Uint32Array;
  readonly itemRows: Uint32Array;
  readonly heldOut: HeldOutPairs;
}

/**
 * Splits positive feedback by `holdOut`. Every record of a pair held out is left out, so that an item which a user
 * liked in two ways is not learnt from the other record.
 */
export function leaveOut(pairs: TimedPairs, seed: number): LeftOut {
  const held = new Map<number, Set<number>>();
  for (const at of holdOut(pairs, seed)) {
    const items = held.get(pairs.userRows[at]!);
    if (items === undefined) held.set(pairs.userRows[at]!, new Set([pairs.itemRows[at]!]));
    else items.add(pairs.itemRows[at]!);
  }
  const userRows = new Uint32Array(pairs.userRows.length);
  const itemRows = new Uint32Array(pairs.userRows.length);
  let count = 0;
  for (let at = 0; at < userRows.length; at++) {
    const user = pairs.userRows[at]!;
    const item = pairs.itemRows[at]!;
    if (held.get(user)?.has(item)) continue;
    userRows[count] = user;
    itemRows[count++] = item;
  }
  const heldUsers = Array.from(held, ([user, items]) => new Array<number>(items.size).fill(user)).flat();
  const heldItems = Array.from(held.values(), (items) => [...items]).flat();
  return {
    userRows: userRows.subarray(0, count),
    itemRows: itemRows.subarray(0, count),
    heldOut: { userRows: Uint32Array.from(heldUsers), itemRows: Uint32Array.from(heldItems) },
  };
}
