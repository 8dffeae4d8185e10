import type { Clock } from '../../domain/clock.ts';
import { hasBit } from '../../memory/bits.ts';
import { atOnce, inTurns, turns } from '../../platform/concurrency/event-loop-turns.ts';
import type { UserList } from '../../store/cache-store.ts';
import type { LocalReads } from '../../store/data-store.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { ItemFilter, type ItemWishes, NO_WISHES } from '../catalogue/item-filter.ts';
import type { Histories } from '../history/histories.ts';
import type { History } from '../history/history.ts';
import { isUnread, shownOfList } from '../history/read-items.ts';
import type { ActiveUsers } from '../lists/active-users.ts';
import type { AnswerCache } from '../lists/answer-cache.ts';
import type { UserLists } from '../lists/user-lists.ts';
import type { Placement } from '../placements/placement.ts';
import type { Placements } from '../placements/placements.ts';
import type { RecommendationTokens } from '../placements/recommendation-tokens.ts';
import { type Answered, type NameList, type RecommendQuery, sourceOf } from '../sources/recommender.ts';
import { AnswerBuilder } from './answer-builder.ts';
import type { AnswerCounts } from './answer-counts.ts';
import type { Fallbacks } from './fallbacks.ts';
import { type KindProposals, SPARE_FACTOR } from './kind-proposals.ts';
import { type PlacedParts, PlacementLists } from './placement-lists.ts';
import { mainReasons, type ReasonParts, reasonOf } from './reasons.ts';
import type { WriteBack } from './write-back.ts';

/** Entries that are made JSON between two pauses: some tenths of a millisecond. */
const PAUSE_ENTRIES = 512;

/** The source of what stands in the user's own list, or is proposed for the user by the models. */
const OWN_LIST = 'personal';

/** The rules of a question for which a list of its own is made. */
interface Wished {
  readonly filter: ItemFilter;
  readonly placement?: Placement;
}

export interface PersonalParts extends PlacedParts, ReasonParts {
  readonly placements: Placements;
  readonly tokens: RecommendationTokens;
  readonly nameOf: NameList;
  readonly clock: Clock;
  readonly reads: LocalReads;
  readonly catalogue: Catalogue;
  readonly lists: UserLists;
  readonly active: ActiveUsers;
  readonly hits: AnswerCache;
  readonly histories: Histories;
  /** True when lists hold items that the user has read, which then may be shown. */
  readonly replacesRead: boolean;
  readonly fallbacks: Fallbacks;
  readonly kinds: KindProposals;
  readonly writeBack: WriteBack;
  readonly answers: AnswerCounts;
}

/**
 * Answers what is recommended to a user: the cached list, less what was read;
 * for a category what else of it the models propose, in the same order; then the fallbacks.
 */
export class PersonalAnswers {
  private readonly parts: PersonalParts;
  private readonly placed: PlacementLists;

  constructor(parts: PersonalParts) {
    this.parts = parts;
    this.placed = new PlacementLists(parts, this.fill.bind(this));
  }

  recommend(userId: string, query: RecommendQuery): Promise<Answered> | Answered {
    const { reads, lists, hits, active, answers, histories } = this.parts;
    answers.all++;
    if (isWished(query)) return this.keptPlaced(userId, query) ?? this.wished(userId, query);
    const ready = query.details === true ? undefined : hits.find(userId, query);
    if (ready !== undefined) {
      active.note(hits.foundUserRow);
      return { text: ready, source: OWN_LIST };
    }
    const userRow = reads.userRow(userId);
    active.note(userRow);
    const fetched = query.n + query.offset > 0 ? lists.fetch(userRow) : undefined;
    const long = histories.ready(userRow);
    const wait = long === undefined ? fetched : Promise.all([fetched, long]).then(([list]) => list);
    if (wait === undefined) return this.ofLast(userId, userRow, query);
    // By then the name may be that of another row.
    return wait.then((list) => this.ofLast(userId, reads.userRow(userId), query, list));
  }

