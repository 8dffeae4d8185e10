/**
 * Each like that was held out is a question that was just answered: what would have been a good list at that moment, with
 * what was known then? Asked of all kinds of users, those among them who came just before.
 */
import { getOrPut } from '../domain/get-or-put.ts';
import { spreadBits } from '../domain/hash.ts';
import { spreadEvenly } from '../memory/spread-evenly.ts';
import { FeedbackColumns } from '../store/data-store.ts';

/** Likes so soon after a question count as its answer, too. */
const ANSWER_MS = 86_400_000;

/**
 * So large a share of the likes may be of one user, or so many times the mean, and so many in any case: how an account chooses
 * that likes as much as all others, as a crawler does, must not tell how the lists of all are ranked. Few users have as many as ever.
 */
const [SHARE_OF_ONE, TIMES_MEAN, LIKES_OF_ONE] = [0.02, 2, 20];

/** A question as of a moment, and what was liked then. */
export interface Question {
  readonly userRow: number;
  /** Milliseconds since the epoch. */
  readonly asOfMs: number;
  /** Likes that had come by then: what else came at this very moment may be the answer. */
  readonly before: number;
  /** Item rows of which nothing is known yet, though their time has come. */
  readonly except: ReadonlySet<number>;
  /** Item rows that the user liked then or soon after. */
  readonly liked: ReadonlySet<number>;
}

/**
 * The questions that some of the likes answered, in their order. Likes of one moment come one after the other, in an order
 * that no feature knows.
 * @param late likes, the earliest first
 * @param indices of those that are asked about, ascending
 */
export function* questionsAt(
  { length, userRows, itemRows, timesMs }: FeedbackColumns,
  indices: readonly number[],
): Generator<Question> {
  const likesOf = new Map<number, number[]>(indices.map((at) => [userRows[at]!, []]));
  for (let at = 0; at < length; at++) likesOf.get(userRows[at]!)?.push(at);
  let before = 0;
  for (const at of indices) {
    const userRow = userRows[at]!;
    const asOfMs = timesMs[at]!;
    const turn = turnOf(userRow, itemRows[at]!);
    const except = new Set<number>();
    const liked = new Set<number>();
    for (const like of likesOf.get(userRow)!) {
      const sinceMs = timesMs[like]! - asOfMs;
      const item = itemRows[like]!;
      if (sinceMs < 0 || sinceMs > ANSWER_MS || (sinceMs === 0 && turnOf(userRow, item) < turn)) continue;
      liked.add(item);
      if (sinceMs === 0) except.add(item);
    }
    while (before < length && timesMs[before]! < asOfMs) before++;
    yield { userRow, asOfMs, before, except, liked };
  }
}

/** The likes that are asked about, of users with too many some, evenly spread. @param indices ascending */
export function fewOfEach({ userRows }: FeedbackColumns, indices: readonly number[]): readonly number[] {
  const byUser = new Map<number, number[]>();
  for (const at of indices) getOrPut(byUser, userRows[at]!, () => []).push(at);
  const share = Math.max(SHARE_OF_ONE, TIMES_MEAN / byUser.size);
  const most = Math.max(LIKES_OF_ONE, Math.floor(indices.length * share));
  return [...byUser.values()].flatMap((likes) => spreadEvenly(likes, most)).sort((a, b) => a - b);
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

function turnOf(userRow: number, itemRow: number): number {
  return spreadBits(Math.imul(userRow, 0x9e3779b1) ^ itemRow) >>> 0;
}
