import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/config.ts';
import type { UserHistory, UserView } from '../domain/admin-schemas.ts';
import type { DetailedList } from '../domain/api-schemas.ts';
import { EMPTY_USER } from '../domain/entity-fields.ts';
import { FurzeError } from '../domain/furze-error.ts';
import { RECOMMENDERS, type RecommenderName } from '../domain/recommenders.ts';
import { formatTimestamp } from '../domain/rfc3339.ts';
import { NOTHING, type Ranked } from '../memory/ranked-rows.ts';
import { TopK } from '../memory/top-k.ts';
import { turns } from '../platform/concurrency/event-loop-turns.ts';
import { SingleFlight } from '../platform/concurrency/single-flight.ts';
import { isUnread } from '../recommend/history/read-items.ts';
import type { Recommendation } from '../recommend/start-recommendation.ts';
import { FeedbackColumns } from '../store/data-store.ts';
import type { ItemCards } from './item-cards.ts';

/** A recommender that needs a worker, which may have to be started first, is waited for so long. */
const WAIT_MS = 1500;

export interface UserQuery {
  /** Entries of the recommended list and of each recommender that are shown. */
  readonly n: number;
  /** Feedback records that are shown, newest first. */
  readonly historyCount: number;
}

/** Tells of one user what recommends what, and why. All work is bounded by the user's own feedback and by `n`. */
export class UserViewer {
  private readonly parts: Recommendation;
  private readonly cards: ItemCards;
  private readonly recommend: Config['recommend'];
  private readonly columns = new FeedbackColumns();
  private readonly underWay = new SingleFlight<Ranked>();

  constructor(parts: Recommendation, cards: ItemCards, recommend: Config['recommend']) {
    this.parts = parts;
    this.cards = cards;
    this.recommend = recommend;
  }

  async view(userId: string, { n, historyCount }: UserQuery): Promise<UserView> {
    const { reads, recommender } = this.parts;
    const userRow = reads.userRow(userId);
    const user = reads.userAt(userRow) ?? { ...EMPTY_USER, UserId: userId };
    const { text: answer } = await recommender.recommend(userId, {
      n,
      offset: 0,
      categories: [],
      details: true,
    });
    await turns.take();
    const history = await this.feedback(userId, historyCount, '');
    const { list, scoreByRow } = await this.cachedList(userRow);
    const ranksByRow = new Map<number, Record<string, number>>();
    const Recommenders: UserView['Recommenders'] = [];
    const found = await Promise.all(RECOMMENDERS.map((name) => this.rankInTime(name, userRow)));
    await turns.take();
    for (const [at, name] of RECOMMENDERS.entries()) {
      const ranked = found[at] ?? NOTHING;
      ranked.rows.forEach((row, rank) => {
        ranksByRow.set(row, { ...ranksByRow.get(row), [name]: rank });
      });
      const first = { rows: ranked.rows.slice(0, n), scores: ranked.scores.slice(0, n) };
      Recommenders.push({
        Name: name,
        ...this.use(name),
        IsWaiting: found[at] === undefined,
        Items: this.cards.scored(first),
      });
    }
    const Pipeline = (JSON.parse(answer) as DetailedList).Items.flatMap(({ Id, Reason }) => {
      const row = reads.itemRow(Id);
      const item = this.cards.at(row);
      const [Score, Ranks] = [scoreByRow.get(row), ranksByRow.get(row) ?? {}];
      return item === undefined ? [] : { ...item, ...(Score !== undefined && { Score }), Reason, Ranks };
    });
    return {
      User: { ...user, Labels: [...user.Labels], Subscribe: [...user.Subscribe] },
      Known: userRow >= 0,
      ...history,
      Pipeline,
      ...(list !== undefined && { List: list }),
      Recommenders,
    };
  }

  private async cachedList(userRow: number): Promise<{
    readonly list: UserView['List'];
    readonly scoreByRow: ReadonlyMap<number, number>;
  }> {
    const scoreByRow = new Map<number, number>();
    const cached = userRow < 0 ? undefined : await this.parts.lists.find(userRow);
    if (cached === undefined) return { list: undefined, scoreByRow };
    const { generation, madeMs, itemRows, scores } = cached;
    itemRows.forEach((row, at) => {
      scoreByRow.set(row, scores[at]!);
    });
    const list = { Generation: generation, MadeAt: formatTimestamp(madeMs), Length: itemRows.length };
    return { list, scoreByRow };
  }