  /** The answer of a placement that was made for the user a short time ago; undefined for none that is still right. */
  private keptPlaced(userId: string, query: RecommendQuery): Answered | undefined {
    const { placements, hits, active, catalogue, filters, tokens, nameOf } = this.parts;
    if (!isOfPlacement(query) || !placements.has(query.placement)) return undefined;
    const { placement, other, claims } = placements.of(query.placement, userId);
    if (!placement.isSteady || other !== undefined) return undefined;
    const { filter, settings, number, length } = placement;
    const passing = filter && filters.ready(filter);
    if (filter !== undefined && passing === undefined) return undefined;
    const mayStand = (row: number) =>
      ((passing === undefined || hasBit(passing, row)) && catalogue.isInAll(row, settings.categories)) ||
      placement.isPinned(catalogue.idAt(row));
    const n = Math.min(query.n, length);
    const text = hits.findPlaced(number, userId, n, { version: filters.version, mayStand });
    if (text === undefined) return undefined;
    active.note(hits.foundUserRow);
    // What is given again within the minute is the same list.
    const token = hits.foundToken ?? hits.keepToken(tokens.issue(nameOf(query.placement, claims, 0), userId));
    return { text, source: hits.foundSource, claims, token };
  }

  /** The answer of `recommend` where the user's list is at hand, lacks nothing and is long enough; undefined otherwise. Asks no model. */
  ofReadyList(userId: string, query: RecommendQuery): Answered | undefined {
    const { reads, lists, histories, active, answers } = this.parts;
    if (isWished(query) || asksMore(query)) return undefined;
    const userRow = reads.userRow(userId);
    if (reads.feedbackAhead(userRow) !== undefined) return undefined;
    const history = histories.take(userRow);
    try {
      const list = lists.ready(history);
      if (list === undefined) return undefined;
      const answer = this.answerOf(history, list, query);
      if (answer.missing > 0) return undefined;
      active.note(history.userRow);
      answers.all++;
      return this.ofOwnList(answer, query);
    } finally {
      histories.give(history);
    }
  }

  /** @param fetched the user's last list, where lists are not at hand */
  private ofLast(
    userId: string,
    userRow: number,
    query: RecommendQuery,
    fetched?: UserList,
  ): Promise<Answered> | Answered {
    const { histories, lists } = this.parts;
    const history = histories.take(userRow);
    const list = query.n + query.offset > 0 ? lists.of(history, fetched, query.caller?.signal) : undefined;
    if (list instanceof Promise) {
      // What the user has read may be more by now.
      histories.give(history);
      return list.then(async (made) => {
        // Many may have waited for the same list.
        await turns.take();
        // The name may be that of another row, whose list it is not.
        const row = this.parts.reads.userRow(userId);
        const own = row === userRow ? made : undefined;
        return histories.use(row, (now) => this.answer(userId, now, own, query));
      });
    }
    const answer = this.answer(userId, history, list, query);
    if (answer instanceof Promise) return answer.finally(() => histories.give(history));
    histories.give(history);
    return answer;
  }

  private answer(
    userId: string,
    history: History,
    list: UserList | undefined,
    query: RecommendQuery,
  ): Promise<Answered> | Answered {
    const answer = this.answerOf(history, list, query);
    if (list !== undefined && answer.missing === 0)
      this.parts.hits.keep(userId, history, list, this.shownTo(history));
    if (answer.missing === 0 && !asksMore(query)) return this.ofOwnList(answer, query);
    return this.complete(userId, history, answer, query);
  }

  private shownTo(history: History): (row: number) => boolean {
    return shownOfList(history, this.parts.replacesRead);
  }

  /** As much of the answer as the list has. */
  private answerOf(history: History, list: UserList | undefined, query: RecommendQuery): AnswerBuilder {
    const answer = new AnswerBuilder(query.offset + query.n);
    if (list !== undefined)
      takeShown(list, answer, this.parts.catalogue, this.shownTo(history), query.categories);
    return answer;
  }

  /** Answers a question that wants some items and not others, some before others, or another ranking: with a list made for it. */
  private async wished(userId: string, query: RecommendQuery): Promise<Answered> {
    const { reads, histories, active, lists, placements, hits, clock } = this.parts;
    const rules = placements.asked(query, userId);
    await lists.takeTurn(reads.userRow(userId), query.caller?.signal);
    const makeList = rules && (await this.placed.begin(rules, userId, query));
    const mark = hits.markOf(reads.userRow(userId));
    return histories.use(reads.userRow(userId), async (history) => {
      active.note(history.userRow);
      if (makeList !== undefined) {
        const { answer, sources, claims } = await makeList(history);
        const { placement, other } = rules!;
        const { discovery = placement.discovery } = query;
        const told = await this.told(userId, history, answer, { ...query, discovery }, sources);
        if (isOfPlacement(query) && placement.isSteady && other === undefined) {
          const n = Math.min(query.n, placement.length);
          const kept = { n, mark, untilMs: placement.pinsUntilMs(clock()) };
          hits.keepPlaced(placement.number, userId, history, answer.rows, told.source, kept);
        }
        return { ...told, claims };
      }
      const filter = this.filterOf(query.categories, query.wishes ?? NO_WISHES);
      const answer = new AnswerBuilder(query.offset + query.n);
      return this.complete(userId, history, answer, query, { filter });
    });
  }

