/**
 * How popular what is differs from week to week: which scale of popularity was right after one moment is chance. So what is
 * held out is asked about as of several moments.
 */
import { isSampled } from '../dataset/hold-out-survey.ts';
import { getOrPut } from '../domain/get-or-put.ts';
import { hasBit } from '../memory/bits.ts';
import { FeedbackColumns } from '../store/data-store.ts';

/** A moment as of which lists are judged. */
export interface JudgedMoment {
  /** Milliseconds since the epoch. */
  readonly asOfMs: number;
  /** Item rows that users with a like before liked afterwards, by user row. */
  readonly likedBy: ReadonlyMap<number, ReadonlySet<number>>;
}

/** The moments part what is held out into so many parts of equal size. */
const PARTS = 4;
/** Records that are looked at; of more, a sample of the users. */
const RECORDS_MAX = 20_000;

/**
 * The moments after the one at which what is held out begins; none where all of it is of that moment.
 * @param late the held-out likes that are later than this, the earliest first
 * @param isKnown bits of the users who have a like before
 */
export function judgedMoments(late: FeedbackColumns, isKnown: Uint32Array): JudgedMoment[] {
  const { length, timesMs, userRows } = late;
  const share = RECORDS_MAX / length;
  const firstLikeMs = new Map<number, number>();
  const chosen: number[] = [];
  for (let at = 0; at < length; at++) {
    const user = userRows[at]!;
    if (share < 1 && !isSampled(user, share, 0)) continue;
    chosen.push(at);
    if (!firstLikeMs.has(user))
      firstLikeMs.set(user, hasBit(isKnown, user) ? Number.NEGATIVE_INFINITY : timesMs[at]!);
  }
  const moments: JudgedMoment[] = [];
  for (let part = 1; part < PARTS; part++) {
    // What has the time of a whole day comes after the moment with all of its day.
    const asOfMs = timesMs[Math.floor((length * part) / PARTS)]! - 1;
    if (!(asOfMs > (moments.at(-1)?.asOfMs ?? timesMs[0]!))) continue;
    const likedBy = new Map<number, Set<number>>();
    for (const at of chosen) {
      const user = userRows[at]!;
      if (timesMs[at]! <= asOfMs || firstLikeMs.get(user)! > asOfMs) continue;
      getOrPut(likedBy, user, () => new Set()).add(late.itemRows[at]!);
    }
    moments.push({ asOfMs, likedBy });
  }
  return moments;
}

/** The records in the order of their times, those of one time in the order in which they came. */
export function byTime(records: FeedbackColumns): FeedbackColumns {
  const { length, timesMs } = records;
  const order = Uint32Array.from({ length }, (_, at) => at).sort(
    (a, b) => timesMs[a]! - timesMs[b]! || a - b,
  );
  const sorted = new FeedbackColumns(length + 1);
  for (const at of order)
    sorted.push(records.userRows[at]!, records.itemRows[at]!, records.types[at]!, timesMs[at]!);
  return sorted;
}
