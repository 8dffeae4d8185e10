/** Ways to hold records out of a training set. Each answers which records go to which side. */

/** Positions of records, in their original order. */
export interface Split {
  readonly train: Uint32Array;
  readonly test: Uint32Array;
}

/**
 * The latest `share` of all records by time is held out: what a service meets, which trains on the past
 * and is asked about the future. Records of one time are kept in the order of the input.
 * @param share above 0 and below 1
 */
export function splitByTime(times: ArrayLike<number>, share: number): Split {
  const order = Uint32Array.from({ length: times.length }, (_, at) => at);
  order.sort((a, b) => times[a]! - times[b]! || a - b);
  const trainCount = times.length - Math.round(times.length * share);
  return { train: order.slice(0, trainCount).sort(), test: order.slice(trainCount).sort() };
}

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