  /**
   * A page of a user's feedback, newest first.
   * @param cursor of the page before, `''` for the first one
   * @throws FurzeError INVALID_CURSOR
   */
  async feedback(userId: string, count: number, cursor: string): Promise<UserHistory> {
    const { reads, histories } = this.parts;
    await histories.ready(reads.userRow(userId));
    // By then the name may be that of another row.
    return this.history(reads.userRow(userId), count, cursor);
  }

  private history(userRow: number, count: number, cursor: string): UserHistory {
    const { reads, live } = this.parts;
    const after = placeBehind(cursor);
    if (userRow < 0) return { FeedbackCount: 0, PositiveCount: 0, History: [], Cursor: '' };
    const { columns } = this;
    reads.readUserFeedback(userRow, columns);
    const names = reads.feedbackTypes();
    const newest = new TopK(count);
    // The same whatever comes and goes beside it; a type takes at most 16 bits.
    const placeOf = (at: number) => columns.itemRows[at]! * 2 ** 16 + columns.types[at]!;
    let positives = 0;
    let older = 0;
    for (let at = 0; at < columns.length; at++) {
      const timeMs = columns.timesMs[at]!;
      if (live.isPositive(columns.types[at]!)) positives++;
      if (timeMs > after.timeMs || (timeMs === after.timeMs && placeOf(at) <= after.place)) continue;
      older++;
      newest.push(at, timeMs);
    }
    const { rows } = newest.sorted();
    const last = older > rows.length ? rows.at(-1) : undefined;
    const Cursor = last === undefined ? '' : `${columns.timesMs[last]}_${placeOf(last)}`;
    const History = rows.flatMap((at) => {
      const item = this.cards.at(columns.itemRows[at]!);
      const type = columns.types[at]!;
      return item === undefined
        ? []
        : {
            ...item,
            FeedbackType: names[type] ?? '',
            Timestamp: formatTimestamp(columns.timesMs[at]!),
            Positive: live.isPositive(type),
          };
    });
    return { FeedbackCount: columns.length, PositiveCount: positives, History, Cursor };
  }

  /** As `rank`, or undefined where a worker takes long; who asks again joins the work that goes on. */
  private rankInTime(name: RecommenderName, userRow: number): Promise<Ranked | undefined> {
    const work = this.underWay.run(`${name} ${userRow}`, undefined, () => this.rank(name, userRow));
    // A failure after the wait is nobody's; one within it is the request's.
    work.catch(() => {});
    return Promise.race([work, sleep(WAIT_MS, undefined, { ref: false })]);
  }

  /** The first items of one recommender for the user, of those that may be recommended: as many as a list takes of it. */
  private async rank(name: RecommenderName, userRow: number): Promise<Ranked> {
    const { live, sources, histories, settings } = this.parts;
    // One recommender a turn: for a user with very much feedback each takes milliseconds.
    await turns.take();
    return histories.use(userRow, (history) => {
      const accept = (row: number) => live.catalogue.isListable(row) && isUnread(history, row);
      return sources[name].rank({ history, k: settings.cacheSize, accept, categories: [] });
    });
  }

  private use(name: RecommenderName): { InPipeline: boolean; IsFallback: boolean } {
    const { offline, online } = this.recommend;
    const InPipeline = offline[`enable_${name}_recommend`];
    return { InPipeline, IsFallback: online.fallback_recommend.includes(name) };
  }
}

/** The last record of a page: its time, and its place among those of one moment, by item and type. */
function placeBehind(cursor: string): { readonly timeMs: number; readonly place: number } {
  if (cursor === '') return { timeMs: Number.POSITIVE_INFINITY, place: -1 };
  const [, timeMs, place] = /^(-?\d{1,16})_(\d{1,15})$/.exec(cursor) ?? [];
  if (place !== undefined) return { timeMs: Number(timeMs), place: Number(place) };
  const message = 'is not one that this server has made';
  throw new FurzeError('INVALID_CURSOR', `The cursor ${message}.`, [{ path: 'cursor', message }]);
}
