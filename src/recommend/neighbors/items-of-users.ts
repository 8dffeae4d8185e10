import type { Ranked } from '../../memory/ranked-rows.ts';
import { TopK } from '../../memory/top-k.ts';
import { keptLikesBytes, type LikesOf } from './kept-likes.ts';

/** Number of users most like a user who are asked. */
export const USERS_ASKED = 100;

/** Sums by item row, and the rows that have one; all 0 where nobody sums. */
interface Sums {
  values: Float64Array;
  rows: Uint32Array;
}

/** As many as may be summed at the same time in one thread: each takes arrays as long as the catalogue. */
export const SUMS_MAX = 4;
/** Arrays that nobody uses: to make them would take as long as to fill them. */
const unused: Sums[] = [];
/** Sums that are compared between two pauses. */
const COMPARED = 4096;

/** Bytes that a thread takes which makes lists of what similar users like of so many items. */
export function itemsOfUsersBytes(itemCount: number): number {
  return keptLikesBytes() + roomFor(itemCount) * (8 + 4);
}

/**
 * The items that the users like, best first: each scores the sum of those users' similarities. Pauses after each user, whose
 * feedback may have to be read from the store. Where it is given up at a pause, `return` is to be called.
 * @param itemCount item rows are below it
 */
export function* itemsOfUsers(
  users: Ranked,
  likesOf: LikesOf,
  itemCount: number,
  k: number,
  accept: (itemRow: number) => boolean,
): Generator<void, Ranked> {
  const sums = takeSums(itemCount);
  const { values, rows } = sums;
  let count = 0;
  const top = new TopK(k);
  try {
    for (const [at, user] of users.rows.slice(0, USERS_ASKED).entries()) {
      const score = users.scores[at]!;
      for (const row of score > 0 ? likesOf(user) : []) {
        // Items that came since the work began are for the next list.
        if (row >= itemCount) continue;
        if (values[row] === 0) rows[count++] = row;
        values[row]! += score;
      }
      yield;
    }
    for (let at = 0; at < count; at++) {
      const row = rows[at]!;
      const sum = values[row]!;
      if (top.takes(row, sum) && accept(row)) top.push(row, sum);
      if (at % COMPARED === COMPARED - 1) yield;
    }
  } finally {
    for (let at = 0; at < count; at++) values[rows[at]!] = 0;
    if (unused.length < SUMS_MAX) unused.push(sums);
  }
  return top.sorted();
}

function takeSums(itemCount: number): Sums {
  const sums = unused.pop();
  if (sums !== undefined && sums.values.length >= itemCount) return sums;
  const length = roomFor(itemCount);
  return { values: new Float64Array(length), rows: new Uint32Array(length) };
}

/** With some to spare: an item that comes is no reason to make all anew. */
function roomFor(itemCount: number): number {
  return itemCount + (itemCount >>> 3) + 1024;
}
