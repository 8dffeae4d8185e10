import type { RecentEvent } from '../domain/activity-schemas.ts';
import type { Clock } from '../domain/clock.ts';
import { formatTimestamp } from '../domain/rfc3339.ts';
import type { Recommendation } from '../recommend/start-recommendation.ts';
import type { SavedStates } from '../store/cache-store.ts';
import type { ChangeSet } from '../store/data-store.ts';
import type { ItemCards } from './item-cards.ts';

/** Records that are kept; older ones make room. */
const RECORDS_MAX = 1000;
/** Name of the state that keeps them over a restart. */
const STATE_NAME = 'recent-feedback';

interface Entry {
  readonly number: number;
  readonly userRow: number;
  readonly itemRow: number;
  readonly type: string;
  readonly timeMs: number;
  /** Time of arrival, milliseconds since the epoch. */
  readonly cameMs: number;
}

type SavedEntry = readonly [userId: string, itemId: string, type: string, timeMs: number, cameMs: number];

type Parts = Pick<Recommendation, 'reads' | 'live'>;

/** Keeps the latest feedback as it came, of bounded number. An orderly stop saves it. */
export class RecentFeedback {
  private entries: Entry[] = [];
  /** The number of the record that came last. */
  count = 0;
  private readonly parts: Parts;
  private readonly cards: ItemCards;
  private readonly states: SavedStates;
  private readonly clock: Clock;

  constructor(parts: Parts, cards: ItemCards, states: SavedStates, clock: Clock) {
    this.parts = parts;
    this.cards = cards;
    this.states = states;
    this.clock = clock;
  }

  /** Takes in what a commit changed: work bounded by the number of records kept. */
  follow({ added, feedbackTypes, deletedUserRows, deletedItemRows }: ChangeSet): void {
    if (deletedUserRows.length > 0) this.drop(new Set(deletedUserRows), 'userRow');
    if (deletedItemRows.length > 0) this.drop(new Set(deletedItemRows), 'itemRow');
    const cameMs = this.clock();
    const from = Math.max(0, added.length - RECORDS_MAX);
    for (let at = from; at < added.length; at++) {
      this.entries.push({
        number: ++this.count,
        userRow: added.userRows[at]!,
        itemRow: added.itemRows[at]!,
        type: feedbackTypes[added.types[at]!] ?? '',
        timeMs: added.timesMs[at]!,
        cameMs,
      });
    }
    if (this.entries.length > RECORDS_MAX) this.entries = this.entries.slice(-RECORDS_MAX);
  }

  /** The latest records, newest first. @param n at most so many @param after of those with a number above it */
  latest(n: number, after = 0): RecentEvent[] {
    const { reads, live } = this.parts;
    const types = reads.feedbackTypes();
    const found: RecentEvent[] = [];
    for (let at = this.entries.length - 1; at >= 0 && found.length < n; at--) {
      const { number, userRow, itemRow, type, timeMs, cameMs } = this.entries[at]!;
      if (number <= after) break;
      const item = this.cards.at(itemRow);
      const UserId = reads.userIdAt(userRow);
      if (item === undefined || UserId === undefined) continue;
      const Positive = types.includes(type) && live.isPositive(types.indexOf(type));
      found.push({
        ...{ Number: number, UserId, ...item, FeedbackType: type, Positive },
        Timestamp: formatTimestamp(timeMs),
        CameAt: formatTimestamp(cameMs),
      });
    }
    return found;
  }

  /** Rows of the users of the latest records, each once, the one who was active last first. */
  userRows(): number[] {
    return [...new Set(this.entries.toReversed().map(({ userRow }) => userRow))];
  }

  /** Reads back what the last stop has saved, as if it had come before all else. */
  async restore(): Promise<void> {
    const saved = ((await this.states.getState(STATE_NAME)) ?? []) as readonly SavedEntry[];
    const { reads } = this.parts;
    const entries = saved.flatMap(([userId, itemId, type, timeMs, cameMs]) => {
      const [userRow, itemRow] = [reads.userRow(userId), reads.itemRow(itemId)];
      return userRow < 0 || itemRow < 0 ? [] : [{ number: 0, userRow, itemRow, type, timeMs, cameMs }];
    });
    this.entries = [...entries, ...this.entries].slice(-RECORDS_MAX).map((entry, at) => ({
      ...entry,
      number: at + 1,
    }));
    this.count = this.entries.length;
  }

  async save(): Promise<void> {
    const { reads } = this.parts;
    const saved = this.entries.flatMap(({ userRow, itemRow, type, timeMs, cameMs }): SavedEntry[] => {
      const [userId, itemId] = [reads.userIdAt(userRow), reads.itemIdAt(itemRow)];
      return userId === undefined || itemId === undefined ? [] : [[userId, itemId, type, timeMs, cameMs]];
    });
    await this.states.putState(STATE_NAME, saved);
  }

  private drop(rows: ReadonlySet<number>, key: 'userRow' | 'itemRow'): void {
    this.entries = this.entries.filter((entry) => !rows.has(entry[key]));
  }
}
