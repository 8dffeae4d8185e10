import { createRandom } from '../domain/random.ts';
import { parseTimestamp } from '../domain/rfc3339.ts';
import { firstAbove } from '../memory/binary-search.ts';
import type { Past } from './read-feedback.ts';

/** Records by row, each row's in the order of time. */
class Postings {
  private readonly starts: Uint32Array;
  private readonly indices: Uint32Array;

  /** @param rows the row of each index @param isTaken 1 for an index that is taken; all when absent */
  constructor(rowCount: number, rows: Uint32Array, isTaken?: Uint8Array) {
    this.starts = new Uint32Array(rowCount + 1);
    for (let at = 0; at < rows.length; at++) if (isTaken?.[at] !== 0) this.starts[rows[at]! + 1]!++;
    for (let row = 0; row < rowCount; row++) this.starts[row + 1]! += this.starts[row]!;
    this.indices = new Uint32Array(this.starts[rowCount]!);
    const next = this.starts.slice();
    for (let at = 0; at < rows.length; at++) if (isTaken?.[at] !== 0) this.indices[next[rows[at]!]!++] = at;
  }

  /** The last `max` indices of a row that lie before an index, ascending. */
  lastBefore(row: number, before: number, max = Number.POSITIVE_INFINITY): Uint32Array {
    const indices = this.indices.subarray(this.starts[row], this.starts[row + 1]);
    const count = firstAbove(indices, before - 1);
    return indices.subarray(Math.max(0, count - max), count);
  }
}

/** All feedback in the order of time, and what was known at each of its moments. */
export class Timeline {
  readonly past: Past;
  /** The position in the past of each record, by time; those of one time stand as the seed has it. */
  readonly order: Uint32Array;
  readonly userRows: Uint32Array;
  readonly itemRows: Uint32Array;
  readonly timesMs: Float64Array;
  /** 1 for the first record of a user on an item. */
  readonly isNew: Uint8Array;
  /** 1 for the first positive record of a user on an item. */
  readonly isLike: Uint8Array;
  readonly firstOfItem: Uint32Array;
  private readonly byUser: Postings;
  private readonly likesByUser: Postings;
  private readonly likesByItem: Postings;

  /** @param seed of the order of records of one time; they stay as they were read when absent */
  constructor(past: Past, seed?: number) {
    const { userIds, itemIds, timesMs, isPositive } = past;
    this.past = past;
    const random = seed === undefined ? undefined : createRandom(seed);
    const lots = Uint32Array.from(timesMs, () => random?.uint32() ?? 0);
    this.order = Uint32Array.from(timesMs, (_, at) => at).sort(
      (a, b) => timesMs[a]! - timesMs[b]! || lots[a]! - lots[b]! || a - b,
    );
    this.userRows = this.order.map((at) => past.userRows[at]!);
    this.itemRows = this.order.map((at) => past.itemRows[at]!);
    this.timesMs = Float64Array.from(this.order, (at) => timesMs[at]!);
    this.byUser = new Postings(userIds.length, this.userRows);
    this.isNew = new Uint8Array(this.length);
    this.isLike = new Uint8Array(this.length);
    this.firstOfItem = new Uint32Array(itemIds.length).fill(this.length);
    const seenBy = new Uint32Array(itemIds.length);
    const likedBy = new Uint32Array(itemIds.length);
    for (let user = 0; user < userIds.length; user++) {
      for (const at of this.byUser.lastBefore(user, this.length)) {
        const item = this.itemRows[at]!;
        this.firstOfItem[item] = Math.min(this.firstOfItem[item]!, at);
        if (seenBy[item] !== user + 1) this.isNew[at] = 1;
        seenBy[item] = user + 1;
        if (!isPositive[this.order[at]!]) continue;
        if (likedBy[item] !== user + 1) this.isLike[at] = 1;
        likedBy[item] = user + 1;
      }
    }
    this.likesByUser = new Postings(userIds.length, this.userRows, this.isLike);
    this.likesByItem = new Postings(itemIds.length, this.itemRows, this.isLike);
  }

  get length(): number {
    return this.order.length;
  }

  isPositive(at: number): boolean {
    return this.past.isPositive[this.order[at]!]!;
  }

  /** The time from which an item was there: its own, where that is before its first record. */
  knownFromMs(item: number): number {
    const firstMs = this.timesMs[this.firstOfItem[item]!] ?? Number.POSITIVE_INFINITY;
    const own = this.past.items[item]?.Timestamp ?? '';
    return own === '' ? firstMs : Math.min(firstMs, parseTimestamp(own));
  }

  /** A user's likes before an index, oldest first. */
  likesOf(user: number, before: number, max?: number): Uint32Array {
    return this.likesByUser.lastBefore(user, before, max);
  }

  /** The likes of an item before an index, oldest first. */
  likesOn(item: number, before: number, max?: number): Uint32Array {
    return this.likesByItem.lastBefore(item, before, max);
  }

  /** The items that a user has any record on before an index, ascending. */
  seenBy(user: number, before: number): Uint32Array {
    return this.itemsOf(this.byUser.lastBefore(user, before));
  }

  /** The items of some records, ascending and each once. */
  itemsOf(indices: Uint32Array): Uint32Array {
    return Uint32Array.from(new Set(indices.map((at) => this.itemRows[at]!))).sort();
  }
}
