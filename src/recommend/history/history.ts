import { spreadBits } from '../../domain/hash.ts';
import { grown } from '../../memory/growing-u32.ts';
import type { Ranked } from '../../memory/ranked-rows.ts';
import { TopK } from '../../memory/top-k.ts';
import { FeedbackColumns, type LocalReads } from '../../store/data-store.ts';
import { type LikeTest, likeTest, type TypeTest } from './counts-as-positive.ts';

/** One user's feedback, read for one request: what is read (any feedback in effect) and what is positive. */
export class History {
  private readonly reads: LocalReads;
  private readonly feedback = new FeedbackColumns();
  /** The distinct items with feedback in effect, ascending. */
  private readRows = new Uint32Array(64);
  private readCount = 0;
  private readonly positiveTtlMs: number;
  private positiveSinceMs = Number.NEGATIVE_INFINITY;
  /** Feedback with a later time is not in effect yet, milliseconds since the epoch. */
  untilMs = Number.POSITIVE_INFINITY;
  userRow = -1;
  /** Time of the last feedback in effect, milliseconds since the epoch, -Infinity for none. */
  inEffectSinceMs = Number.NEGATIVE_INFINITY;
  /** Time from which on the feedback in effect, or what of it may count as positive, is other; Infinity for never. */
  nextEffectMs = Number.POSITIVE_INFINITY;

  /** @param positiveTtlMs positive feedback older than this no longer counts as such; Infinity for never */
  constructor(reads: LocalReads, positiveTtlMs = Number.POSITIVE_INFINITY) {
    this.reads = reads;
    this.positiveTtlMs = positiveTtlMs;
  }

  /**
   * Loads the user's feedback; an unknown user (row -1) has none.
   * @param untilMs feedback with a later timestamp is not in effect yet
   * @param except items whose feedback is passed over as if there were none
   */
  load(userRow: number, untilMs: number, except?: { has(row: number): boolean }): void {
    this.userRow = userRow;
    this.untilMs = untilMs;
    this.positiveSinceMs = untilMs - this.positiveTtlMs;
    this.readCount = 0;
    this.feedback.clear();
    this.inEffectSinceMs = Number.NEGATIVE_INFINITY;
    this.nextEffectMs = Number.POSITIVE_INFINITY;
    if (userRow < 0) return;
    this.reads.readUserFeedback(userRow, this.feedback);
    if (except !== undefined) this.feedback.dropItems(except);
    const { length, itemRows, timesMs } = this.feedback;
    for (let at = 0; at < length; at++) {
      const timeMs = timesMs[at]!;
      if (timeMs <= untilMs) {
        this.addRead(itemRows[at]!);
        if (timeMs > this.inEffectSinceMs) this.inEffectSinceMs = timeMs;
        const endMs = timeMs + this.positiveTtlMs + 1;
        if (endMs > untilMs && endMs < this.nextEffectMs) this.nextEffectMs = endMs;
      } else if (timeMs < this.nextEffectMs) this.nextEffectMs = timeMs;
    }
  }

  /** Records that there is room for: as many as any user has had for whom it was loaded. */
  get room(): number {
    return this.feedback.userRows.length;
  }

  /** Time since the last feedback in effect, milliseconds; Infinity for none. */
  get idleMs(): number {
    return this.untilMs === this.inEffectSinceMs ? 0 : this.untilMs - this.inEffectSinceMs;
  }

  /** The user's row in what models know of users by themselves: -1 for one without feedback in effect, of whom nothing is to be known. */
  get modelRow(): number {
    return this.readCount > 0 ? this.userRow : -1;
  }

