import { setTimeout as sleep } from 'node:timers/promises';
import type { RecentEvent, RecentEventsView } from '../domain/activity-schemas.ts';
import { getOrPut } from '../domain/get-or-put.ts';
import { overloaded } from '../platform/concurrency/overload-error.ts';
import { shownOfList } from '../recommend/history/read-items.ts';
import type { Recommendation } from '../recommend/start-recommendation.ts';
import type { ReadBarrier } from '../store/data-store.ts';
import type { ItemCards } from './item-cards.ts';
import type { RecentFeedback } from './recent-feedback.ts';

/** Time between two looks at what came, and after which a stream without news says that it is there, milliseconds. */
const LOOK_MS = 250;
const BEAT_MS = 4000;
const STREAMS_MAX = 8;
/** Records of one event, users of it whose answers are told, items of an answer, answers that are kept for other streams. */
const RECORDS_MAX = 50;
const ANSWERS_MAX = 3;
const ITEMS = 5;
const KEPT_MAX = 32;

type Answer = NonNullable<RecentEvent['Answer']>;

/** Tells what comes, and what it changes, to those who look on. Nothing is kept for them: who is slow misses some. */
export class LiveFeedback {
  private readonly parts: Recommendation;
  private readonly cards: ItemCards;
  private readonly recent: RecentFeedback;
  private readonly barrier: ReadBarrier | undefined;
  private readonly answers = new Map<number, Promise<Answer>>();
  private streams = 0;

  constructor(
    parts: Recommendation,
    cards: ItemCards,
    recent: RecentFeedback,
    barrier: ReadBarrier | undefined,
  ) {
    this.parts = parts;
    this.cards = cards;
    this.recent = recent;
    this.barrier = barrier;
  }

  /**
   * Server-sent events until the signal is aborted.
   * @param n records of before in the first event
   * @returns the events, and what gives their place back where nobody begins to read them
   * @throws FurzeError OVERLOADED when too many look on
   */
  events(
    n: number,
    signal: AbortSignal,
  ): { readonly parts: AsyncIterable<string>; readonly discard: () => void } {
    if (this.streams >= STREAMS_MAX) throw overloaded('streams');
    this.streams++;
    return { parts: this.stream(n, signal), discard: () => void this.streams-- };
  }

  private async *stream(n: number, signal: AbortSignal): AsyncGenerator<string> {
    const { recent } = this;
    try {
      await this.barrier?.pass(recent.userRows());
      let { count } = recent;
      yield eventOf({ Feedback: await this.answered(recent.latest(n)) });
      for (let quietMs = LOOK_MS; ; quietMs += LOOK_MS) {
        await sleep(LOOK_MS, undefined, { signal, ref: false });
        if (recent.count === count) {
          if (quietMs % BEAT_MS === 0) yield ':\n\n';
          continue;
        }
        await this.barrier?.pass(recent.userRows());
        const after = count;
        count = recent.count;
        const came = recent.latest(RECORDS_MAX, after);
        yield eventOf({ Feedback: await this.answered(came), Missed: count - after - came.length });
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.streams--;
    }
  }

  /** The records, the latest of some users with their answers. */
  private async answered(came: readonly RecentEvent[]): Promise<RecentEvent[]> {
    const users = new Set<string>();
    const told: RecentEvent[] = [];
    for (const record of came) {
      const isTold = users.size < ANSWERS_MAX && !users.has(record.UserId);
      if (isTold) users.add(record.UserId);
      told.push(isTold ? { ...record, Answer: await this.answerTo(record) } : record);
    }
    return told;
  }

  /** The answer that the user gets since, made once for all streams. */
  private answerTo(record: RecentEvent): Promise<Answer> {
    const { answers } = this;
    const answer = getOrPut(answers, record.Number, () => this.makeAnswer(record));
    if (answers.size > KEPT_MAX) answers.delete(answers.keys().next().value!);
    return answer;
  }

  private async makeAnswer({ UserId, Id, CameAt }: RecentEvent): Promise<Answer> {
    const { reads, recommender } = this.parts;
    const before = await this.shownBefore(UserId, reads.itemRow(Id), Date.parse(CameAt));
    const { text } = await recommender.recommend(UserId, { n: ITEMS, offset: 0, categories: [] });
    const rows = (JSON.parse(text) as string[]).map((itemId) => reads.itemRow(itemId));
    const Items = rows.flatMap((row) => this.cards.at(row) ?? []);
    if (before === undefined) return { Items };
    return { Items, New: Items.filter((item) => !before.has(reads.itemRow(item.Id))).map((item) => item.Id) };
  }

  /** The rows that the user's list showed before the record came; undefined where that list is gone. */
  private async shownBefore(
    userId: string,
    itemRow: number,
    cameMs: number,
  ): Promise<ReadonlySet<number> | undefined> {
    const { reads, lists, histories, settings } = this.parts;
    const userRow = reads.userRow(userId);
    const list = userRow < 0 ? undefined : await lists.find(userRow);
    if (list === undefined || list.madeMs >= cameMs) return undefined;
    return histories.use(userRow, (history) => {
      const isShown = shownOfList(history, settings.replacement !== undefined);
      const rows = Array.from(list.itemRows).filter((row) => row === itemRow || isShown(row));
      return new Set(rows.slice(0, ITEMS));
    });
  }
}

function eventOf(view: RecentEventsView): string {
  return `data: ${JSON.stringify(view)}\n\n`;
}
