import { FeedbackColumns, type LocalReads } from '../store/data-store.ts';
import { RowSet } from './row-set.ts';

/** Which feedback counts as positive. With no positive type configured, none does. */
export type TypeTest = (type: number) => boolean;

/**
 * One user's feedback, read for one request: what is read (any feedback in effect) and what is positive.
 * One object serves all requests in turn; what it holds is valid until the next `load`.
 */
export class History {
  private readonly reads: LocalReads;
  private readonly feedback = new FeedbackColumns();
  private readonly readRows = new RowSet();
  private readonly positiveTtlMs: number;
  private positiveSinceMs = Number.NEGATIVE_INFINITY;
  /** Feedback with a later time is not in effect yet, milliseconds since the epoch. */
  untilMs = Number.POSITIVE_INFINITY;
  userRow = -1;
  /** Time of the last feedback in effect, milliseconds since the epoch, -Infinity for none. */
  inEffectSinceMs = Number.NEGATIVE_INFINITY;
  /** Time of the first feedback that is not in effect yet, Infinity for none. */
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
  load(userRow: number, untilMs: number, except?: ReadonlySet<number>): void {
    this.userRow = userRow;
    this.untilMs = untilMs;
    this.positiveSinceMs = untilMs - this.positiveTtlMs;
    this.readRows.clear();
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
        this.readRows.add(itemRows[at]!);
        if (timeMs > this.inEffectSinceMs) this.inEffectSinceMs = timeMs;
      } else if (timeMs < this.nextEffectMs) this.nextEffectMs = timeMs;
    }
  }

  /** True when the user has any feedback in effect on the item. */
  hasRead(itemRow: number): boolean {
    return this.readRows.has(itemRow);
  }

  /** True when positive feedback in effect has a time after `timeMs`. */
  hasPositiveAfter(isPositive: TypeTest, timeMs: number): boolean {
    const { length, types, timesMs } = this.feedback;
    for (let at = 0; at < length; at++)
      if (timesMs[at]! > timeMs && timesMs[at]! <= this.untilMs && isPositive(types[at]!)) return true;
    return false;
  }

  /** When the first feedback on the item took effect, milliseconds since the epoch; undefined when none has. */
  readAtMs(itemRow: number): number | undefined {
    if (!this.hasRead(itemRow)) return undefined;
    const { length, itemRows, timesMs } = this.feedback;
    let first = Number.POSITIVE_INFINITY;
    for (let at = 0; at < length; at++) if (itemRows[at] === itemRow) first = Math.min(first, timesMs[at]!);
    return first;
  }

  /** Distinct rows of the items with feedback in effect, ascending. */
  readRowsInEffect(): number[] {
    const { length, itemRows, timesMs } = this.feedback;
    const rows: number[] = [];
    for (let at = 0; at < length; at++) {
      if (timesMs[at]! <= this.untilMs && rows.at(-1) !== itemRows[at]) rows.push(itemRows[at]!);
    }
    return rows;
  }

  /** Distinct rows of the items the user liked, most recent first, at most `limit`. */
  positiveRows(isPositive: TypeTest, limit = Number.POSITIVE_INFINITY): number[] {
    const { length, itemRows, types, timesMs } = this.feedback;
    const latest = new Map<number, number>();
    for (let at = 0; at < length; at++) {
      if (!isPositive(types[at]!) || timesMs[at]! < this.positiveSinceMs || timesMs[at]! > this.untilMs)
        continue;
      const row = itemRows[at]!;
      latest.set(row, Math.max(latest.get(row) ?? Number.NEGATIVE_INFINITY, timesMs[at]!));
    }
    const rows = [...latest.keys()].sort((a, b) => latest.get(b)! - latest.get(a)! || a - b);
    return rows.length > limit ? rows.slice(0, limit) : rows;
  }
}
