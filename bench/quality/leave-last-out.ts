import type { Split } from '../../src/evaluate/hold-out-protocol.ts';

/**
 * The latest record of each user with at least two is held out; of one time the later in the input counts
 * as the latest.
 */
export function splitLeaveLastOut(userRows: ArrayLike<number>, times: ArrayLike<number>): Split {
  const last = new Map<number, number>();
  const counts = new Map<number, number>();
  for (let at = 0; at < userRows.length; at++) {
    const user = userRows[at]!;
    const present = last.get(user);
    counts.set(user, (counts.get(user) ?? 0) + 1);
    if (present === undefined || times[at]! >= times[present]!) last.set(user, at);
  }
  const train: number[] = [];
  const test: number[] = [];
  for (let at = 0; at < userRows.length; at++) {
    const user = userRows[at]!;
    (last.get(user) === at && counts.get(user)! > 1 ? test : train).push(at);
  }
  return { train: Uint32Array.from(train), test: Uint32Array.from(test) };
}

/** The chosen entries of a column. */
export function pick(column: ArrayLike<number>, positions: ArrayLike<number>): number[] {
  return Array.from(positions, (at) => column[at]!);
}
