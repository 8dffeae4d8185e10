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
  number: number;
  userRow: number;
  itemRow: number;
  type: string;
  timeMs: number;
  /** Time of arrival, milliseconds since the epoch. */
  cameMs: number;
}

type SavedEntry = readonly [userId: string, itemId: string, type: string, timeMs: number, cameMs: number];

type Parts = Pick<Recommendation, 'reads' | 'live'>;

/** Keeps the latest feedback as it came, of bounded number. An orderly stop saves it. */
export class RecentFeedback {
  /** By number, modulo how many are kept: each is written over again and again, for there may be very many. */
  private readonly slots: (Entry | undefined)[] = new Array(RECORDS_MAX).fill(undefined);
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
    for (let at = Math.max(0, added.length - RECORDS_MAX); at < added.length; at++) {
      const type = feedbackTypes[added.types[at]!] ?? '';
      this.put(added.userRows[at]!, added.itemRows[at]!, type, added.timesMs[at]!, cameMs);
    }
  }

  /** The latest records, newest first. @param n at most so many @param after of those with a number above it */
  latest(n: number, after = 0): RecentEvent[] {
    const { reads, live } = this.parts;
    const types = reads.feedbackTypes();
    const found: RecentEvent[] = [];
    for (const { number, userRow, itemRow, type, timeMs, cameMs } of this.entries()) {
      if (number <= after || found.length >= n) break;
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
    return [...new Set(Array.from(this.entries(), ({ userRow }) => userRow))];
  }

  /** Reads back what the last stop has saved, as if it had come before all else. */
  async restore(): Promise<void> {
    const saved = ((await this.states.getState(STATE_NAME)) ?? []) as readonly SavedEntry[];
    const { reads } = this.parts;
    const present = [...this.entries()].reverse().map((entry) => ({ ...entry }));
    this.slots.fill(undefined);
    this.count = 0;
    for (const [userId, itemId, type, timeMs, cameMs] of saved) {
      const [userRow, itemRow] = [reads.userRow(userId), reads.itemRow(itemId)];
      if (userRow >= 0 && itemRow >= 0) this.put(userRow, itemRow, type, timeMs, cameMs);
    }
    for (const { userRow, itemRow, type, timeMs, cameMs } of present)
      this.put(userRow, itemRow, type, timeMs, cameMs);
  }

  async save(): Promise<void> {
    const { reads } = this.parts;
    const saved = [...this.entries()]
      .reverse()
      .flatMap(({ userRow, itemRow, type, timeMs, cameMs }): SavedEntry[] => {
        const [userId, itemId] = [reads.userIdAt(userRow), reads.itemIdAt(itemRow)];
        return userId === undefined || itemId === undefined ? [] : [[userId, itemId, type, timeMs, cameMs]];
      });
    await this.states.putState(STATE_NAME, saved);
  }

  /** Newest first. */
  private *entries(): Generator<Entry> {
    for (let number = this.count; number > this.count - RECORDS_MAX; number--) {
      const entry = this.slots[(number + RECORDS_MAX) % RECORDS_MAX];
      if (entry !== undefined) yield entry;
    }
  }

  private put(userRow: number, itemRow: number, type: string, timeMs: number, cameMs: number): void {
    const number = ++this.count;
    const slot = (this.slots[number % RECORDS_MAX] ??= { number, userRow, itemRow, type, timeMs, cameMs });
    slot.number = number;
    slot.userRow = userRow;
    slot.itemRow = itemRow;
    slot.type = type;
    slot.timeMs = timeMs;
    slot.cameMs = cameMs;
  }

  private drop(rows: ReadonlySet<number>, key: 'userRow' | 'itemRow'): void {
    for (const [at, entry] of this.slots.entries())
      if (entry !== undefined && rows.has(entry[key])) this.slots[at] = undefined;
  }
}
