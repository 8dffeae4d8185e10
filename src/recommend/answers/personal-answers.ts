import { Gate } from '../../domain/concurrency/bounded-queue.ts';
import { turns } from '../../domain/concurrency/turns.ts';
import type { UserList } from '../../store/cache-store.ts';
import type { LocalReads } from '../../store/data-store.ts';
import type { AnswerCache } from '../answer-cache/answer-cache.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { ItemFilter, type ItemWishes } from '../catalogue/item-filter.ts';
import type { History } from '../history/history.ts';
import type { Histories } from '../history/history-pool.ts';
import type { ListMaker } from '../list-making/list-maker.ts';
import type { RecommendQuery } from '../recommender.ts';
import type { SourceName } from '../sources/source.ts';
import type { Sources } from '../sources/sources.ts';
import type { ActiveUsers } from '../user-lists/active-users.ts';
import type { UserLists } from '../user-lists/user-lists.ts';
import type { WriteBack } from './write-back.ts';

/** Entries of an answer from which on its parts are made in turns of their own. */
const ENTRIES_A_TURN = 2000;
/** Lists for single questions that wait for their turn at most; more are refused. */
const LISTS_WAITING_MAX = 64;

const NO_WISHES: ItemWishes = { excluded: [], labels: [], notLabels: [], boosts: [] };

export interface PersonalParts {
  readonly reads: LocalReads;
  readonly catalogue: Catalogue;
  readonly lists: UserLists;
  readonly active: ActiveUsers;
  readonly hits: AnswerCache;
  readonly maker: ListMaker;
  readonly histories: Histories;
  /** Whether lists hold items that the user has read, which then may be shown. */
  readonly replacesRead: boolean;
  readonly sources: Sources;
  /** The recommenders asked when the list is used up. */
  readonly fallbackOrder: readonly SourceName[];
  readonly writeBack: WriteBack;
}

/** Rows chosen so far for one answer, and how many are wanted. */
class Answer {
  readonly rows: number[] = [];
  private readonly scores = new Map<number, number>();
  readonly wanted: number;
  private lowest = Number.POSITIVE_INFINITY;

  constructor(wanted: number) {
    this.wanted = wanted;
  }

  get missing(): number {
    return this.wanted - this.rows.length;
  }

  has(row: number): boolean {
    return this.scores.has(row);
  }

  /**
   * @param score its score where it comes from; those of different sources do not compare, so an entry takes at most
   *   that of the one above it, and that one's where it has none
   */
  take(row: number, score = Number.POSITIVE_INFINITY): void {
    if (this.missing === 0 || this.scores.has(row)) return;
    this.rows.push(row);
    this.lowest = Math.min(this.lowest, score);
    this.scores.set(row, this.lowest);
  }

  takeAll(rows: readonly number[], scores?: ArrayLike<number>): void {
    for (const [at, row] of rows.entries()) this.take(row, scores?.[at]);
  }

  /** Never rises along the answer; 0 where no source has given one. */
  scoreOf(row: number): number {
    const score = this.scores.get(row)!;
    return score === Number.POSITIVE_INFINITY ? 0 : score;
  }
}

/**
 * Answers what is recommended to a user: the cached list, less what was read;
 * for a category what else of it the models propose, in the same order; then the fallbacks.
 */
export class PersonalAnswers {
  private readonly parts: PersonalParts;
  /** Lists for single questions are made one a turn of the event loop. */
  private readonly listTurns = new Gate({
    atWorkMax: 1,
    waitingMax: LISTS_WAITING_MAX,
    refusedFor: 'lists',
  });

  constructor(parts: PersonalParts) {
    this.parts = parts;
  }

  recommend(userId: string, query: RecommendQuery): Promise<string> | string {
    const { reads, lists, hits, active } = this.parts;
    if (query.wishes !== undefined) return this.wished(userId, query, query.wishes);
    const ready = hits.find(userId, query);
    if (ready !== undefined) {
      active.note(hits.foundUserRow);
      return ready;
    }
    const userRow = reads.userRow(userId);
    active.note(userRow);
    const fetched = query.n + query.offset > 0 ? lists.fetch(userRow) : undefined;
    if (fetched === undefined) return this.ofLast(userId, userRow, query);
    // By then the name may be that of another row.
    return fetched.then((list) => this.ofLast(userId, reads.userRow(userId), query, list));
  }

  /** @param fetched the user's last list, where lists are not at hand */
  private ofLast(
    userId: string,
    userRow: number,
    query: RecommendQuery,
    fetched?: UserList,
  ): Promise<string> | string {
    const { histories, lists } = this.parts;
    const history = histories.take(userRow);
    const list = query.n + query.offset > 0 ? lists.of(history, fetched) : undefined;
    if (list instanceof Promise) {
      // What the user has read may be more by now.
      histories.give(history);
      return list.then((made) => histories.use(userRow, (now) => this.answer(userId, now, made, query)));
    }
    const answer = this.answer(userId, history, list, query);
    if (typeof answer === 'string') {
      histories.give(history);
      return answer;
    }
    return answer.finally(() => histories.give(history));
  }

