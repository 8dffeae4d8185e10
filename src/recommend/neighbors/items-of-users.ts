import type { Ranked } from '../../memory/ranked-rows.ts';
import { TopK } from '../../memory/top-k.ts';
import { FeedbackColumns, type LocalReads } from '../../store/data-store.ts';
import type { LikeTest } from '../history/counts-as-positive.ts';

/** Number of users most like a user who are asked. */
export const USERS_ASKED = 100;

/** Rows of the items that a user likes, each once, good until the next call. */
export type LikesOf = (userRow: number) => Uint32Array;

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

/** Room for the likes that are kept for one thread: a user's rows and their number. */
const KEPT_ROWS_MAX = 2 * 2 ** 20;
/** Users whose likes are kept for one thread. */
const KEPT_USERS_MAX = 2 ** 17;
/** An entry of a `Map` of numbers, which grows by doubling. */
const ENTRY_BYTES = 64;

/** Bytes that a thread takes which makes lists of what similar users like of so many items. */
export function itemsOfUsersBytes(itemCount: number): number {
  const kept = KEPT_ROWS_MAX * Uint32Array.BYTES_PER_ELEMENT + KEPT_USERS_MAX * ENTRY_BYTES;
  return kept + roomFor(itemCount) * (8 + 4);
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

/** The likes of users by what is stored now. */
export function likesInStore(reads: LocalReads, isLike: LikeTest): LikesOf {
  const feedback = new FeedbackColumns();
  let liked = new Uint32Array(256);
  return (userRow) => {
    reads.readUserFeedback(userRow, feedback);
    if (feedback.length > liked.length) liked = new Uint32Array(feedback.length * 2);
    let count = 0;
    for (let at = 0; at < feedback.length; at++) {
      const row = feedback.itemRows[at]!;
      // Several types of one pair stand side by side and count once.
      if (count > 0 && liked[count - 1] === row) continue;
      if (isLike(feedback.types[at]!, feedback.timesMs[at]!)) liked[count++] = row;
    }
    return liked.subarray(0, count);
  };
}

/** Keeps what users like for the lists of some time: most are asked for many others. One after the other in one array. */
export class KeptLikes {
  private readonly rowsMax: number;
  private readonly usersMax: number;
  /** Each user's: how many, and their rows. Made when something is kept. */
  private kept = new Uint32Array(0);
  private readonly places = new Map<number, number>();
  private end = 0;

  /**
   * @param rowsMax item rows that are kept, with a number for each user; with more, all are let go
   * @param usersMax the same of users
   */
  constructor(rowsMax = KEPT_ROWS_MAX, usersMax = KEPT_USERS_MAX) {
    this.rowsMax = rowsMax;
    this.usersMax = usersMax;
  }

  /** The same as `likesOf` says, or said when the user was asked first. */
  through(likesOf: LikesOf): LikesOf {
    return (userRow) => {
      const place = this.places.get(userRow);
      if (place !== undefined) return this.kept.subarray(place + 1, place + 1 + this.kept[place]!);
      const likes = likesOf(userRow);
      this.keep(userRow, likes);
      return likes;
    };
  }

  /** Lets go of all. */
  clear(): void {
    this.places.clear();
    this.end = 0;
  }

  private keep(userRow: number, likes: Uint32Array): void {
    const length = 1 + likes.length;
    if (length > this.rowsMax) return;
    if (this.end + length > this.rowsMax || this.places.size === this.usersMax) this.clear();
    if (this.kept.length === 0) this.kept = new Uint32Array(this.rowsMax);
    this.kept[this.end] = likes.length;
    this.kept.set(likes, this.end + 1);
    this.places.set(userRow, this.end);
    this.end += length;
  }
}