  /** Takes what the placement's kind has, or what the models propose, into an answer that lacks some. */
  private async propose(
    history: History,
    answer: AnswerBuilder,
    filter: ItemFilter,
    wished: Wished | undefined,
    query: RecommendQuery,
  ): Promise<void> {
    const { placement } = wished ?? {};
    if (placement?.isOfKind) return this.parts.kinds.fill(placement, history, answer, filter, query);
    // Nobody knows an unknown user: theirs are the fallbacks, whatever the question wants.
    if (history.userRow >= 0) await this.askModels(history, answer, filter, wished, query);
  }

  /**
   * Takes what the models propose of the wanted items into an answer that lacks some.
   * @param wished the rules of a question for which a list is made; undefined where the answer begins with the user's own
   */
  private async askModels(
    history: History,
    answer: AnswerBuilder,
    filter: ItemFilter,
    wished: Wished | undefined,
    { caller, discovery = wished?.placement?.discovery }: RecommendQuery,
  ): Promise<void> {
    const wanted = answer.wanted * (wished?.placement?.hasCaps ? SPARE_FACTOR : 1);
    const asked = { wanted, discovery, known: wished ? undefined : answer.rows };
    const { list, more } = await this.parts.lists.answer(history, filter, asked, caller?.signal);
    if (list !== undefined) await answer.takeAll(list.rows, list.scores);
    await answer.takeAll(more);
  }

  private filterOf(categories: readonly string[], wishes: ItemWishes, passing?: Uint32Array): ItemFilter {
    const { catalogue, reads } = this.parts;
    const excluded = wishes.excluded.map((itemId) => reads.itemRow(itemId));
    return new ItemFilter(catalogue, categories, wishes, excluded, passing);
  }

  /** Fills the answer up after the list, and writes it back if asked to. */
  private async complete(
    userId: string,
    history: History,
    answer: AnswerBuilder,
    query: RecommendQuery,
    wished?: Wished,
  ): Promise<Answered> {
    const sources = await this.fill(history, answer, query, wished);
    return this.told(userId, history, answer, query, sources);
  }

  /** Fills the answer up after what it has. @returns what has made it, in order */
  private async fill(
    history: History,
    answer: AnswerBuilder,
    query: RecommendQuery,
    wished?: Wished,
  ): Promise<string[]> {
    const { catalogue, fallbacks } = this.parts;
    const { categories, caller } = query;
    const filter =
      wished?.filter ?? (categories.length > 0 ? this.filterOf(categories, NO_WISHES) : undefined);
    if (filter !== undefined && answer.missing > 0)
      await this.propose(history, answer, filter, wished, query);
    const members = filter?.members;
    const allowed = filter?.isWide && answer.missing > 0 ? filter.allowed : undefined;
    const accept = (row: number) =>
      !answer.has(row) &&
      answer.hasRoomFor(row) &&
      catalogue.isListable(row) &&
      (filter?.accepts(row) ?? true) &&
      isUnread(history, row);
    const ask = { history, accept, categories, among: members, allowed, caller };
    const own = answer.rows.length > 0 ? [wished?.placement?.source ?? OWN_LIST] : [];
    return [...own, ...(await fallbacks.fill(answer, ask, filter, wished?.placement?.fallbacks))];
  }