  /** True when the user has any feedback in effect on the item. */
  hasRead(itemRow: number): boolean {
    const { readRows } = this;
    let from = 0;
    let to = this.readCount;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (readRows[middle]! < itemRow) from = middle + 1;
      else to = middle;
    }
    return from < this.readCount && readRows[from] === itemRow;
  }

  /** Which feedback, of whomever, counts as a like at the moment of this history. */
  likes(isPositive: TypeTest): LikeTest {
    return likeTest(isPositive, this.positiveTtlMs, this.untilMs);
  }

  /** True when positive feedback in effect has a time after `timeMs`. */
  hasPositiveAfter(isPositive: TypeTest, timeMs: number): boolean {
    const { length, types, timesMs } = this.feedback;
    for (let at = 0; at < length; at++)
      if (timesMs[at]! > timeMs && timesMs[at]! <= this.untilMs && isPositive(types[at]!)) return true;
    return false;
  }

  /** True when positive feedback that counted at `timeMs` is too old to count now. */
  hasExpiredSince(isPositive: TypeTest, timeMs: number): boolean {
    if (this.positiveTtlMs === Number.POSITIVE_INFINITY) return false;
    const { length, types, timesMs } = this.feedback;
    for (let at = 0; at < length; at++) {
      const counted = timesMs[at]! <= timeMs && timesMs[at]! >= timeMs - this.positiveTtlMs;
      if (counted && timesMs[at]! < this.positiveSinceMs && isPositive(types[at]!)) return true;
    }
    return false;
  }

  /** Time when the first feedback on the item took effect, milliseconds since the epoch; undefined when none has. */
  readAtMs(itemRow: number): number | undefined {
    if (!this.hasRead(itemRow)) return undefined;
    const { length, itemRows, timesMs } = this.feedback;
    let first = Number.POSITIVE_INFINITY;
    for (let at = 0; at < length; at++) if (itemRows[at] === itemRow) first = Math.min(first, timesMs[at]!);
    return first;
  }

  /**
   * A whole number of 53 bits that tells the user's feedback from any other, be it in effect or not: the same wherever
   * there is the same feedback, in whatever order.
   * @param counts the feedback types looked at
   * @param digestOf a number of 32 bits for each of them
   */
  digest(counts: TypeTest, digestOf: (type: number) => number): number {
    const { length, itemRows, types, timesMs } = this.feedback;
    let low = 0;
    let high = 0;
    for (let at = 0; at < length; at++) {
      if (!counts(types[at]!)) continue;
      const item = itemRows[at]!;
      const type = digestOf(types[at]!);
      const timeLow = timesMs[at]! | 0;
      const timeHigh = Math.floor(timesMs[at]! / 2 ** 32) | 0;
      low = (low + spreadBits(spreadBits(spreadBits(item ^ 0x9e3779b9) ^ type ^ timeHigh) ^ timeLow)) | 0;
      high = (high + spreadBits(spreadBits(spreadBits(timeLow ^ 0x85ebca6b) ^ item) ^ type ^ timeHigh)) | 0;
    }
    return (high >>> 11) * 2 ** 32 + (low >>> 0);
  }

  /** Distinct rows of the items with feedback in effect, ascending. */
  readRowsInEffect(): number[] {
    // Some ten times as quick as `Array.from` of the part.
    const rows = new Array<number>(this.readCount);
    for (let at = 0; at < rows.length; at++) rows[at] = this.readRows[at]!;
    return rows;
  }

  /** Records of feedback, in effect or not. */
  get length(): number {
    return this.feedback.length;
  }

  /** Distinct rows of the items the user liked, most recent first, at most `limit`. */
  positiveRows(isPositive: TypeTest, limit: number): number[] {
    return this.latestLikes(isPositive, limit).rows;
  }

  /** The same with the time of each, milliseconds since the epoch, as its score. */
  private latestLikes(isPositive: TypeTest, limit: number): Ranked {
    const latest = new TopK(limit);
    const { length, itemRows, types, timesMs } = this.feedback;
    let row = -1;
    let latestMs = 0;
    // Feedback comes in the order of its items.
    for (let at = 0; at < length; at++) {
      const timeMs = timesMs[at]!;
      if (timeMs < this.positiveSinceMs || timeMs > this.untilMs || !isPositive(types[at]!)) continue;
      if (itemRows[at] === row) latestMs = Math.max(latestMs, timeMs);
      else {
        if (row >= 0) latest.push(row, latestMs);
        row = itemRows[at]!;
        latestMs = timeMs;
      }
    }
    if (row >= 0) latest.push(row, latestMs);
    return latest.sorted();
  }

  /**
   * Distinct rows of the items liked in the visit that is under way, the latest first, at most `limit`; none where no visit
   * is.
   * @param gapMs likes at most so far apart are of one visit, milliseconds
   */
  visitRows(isPositive: TypeTest, gapMs: number, limit: number): number[] {
    const { rows, scores: timesMs } = this.latestLikes(isPositive, limit);
    const end = timesMs.findIndex((timeMs, at) => (timesMs[at - 1] ?? this.untilMs) - timeMs > gapMs);
    return end < 0 ? rows : rows.slice(0, end);
  }

  /** Feedback comes in the order of its items. */
  private addRead(itemRow: number): void {
    const { readRows, readCount } = this;
    if (readCount > 0 && readRows[readCount - 1] === itemRow) return;
    if (readCount === readRows.length) this.readRows = grown(readRows, readCount + 1);
    this.readRows[this.readCount++] = itemRow;
  }
}
