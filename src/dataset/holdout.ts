/**
 * The records that models are judged by before they are served: the latest positive feedback of all, for that is what
 * a service is asked about. Records of one time are taken in an order scattered by the seed, so a set without times is
 * held out at random.
 */

/** The share of the records that is held out, and how many at the most. */
const SHARE = 0.05;
const RECORDS_MAX = 20_000;

/** Fewer judged users than this say nothing: then nothing is held out. */
export const HOLDOUT_USERS_MIN = 100;

/** Positive feedback as columns, each pair once; a user's records need not be together. */
export interface TimedPairs {
  readonly userRows: ArrayLike<number>;
  readonly itemRows: ArrayLike<number>;
  /** Any unit, the larger the later. */
  readonly times: ArrayLike<number>;
}

/** What is held out. Positions ascend. */
export interface HoldOut {
  /** All of the latest records: no model may have seen them when it is judged. */
  readonly late: Uint32Array;
  /** Those of users with an earlier record, for about the others nothing can be told. */
  readonly judged: Uint32Array;
  /** The time of the first of them; Infinity when there are none. */
  readonly sinceTime: number;
}

const NOTHING: HoldOut = {
  late: new Uint32Array(0),
  judged: new Uint32Array(0),
  sinceTime: Number.POSITIVE_INFINITY,
};

/** Chooses what is held out; nothing when fewer than `HOLDOUT_USERS_MIN` users could be judged. */
export function holdOut(pairs: TimedPairs, seed: number): HoldOut {
  const { userRows, times } = pairs;
  const count = Math.min(RECORDS_MAX, Math.round(userRows.length * SHARE));
  if (count < HOLDOUT_USERS_MIN) return NOTHING;
  const late = latest(pairs, count, seed);
  const isLate = new Uint8Array(userRows.length);
  for (const at of late) isLate[at] = 1;
  const lateUsers = new Set<number>();
  for (const at of late) lateUsers.add(userRows[at]!);
  const hasEarlier = new Set<number>();
  for (let at = 0; at < userRows.length; at++) {
    if (isLate[at] === 0 && lateUsers.has(userRows[at]!)) hasEarlier.add(userRows[at]!);
  }
  if (hasEarlier.size < HOLDOUT_USERS_MIN) return NOTHING;
  return {
    late,
    judged: late.filter((at) => hasEarlier.has(userRows[at]!)),
    sinceTime: late.reduce((first, at) => Math.min(first, times[at]!), Number.POSITIVE_INFINITY),
  };
}

/**
 * Positions of the `count` latest records, ascending. Takes 8 bytes a record, and 8 for each of the time at which the
 * line falls: that may be all of them, where a set came without times.
 */
function latest({ userRows, itemRows, times }: TimedPairs, count: number, seed: number): Uint32Array {
  const sorted = Float64Array.from(times).sort();
  const edge = sorted[sorted.length - count]!;
  let later = 0;
  let tied = 0;
  for (let at = 0; at < userRows.length; at++) {
    if (times[at]! > edge) later++;
    else if (times[at] === edge) tied++;
  }
  const hashAt = (at: number) => scatter(userRows[at]!, itemRows[at]!, seed);
  const hashes = new Uint32Array(tied);
  for (let at = 0, next = 0; next < tied; at++) if (times[at] === edge) hashes[next++] = hashAt(at);
  hashes.sort();
  const lastHash = hashes[count - later - 1]!;
  let equal = count - later - hashes.indexOf(lastHash);
  const chosen = new Uint32Array(count);
  for (let at = 0, next = 0; at < userRows.length; at++) {
    if (times[at]! < edge) continue;
    const hash = times[at] === edge ? hashAt(at) : 0;
    if (times[at]! > edge || hash < lastHash || (hash === lastHash && equal-- > 0)) chosen[next++] = at;
  }
  return chosen;
}

/** A hash of a pair (the finalizer of MurmurHash3 over both rows). */
function scatter(userRow: number, itemRow: number, seed: number): number {
  let hash = Math.imul(userRow ^ seed, 0x9e3779b1) ^ Math.imul(itemRow + 1, 0x85ebca77);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
