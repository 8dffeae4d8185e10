import type { Feedback } from '../../domain/entities.ts';
import { formatTimestamp } from '../../domain/rfc3339.ts';
import { NOTHING, type Ranked } from '../../memory/ranked-rows.ts';
import { spreadEvenly } from '../../memory/spread-evenly.ts';
import { TopK } from '../../memory/top-k.ts';
import { inTurns, pausing } from '../../platform/concurrency/event-loop-turns.ts';
import { FeedbackColumns, type LocalReads } from '../../store/data-store.ts';
import type { TypeTest } from '../history/counts-as-positive.ts';
import type { History } from '../history/history.ts';
import { KeptForAWhile } from './kept-for-a-while.ts';

const ITEMS_MAX = 1000;
/** Items that a user bought last, of which it is looked at when they are due. */
const BOUGHT_MAX = 200;
/** Users of an item whose rhythms make its own, evenly spread. */
const USERS_MAX = 300;
const KEPT_MAX = 20_000;
const FRESH_MS = 3_600_000;
/** An item is offered from this share of its rhythm on. */
const DUE_FROM = 0.5;

type Reads = Pick<
  LocalReads,
  'readPairFeedback' | 'readItemUsers' | 'feedbackTypes' | 'userIdAt' | 'itemIdAt' | 'occurrences'
>;

/** Events of one triple that count. */
interface Course {
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

/**
 * Items that a user bought before and is due to buy again. The rhythm is the mean time between the user's own purchases of the item or,
 * after a single one, the median of that of others. An item comes from half of its rhythm on, and first the closer to it.
 */
export class DueRepeats {
  private readonly reads: Reads;
  private readonly isPositive: TypeTest;
  private readonly feedback = new FeedbackColumns();
  private readonly rhythms = new KeptForAWhile<number, number>(FRESH_MS, KEPT_MAX);

  constructor(reads: Reads, isPositive: TypeTest) {
    this.reads = reads;
    this.isPositive = isPositive;
  }

  async of(history: History, nowMs: number): Promise<Ranked> {
    const { userRow } = history;
    const userId = this.reads.userIdAt(userRow);
    if (userId === undefined) return NOTHING;
    const due = new TopK(ITEMS_MAX);
    const pause = pausing();
    for (const row of history.positiveRows(this.isPositive, BOUGHT_MAX)) {
      await pause();
      const course = this.courseOf(userRow, userId, row);
      if (course === undefined) continue;
      const { count, firstMs, lastMs } = course;
      const rhythmMs = count > 1 ? (lastMs - firstMs) / (count - 1) : await this.rhythmOf(row, nowMs);
      const share = (nowMs - lastMs) / rhythmMs;
      // Of an item without a rhythm the share is no number.
      if (share >= DUE_FROM) due.push(row, Math.log1p(count) / (1 + Math.abs(Math.log(share))));
    }
    return due.sorted();
  }

  /** The events of an item and a user, of the positive type that there are most of, else of the latest; undefined for none. */
  private courseOf(userRow: number, UserId: string, row: number): Course | undefined {
    const { reads, isPositive, feedback } = this;
    const ItemId = reads.itemIdAt(row);
    if (ItemId === undefined) return undefined;
    const names = reads.feedbackTypes();
    let best: Course | undefined;
    reads.readPairFeedback(userRow, row, feedback);
    for (let at = 0; at < feedback.length; at++) {
      if (!isPositive(feedback.types[at]!)) continue;
      const timeMs = feedback.timesMs[at]!;
      const FeedbackType = names[feedback.types[at]!]!;
      const one: Feedback = { FeedbackType, UserId, ItemId, Timestamp: formatTimestamp(timeMs), Comment: '' };
      const counted = (reads.occurrences(one) ?? []).filter(({ count }) => count > 0);
      const count = counted.reduce((sum, each) => sum + each.count, 0);
      const course = {
        count: Math.max(1, count),
        firstMs: counted[0]?.timeMs ?? timeMs,
        lastMs: counted.at(-1)?.timeMs ?? timeMs,
      };
      const { count: most, lastMs } = best ?? { count: 0, lastMs: 0 };
      if (course.count > most || (course.count === most && course.lastMs > lastMs)) best = course;
    }
    return best;
  }

  /** Median of the mean times between purchases of an item, of users who bought it again; NaN where nobody did. */
  private rhythmOf(row: number, nowMs: number): Promise<number> {
    return this.rhythms.of(row, nowMs, () => inTurns(this.median(row)));
  }

  private *median(row: number): Generator<undefined, number> {
    const { reads } = this;
    const gaps: number[] = [];
    for (const userRow of spreadEvenly(reads.readItemUsers(row), USERS_MAX)) {
      yield;
      const userId = reads.userIdAt(userRow);
      const course = userId === undefined ? undefined : this.courseOf(userRow, userId, row);
      if (course !== undefined && course.count > 1)
        gaps.push((course.lastMs - course.firstMs) / (course.count - 1));
    }
    gaps.sort((a, b) => a - b);
    return gaps[gaps.length >> 1] ?? Number.NaN;
  }
}
