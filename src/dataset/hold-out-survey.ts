/**
 * The records that models are judged by before they are served: the latest positive feedback of all, for that is what
 * a service is asked about. Records of one time are taken in an order scattered by the seed, so a set without times is
 * held out at random. How much that is depends on the data: a twentieth tells enough about a large set, while of a
 * small one, or of one whose users seldom come back, up to a fifth is needed to have enough users to judge by.
 */
import { spreadBits } from '../domain/hash.ts';
import { GrowingU32 } from '../memory/growing-u32.ts';
import { type DatedRecord, LatestRecords } from './latest-records.ts';

/** The shares of the records that are held out; the first that gives users and time enough. */
const SHARES = [0.05, 0.1, 0.2] as const;
const USERS_ENOUGH = 500;
/** Feedback of a shorter time than this may be that of one hour of the day, or of one event. */
const SPAN_MS = 2 * 86_400_000;
/** Records held out at most: the last day or so of a very large service. */
export const LATE_MAX = 1_000_000;
/** Records that are judged by at most; more users are sampled. */
const JUDGED_MAX = 20_000;

/** Fewer judged users than this say nothing. */
export const HOLDOUT_USERS_MIN = 20;

/** Hands all records to `visit`, each time in the same order. */
export type ReplayRecords = (visit: (userRow: number, itemRow: number, time: number) => void) => void;

/** Records by their positions in the order in which they came, which ascend. */
export interface HeldRecords {
  readonly positions: Uint32Array;
  readonly userRows: Uint32Array;
  readonly itemRows: Uint32Array;
}

export interface HoldOut {
  /** All of the latest records: no model may have seen them when it is judged. */
  readonly late: HeldRecords;
  /** Records of users with an earlier record, out of a sample of users; nothing can be told of the others. */
  readonly judged: HeldRecords;
  /** The time as of which judging asks: that of the first of the latest records; Infinity when there are none. */
  readonly sinceTime: number;
}

export const NOTHING_HELD_OUT: HoldOut = {
  late: heldRecords([]),
  judged: heldRecords([]),
  sinceTime: Number.POSITIVE_INFINITY,
};

/**
 * Looks at all records once, then chooses. It keeps 4 bytes a user and the latest million records, whatever the number
 * of the others is.
 */
export class HoldOutSurvey {
  private readonly seed: number;
  private readonly latest = new LatestRecords(LATE_MAX);
  /** Records of each user. */
  private readonly counts = new GrowingU32();
  private records = 0;
  private oldest = Number.POSITIVE_INFINITY;

  constructor(seed: number) {
    this.seed = seed;
  }

  add(userRow: number, itemRow: number, time: number): void {
    while (this.counts.length <= userRow) this.counts.push(0);
    this.counts.add(userRow, 1);
    if (time < this.oldest) this.oldest = time;
    this.latest.offer(this.records++, userRow, itemRow, time, () => scatter(userRow, itemRow, this.seed));
  }

  /**
   * Chooses what is held out: the latest twentieth, tenth or fifth of the records; where hardly a user comes back in
   * these, the latest record of each of some users; nothing when even these are fewer than `HOLDOUT_USERS_MIN`.
   * @param replay the records once more; only asked where hardly a user comes back
   */
  choose(replay: ReplayRecords): HoldOut {
    const sorted = this.latest.sorted();
    let best: HoldOut | undefined;
    let bestUsers = HOLDOUT_USERS_MIN;
    for (const share of SHARES) {
      const count = Math.min(LATE_MAX, Math.round(this.records * share));
      if (count === 0) continue;
      const late = sorted.slice(0, count);
      const returning = this.returningUsers(late);
      const sinceTime = late.at(-1)!.time;
      if (returning.size >= bestUsers) {
        const judged = late.filter(({ userRow }) => returning.has(userRow));
        best = { late: heldRecords(late), judged: heldRecords(this.sample(judged)), sinceTime };
        bestUsers = returning.size;
      }
      const isLong = sorted[0]!.time - sinceTime >= SPAN_MS || sinceTime === this.oldest;
      if ((returning.size >= USERS_ENOUGH && isLong) || count === LATE_MAX) break;
    }
    return best ?? this.latestOfEach(replay);
  }

  /** Users with a record among the late ones and one before. */
  private returningUsers(late: readonly DatedRecord[]): Set<number> {
    const counts = new Map<number, number>();
    for (const { userRow } of late) counts.set(userRow, (counts.get(userRow) ?? 0) + 1);
    return new Set([...counts].filter(([user, count]) => count < this.counts.at(user)).map(([user]) => user));
  }

  /** The records of a sample of the users where there are very many. */
  private sample(records: DatedRecord[]): DatedRecord[] {
    if (records.length <= JUDGED_MAX) return records;
    const share = JUDGED_MAX / records.length;
    return records.filter(({ userRow }) => isSampled(userRow, share, this.seed));
  }

  /** The latest record of each user with an earlier one, judged as of the newest record of all. */
  private latestOfEach(replay: ReplayRecords): HoldOut {
    const users = this.counts.view().reduce((sum, count) => sum + Number(count > 1), 0);
    if (users < HOLDOUT_USERS_MIN) return NOTHING_HELD_OUT;
    const share = Math.min(1, JUDGED_MAX / users);
    const last = new Map<number, DatedRecord>();
    let newest = Number.NEGATIVE_INFINITY;
    let position = 0;
    replay((userRow, itemRow, time) => {
      newest = Math.max(newest, time);
      const at = position++;
      if (this.counts.at(userRow) < 2 || (share < 1 && !isSampled(userRow, share, this.seed))) return;
      const known = last.get(userRow);
      if (known === undefined || time >= known.time)
        last.set(userRow, { position: at, userRow, itemRow, time });
    });
    const judged = heldRecords([...last.values()]);
    return { late: judged, judged, sinceTime: newest };
  }
}

function heldRecords(records: readonly DatedRecord[]): HeldRecords {
  const sorted = records.toSorted((a, b) => a.position - b.position);
  return {
    positions: Uint32Array.from(sorted, ({ position }) => position),
    userRows: Uint32Array.from(sorted, ({ userRow }) => userRow),
    itemRows: Uint32Array.from(sorted, ({ itemRow }) => itemRow),
  };
}

/** True for a user in a seeded sample of about this share of the users. */
export function isSampled(userRow: number, share: number, seed: number): boolean {
  return scatter(userRow, 0, seed) < share * 2 ** 32;
}

/** A hash of a pair. */
function scatter(userRow: number, itemRow: number, seed: number): number {
  return spreadBits(Math.imul(userRow ^ seed, 0x9e3779b1) ^ Math.imul(itemRow + 1, 0x85ebca77)) >>> 0;
}