  private answer(
    userId: string,
    history: History,
    list: UserList | undefined,
    query: RecommendQuery,
  ): Promise<string> | string {
    const { hits, replacesRead } = this.parts;
    const answer = new Answer(query.offset + query.n);
    if (list !== undefined) {
      const isShown = (row: number) => replacesRead || !history.hasRead(row);
      this.takeList(answer, list, isShown, query.categories);
      if (answer.missing === 0) hits.keep(userId, history, list, isShown);
    }
    if (answer.missing === 0 && query.writeBackType === undefined)
      return this.toJson(answer, answer.rows, query);
    return this.complete(userId, history, answer, query);
  }

  private takeList(
    answer: Answer,
    { itemRows, scores }: UserList,
    isShown: (row: number) => boolean,
    categories: readonly string[],
  ): void {
    const { catalogue } = this.parts;
    for (let at = 0; at < itemRows.length && answer.missing > 0; at++) {
      const row = itemRows[at]!;
      if (isShown(row) && catalogue.isListable(row) && catalogue.isInAll(row, categories))
        answer.take(row, scores[at]);
    }
  }

  /** Answers a question that wants some items and not others, or some before others: with a list made for it. */
  private async wished(userId: string, query: RecommendQuery, wishes: ItemWishes): Promise<string> {
    const { reads, histories, maker, active } = this.parts;
    await this.listTurns.run(() => turns.take(), query.caller?.signal);
    return histories.use(reads.userRow(userId), (history) => {
      active.note(history.userRow);
      const filter = this.filterOf(query.categories, wishes);
      const answer = new Answer(query.offset + query.n);
      const made = answer.missing > 0 ? maker.make(history, filter) : undefined;
      if (made !== undefined) answer.takeAll(made.rows, made.scores);
      return this.complete(userId, history, answer, query, filter);
    });
  }

  private filterOf(categories: readonly string[], wishes: ItemWishes): ItemFilter {
    const { catalogue, reads } = this.parts;
    return new ItemFilter(catalogue, categories, wishes, (itemId) => reads.itemRow(itemId));
  }

  /** Fills the answer up after the list, and writes it back if asked to. */
  private async complete(
    userId: string,
    history: History,
    answer: Answer,
    query: RecommendQuery,
    wished?: ItemFilter,
  ): Promise<string> {
    const { catalogue, maker, sources, fallbackOrder, writeBack } = this.parts;
    const { categories, caller } = query;
    const filter = wished ?? (categories.length > 0 ? this.filterOf(categories, NO_WISHES) : undefined);
    const members = filter?.members;
    const allowed = filter?.isWide && answer.missing > 0 ? filter.allowed : undefined;
    const accept = (row: number) =>
      !answer.has(row) &&
      catalogue.isListable(row) &&
      (filter?.accepts(row) ?? true) &&
      !history.hasRead(row);
    if ((members ?? allowed) !== undefined && answer.missing > 0)
      answer.takeAll(maker.among(history, { members, allowed }, answer.missing, accept, filter));
    const isLong = answer.wanted > ENTRIES_A_TURN;
    for (const name of fallbackOrder) {
      if (answer.missing === 0) break;
      const k = filter?.hasBoosts ? maker.wholeLists(answer.missing) : answer.missing;
      const ask = { history, k, accept, categories, among: members, allowed, caller };
      const ranked = await sources.rank(name, ask);
      if (isLong) await turns.take();
      if (filter?.hasBoosts) answer.takeAll(maker.boosted(ranked, filter));
      else answer.takeAll(ranked.rows, ranked.scores);
    }
    if (isLong) await turns.take();
    // While a worker was waited for, items may have been hidden or deleted; so may they be while this is written back.
    const shown = answer.rows.filter((row) => catalogue.isListable(row));
    const json = this.toJson(answer, shown, query);
    if (query.writeBackType !== undefined) {
      const page = shown.slice(query.offset, query.offset + query.n);
      await writeBack.write(userId, page, query.writeBackType, query.writeBackDelayMs ?? 0);
    }
    return json;
  }

  private toJson(answer: Answer, rows: readonly number[], { n, offset, scored }: RecommendQuery): string {
    const { catalogue } = this.parts;
    if (scored) {
      const page = rows.slice(offset, offset + n);
      return JSON.stringify(page.map((row) => ({ Id: catalogue.idAt(row)!, Score: answer.scoreOf(row) })));
    }
    let json = '';
    for (let at = offset; at < Math.min(rows.length, offset + n); at++) {
      json += (at > offset ? ',' : '') + catalogue.jsonIdAt(rows[at]!);
    }
    return `[${json}]`;
  }
}