  /** The answer as text, written back if asked to. */
  private async told(
    userId: string,
    history: History,
    answer: AnswerBuilder,
    query: RecommendQuery,
    sources: readonly string[],
  ): Promise<Answered> {
    if (answer.isLong) await turns.take();
    const page = query.details === true ? answer.rows.slice(query.offset) : [];
    const ranked = page.filter((row) => answer.sourceOf(row) === undefined);
    const reasons = await mainReasons(this.parts, history, ranked, query);
    // While a worker was waited for, items may have been hidden or deleted; so may they be while this is written back.
    const shown = answer.rows.filter((row) => this.parts.catalogue.isListable(row));
    const text = await inTurns(this.jsonInSteps(answer, shown, query, reasons));
    if (query.writeBackType !== undefined) {
      const page = shown.slice(query.offset, query.offset + query.n);
      await this.parts.writeBack.write(userId, page, query.writeBackType, query.writeBackDelayMs ?? 0);
    }
    const seed = answer.seedRow < 0 ? undefined : this.parts.catalogue.idAt(answer.seedRow);
    return { text, source: sourceOf(sources), ...(seed !== undefined && { seed }) };
  }

  /** Of an answer whose items are all there: the list has them. */
  private ofOwnList(answer: AnswerBuilder, query: RecommendQuery): Answered {
    const source = answer.rows.length > 0 ? OWN_LIST : sourceOf([]);
    return { text: atOnce(this.jsonInSteps(answer, answer.rows, query)), source };
  }

  /** The page of the answer, without items that go while it is made. Pauses now and then. */
  private *jsonInSteps(
    answer: AnswerBuilder,
    rows: readonly number[],
    query: RecommendQuery,
    reasons?: ReadonlyMap<number, string>,
  ): Generator<undefined, string> {
    const { n, offset } = query;
    const { catalogue } = this.parts;
    let json = '';
    const end = Math.min(rows.length, offset + n);
    for (let at = offset; at < end; at++) {
      if ((at - offset) % PAUSE_ENTRIES === PAUSE_ENTRIES - 1) yield;
      const row = rows[at]!;
      const id = catalogue.jsonIdAt(row);
      if (id === undefined) continue;
      if (json !== '') json += ',';
      json += entryOf(row, id, answer, query, reasons?.get(row));
    }
    if (query.details !== true) return `[${json}]`;
    const seed = answer.seedRow < 0 ? undefined : catalogue.jsonIdAt(answer.seedRow);
    return `{"Items":[${json}]${seed === undefined ? '' : `,"Seed":${seed}`}}`;
  }
}

/** True for a question for the first page of a placement and nothing else. */
function isOfPlacement(query: RecommendQuery): query is RecommendQuery & { readonly placement: string } {
  const { wishes, discovery, placement, draft, item, categories, offset, writeBackType } = query;
  const isOther = draft !== undefined || item !== undefined || query.scored || query.details;
  const isMore = wishes !== undefined || discovery !== undefined || isOther || writeBackType !== undefined;
  return placement !== undefined && !isMore && offset === 0 && categories.length === 0;
}

/** @param id as JSON */
function entryOf(
  row: number,
  id: string,
  answer: AnswerBuilder,
  { scored, details }: RecommendQuery,
  reason: string | undefined,
): string {
  if (scored !== true && details !== true) return id;
  const score = JSON.stringify(answer.scoreOf(row));
  if (details !== true) return `{"Id":${id},"Score":${score}}`;
  const source = answer.sourceOf(row) ?? OWN_LIST;
  const [Source, Reason] = [JSON.stringify(source), JSON.stringify(reason ?? reasonOf(source))];
  return `{"Id":${id},"Score":${score},"Source":${Source},"Reason":${Reason}}`;
}

/** True for a question that no list made before answers. */
function isWished({ wishes, placement, discovery }: RecommendQuery): boolean {
  return wishes !== undefined || placement !== undefined || discovery !== undefined;
}

/** True where the list alone is no answer. */
function asksMore({ writeBackType, details }: RecommendQuery): boolean {
  return writeBackType !== undefined || details === true;
}

/**
 * Takes what of a user's cached list may be shown by now: an item leaves it that was hidden, deleted or is out of date, that
 * the user has read, or that is not in the categories asked for.
 * @param mayShow as `shownOfList` tells for the user
 */
function takeShown(
  { itemRows, scores }: UserList,
  answer: AnswerBuilder,
  catalogue: Catalogue,
  mayShow: (itemRow: number) => boolean,
  categories: readonly string[],
): void {
  for (let at = 0; at < itemRows.length && answer.missing > 0; at++) {
    const row = itemRows[at]!;
    if (mayShow(row) && catalogue.isListable(row) && catalogue.isInAll(row, categories))
      answer.take(row, scores[at]);
  }
}
