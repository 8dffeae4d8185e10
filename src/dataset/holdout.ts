/**
 * The records that no model is trained on, so that what is learnt can be judged: the last positive feedback of a fixed
 * tenth of the users. Which users those are depends on their row and the seed alone, so every model leaves out the
 * same records.
 */

/** One user in so many is judged. */
const USERS_PER_HOLDOUT = 10;
/** A user with fewer positives keeps them all. */
const POSITIVES_MIN = 3;

/** Fewer judged users than this say nothing: then every record is trained on. */
export const HOLDOUT_USERS_MIN = 200;

/** Positive feedback by column; a user's records need not be together. */
export interface TimedPairs {
  readonly userRows: ArrayLike<number>;
  readonly itemRows: ArrayLike<number>;
  /** Any unit, the larger the later. */
  readonly times: ArrayLike<number>;
}

/**
 * The positions of the records held out, ascending: for each judged user its latest record, of equal times the one
 * with the higher item row. Empty when fewer than `HOLDOUT_USERS_MIN` users can be judged.
 */
export function holdOut({ userRows, itemRows, times }: TimedPairs, seed: number): Uint32Array {
  const lastOf = new Map<number, { position: number; count: number }>();
  for (let at = 0; at < userRows.length; at++) {
    const user = userRows[at]!;
    if (!isJudged(user, seed)) continue;
    const last = lastOf.get(user);
    if (last === undefined) {
      lastOf.set(user, { position: at, count: 1 });
      continue;
    }
    last.count++;
    const order = times[at]! - times[last.position]! || itemRows[at]! - itemRows[last.position]!;
    if (order > 0) last.position = at;
  }
  const positions: number[] = [];
  for (const { position, count } of lastOf.values()) if (count >= POSITIVES_MIN) positions.push(position);
  if (positions.length < HOLDOUT_USERS_MIN) return new Uint32Array(0);
  return Uint32Array.from(positions).sort();
}

/** Whether the user belongs to the fixed tenth: a hash of row and seed (the finaliser of MurmurHash3). */
function isJudged(userRow: number, seed: number): boolean {
  let hash = Math.imul(userRow ^ seed, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) % USERS_PER_HOLDOUT === 0;
}
