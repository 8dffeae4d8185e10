import type { ActiveUsersView, PopularItemsView, RecentEvent } from '../domain/activity-schemas.ts';
import type { Clock } from '../domain/clock.ts';
import { formatTimestamp } from '../domain/rfc3339.ts';
import { turns } from '../platform/concurrency/event-loop-turns.ts';
import { readAhead } from '../recommend/history/histories.ts';
import type { Recommendation } from '../recommend/start-recommendation.ts';
import type { SavedStates } from '../store/cache-store.ts';
import { type DataStore, FeedbackColumns } from '../store/data-store.ts';
import { DailyFigures } from './daily-figures.ts';
import type { ItemCards } from './item-cards.ts';
import { LiveFeedback } from './live-feedback.ts';
import { RecentFeedback } from './recent-feedback.ts';

/** Tells who was active last, which items are liked most, and what came lately. */
export class Activity {
  private readonly recent: RecentFeedback;
  readonly days: DailyFigures;
  readonly live: LiveFeedback;
  private readonly recommendation: Recommendation;
  private readonly data: DataStore;
  private readonly cards: ItemCards;
  private readonly columns = new FeedbackColumns();

  constructor(
    parts: { readonly recommendation: Recommendation; readonly data: DataStore; readonly cards: ItemCards },
    states: SavedStates,
    clock: Clock,
  ) {
    const { recommendation, data, cards } = parts;
    this.recommendation = recommendation;
    this.data = data;
    this.cards = cards;
    this.recent = new RecentFeedback(recommendation, cards, states, clock);
    this.days = new DailyFigures(recommendation.answers, states, clock);
    this.live = new LiveFeedback(recommendation, cards, this.recent, data.barrier);
    data.onChange((changes) => {
      this.recent.follow(changes);
      return this.days.follow(changes);
    });
  }

  async start(): Promise<void> {
    await Promise.all([this.recent.restore(), this.days.restore()]);
  }

  async stop(): Promise<void> {
    await Promise.all([this.recent.save(), this.days.save()]);
  }

  /** The latest feedback, newest first. */
  async feedback(n: number): Promise<RecentEvent[]> {
    await this.data.barrier?.pass(this.recent.userRows());
    return this.recent.latest(n);
  }

  /** The users who were active last, one in a turn of its own: a user may have very much feedback. */
  async users(n: number, offset: number): Promise<ActiveUsersView['Users']> {
    const { reads } = this.recommendation;
    const users: ActiveUsersView['Users'] = [];
    const userRows = this.recent.userRows().slice(offset, offset + n);
    await this.data.barrier?.pass(userRows);
    for (const userRow of userRows) {
      await turns.take();
      await readAhead(reads, userRow);
      const user = reads.userAt(userRow);
      if (user === undefined) continue;
      const { UserId, Labels, Comment } = user;
      users.push({ UserId, Labels: [...Labels], Comment, ...this.figures(userRow) });
    }
    return users;
  }

  /** The items that are liked most, with how many likes. */
  async items(n: number, offset: number): Promise<PopularItemsView['Items']> {
    const { reads, live } = this.recommendation;
    const { rows, scores } = await live.popular.top(offset + n, [], () => true);
    return rows.slice(offset).flatMap((row, at) => {
      const item = reads.itemAt(row);
      if (item === undefined) return [];
      const { Categories, Timestamp } = item;
      const Likes = scores[offset + at]!;
      return [{ ...this.cards.of(item), Likes, Categories: [...Categories], Timestamp }];
    });
  }

  private figures(userRow: number): { FeedbackCount: number; LastSeen: string } {
    const { columns } = this;
    this.recommendation.reads.readUserFeedback(userRow, columns);
    let latestMs = Number.NEGATIVE_INFINITY;
    for (let at = 0; at < columns.length; at++) latestMs = Math.max(latestMs, columns.timesMs[at]!);
    const LastSeen = columns.length === 0 ? '' : formatTimestamp(latestMs);
    return { FeedbackCount: columns.length, LastSeen };
  }
}
