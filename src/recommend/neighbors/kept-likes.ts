import { FeedbackColumns, type LocalReads } from '../../store/data-store.ts';
import type { LikeTest } from '../history/counts-as-positive.ts';

/** Room for the likes that are kept for one thread: a user's rows and their number. */
const KEPT_ROWS_MAX = 2 * 2 ** 20;
/** Users whose likes are kept for one thread. */
const KEPT_USERS_MAX = 2 ** 17;
/** An entry of a `Map` of numbers, which grows by doubling. */
const ENTRY_BYTES = 64;

/** Rows of the items that a user likes, each once, good until the next call. */
export type LikesOf = (userRow: number) => Uint32Array;

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

/** Bytes of the likes that are kept for one thread at most. */
export function keptLikesBytes(): number {
  return KEPT_ROWS_MAX * Uint32Array.BYTES_PER_ELEMENT + KEPT_USERS_MAX * ENTRY_BYTES;
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
