/**
 * The records that models are judged by before they are served: the latest positive feedback of all, for that is what
 * a service is asked about. Records of one time are taken in an order scattered by the seed, so a set without times is
 * held out at random. How much that is depends on the data: a twentieth tells enough about a large set, while of a
 * small one, or of one whose users seldom come back, up to a fifth is needed to have enough users to judge by.
 */

/** The shares of the records that are held out; the first that gives users and time enough. */
const SHARES = [0.05, 0.1, 0.2] as const;
/** So many judged users are enough. */
const USERS_ENOUGH = 500;
/** Feedback of a shorter time than this may be that of one hour of the day, or of one event. */
const SPAN_MS = 2 * 86_400_000;
/** Records held out at most: the last day or so of a very large service. */
const LATE_MAX = 1_000_000;
/** Records that are judged by at most; more users are sampled. */
const JUDGED_MAX = 20_000;

/** Fewer judged users than this say nothing. */
export const HOLDOUT_USERS_MIN = 20;

/** Positive feedback as columns, each pair once; a user's records need not be together. */
export interface TimedPairs {
  readonly userRows: ArrayLike<number>;
  readonly itemRows: ArrayLike<number>;
  /** Milliseconds since the epoch. */
  readonly times: ArrayLike<number>;
}

/** What is held out. Positions ascend. */
export interface HoldOut {
  /** All of the latest records: no model may have seen them when it is judged. */
  readonly late: Uint32Array;
  /** Those of users with an earlier record, for about the others nothing can be told; of a sample of the users. */
  readonly judged: Uint32Array;
  /** The time as of which judging asks: that of the first of the latest records; Infinity when there are none. */
  readonly sinceTime: number;
}

const NOTHING: HoldOut = {
  late: new Uint32Array(0),
  judged: new Uint32Array(0),
  sinceTime: Number.POSITIVE_INFINITY,
};

/**
 * Chooses what is held out: the latest twentieth, tenth or fifth of the records; where hardly a user comes back in
 * these, the latest record of each of some users; nothing when even these are fewer than `HOLDOUT_USERS_MIN`.
 */
export function holdOut(pairs: TimedPairs, seed: number): HoldOut {
  const { userRows, times } = pairs;
  if (userRows.length === 0) return NOTHING;
  const sorted = Float64Array.from(times).sort();
  let best: HoldOut | undefined;
  let bestUsers = HOLDOUT_USERS_MIN;
  for (const share of SHARES) {
    const count = Math.min(LATE_MAX, Math.round(userRows.length * share));
    if (count === 0) continue;
    const late = latest(pairs, sorted, count, seed);
    const returning = returningUsers(pairs, late);
    const sinceTime = sorted[sorted.length - count]!;
    if (returning.size >= bestUsers) {
      best = { late, judged: sampleUsers(pairs, late, returning, seed), sinceTime };
      bestUsers = returning.size;
    }
    const isLong = sorted[sorted.length - 1]! - sinceTime >= SPAN_MS || sinceTime === sorted[0];
    if ((returning.size >= USERS_ENOUGH && isLong) || count === LATE_MAX) break;
  }
  return best ?? latestOfEach(pairs, seed);
}

/** Users with a record among the late ones and one before. */
function returningUsers({ userRows }: TimedPairs, late: Uint32Array): Set<number> {
  const isLate = new Uint8Array(userRows.length);
  for (const at of late) isLate[at] = 1;
  const lateUsers = new Set<number>();
  for (const at of late) lateUsers.add(userRows[at]!);
  const returning = new Set<number>();
  for (let at = 0; at < userRows.length; at++) {
    if (isLate[at] === 0 && lateUsers.has(userRows[at]!)) returning.add(userRows[at]!);
  }
  return returning;
}

/** Those of the positions that belong to these users, or to a sample of them where they are very many. */
function sampleUsers(
  { userRows }: TimedPairs,
  positions: Uint32Array,
  users: ReadonlySet<number>,
  seed: number,
): Uint32Array {
  const theirs = positions.filter((at) => users.has(userRows[at]!));
  if (theirs.length <= JUDGED_MAX) return theirs;
  const most = (JUDGED_MAX / theirs.length) * 2 ** 32;
  return theirs.filter((at) => scatter(userRows[at]!, 0, seed) < most);
}

/** The latest record of each user with an earlier one, judged as of the newest record of all. */
function latestOfEach(pairs: TimedPairs, seed: number): HoldOut {
  const { userRows, times } = pairs;
  const last = new Map<number, number>();
  const counts = new Map<number, number>();
  let newest = Number.NEGATIVE_INFINITY;
  for (let at = 0; at < userRows.length; at++) {
    const user = userRows[at]!;
    const known = last.get(user);
    if (known === undefined || times[at]! >= times[known]!) last.set(user, at);
    counts.set(user, (counts.get(user) ?? 0) + 1);
    newest = Math.max(newest, times[at]!);
  }
  const users = new Set([...counts].filter(([, count]) => count > 1).map(([user]) => user));
  if (users.size < HOLDOUT_USERS_MIN) return NOTHING;
  const positions = Uint32Array.from(users, (user) => last.get(user)!).sort();
  const judged = sampleUsers(pairs, positions, users, seed);
  return { late: judged, judged, sinceTime: newest };
}

/**
 * Positions of the `count` latest records, ascending, of times that are given sorted, too. Takes 8 bytes a record, and 8 for each of the time at which the
 * line falls: that may be all of them, where a set came without times.
 */
function latest(
  { userRows, itemRows, times }: TimedPairs,
  sorted: Float64Array,
  count: number,
  seed: number,
): Uint32Array {
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
