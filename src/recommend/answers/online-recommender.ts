import type { Clock } from '../../domain/clock.ts';
import type { Feedback, ScoredEntry } from '../../domain/entities.ts';
import { clearBit } from '../../memory/bits.ts';
import { filterRanked, NOTHING, type Ranked } from '../../memory/ranked-rows.ts';
import { atOnce, inTurns } from '../../platform/concurrency/event-loop-turns.ts';
import { SingleFlight } from '../../platform/concurrency/single-flight.ts';
import type { LocalReads } from '../../store/data-store.ts';
import type { ListName } from '../../store/shown-log.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { ItemFilter, NO_WISHES } from '../catalogue/item-filter.ts';
import type { Histories } from '../history/histories.ts';
import { isUnread } from '../history/read-items.ts';
import type { Discovery } from '../models/feature-names.ts';
import { NEIGHBORS_MAX } from '../neighbors/item-neighbors.ts';
import type { KeptFilters } from '../placements/kept-filters.ts';
import type { PlacementCounts } from '../placements/placement-counts.ts';
import type { Placements } from '../placements/placements.ts';
import type { RecommendationTokens } from '../placements/recommendation-tokens.ts';
import type { GlobalSource } from '../sources/global-source.ts';
import {
  type Answered,
  type ListQuery,
  type NameList,
  type NearQuery,
  type Recommender,
  type RecommendQuery,
  sourceOf,
} from '../sources/recommender.ts';
import type { ComposedSources } from '../sources/registry.ts';
import type { ItemVectors } from '../vectors/item-vectors.ts';
import { boosted, type KindProposals, withSpare } from './kind-proposals.ts';
import { frameOf } from './list-frame.ts';
import type { PersonalAnswers } from './personal-answers.ts';

/** Entries made between two pauses: some tenths of a millisecond. */
const PAUSE_ENTRIES = 512;
/** Users looked for beside those wanted. */
const SPARE_USERS = 64;

export interface OnlineParts extends Omit<ComposedSources, 'sources' | 'sinceFit'> {
  readonly reads: LocalReads;
  readonly catalogue: Catalogue;
  readonly histories: Histories;
  readonly personal: PersonalAnswers;
  readonly vectors: ItemVectors;
  readonly tokens: RecommendationTokens;
  readonly placementCounts: PlacementCounts;
  readonly nameOf: NameList;
  readonly placements: Placements;
  readonly filters: KeptFilters;
  readonly kinds: KindProposals;
  readonly clock: Clock;
}

/** Answers every list out of what is in memory and a few local reads. */
export class OnlineRecommender implements Recommender {
  private readonly parts: OnlineParts;
  private readonly neighbors = new SingleFlight<Ranked>();

  constructor(parts: OnlineParts) {
    this.parts = parts;
  }

  async latest(query: ListQuery): Promise<ScoredEntry[]> {
    const entries = await this.unread(query, this.parts.latest);
    return entries.map(({ Id, Score }) => ({ Id, Score: Math.floor(Score) }));
  }

  async popular(query: ListQuery): Promise<ScoredEntry[]> {
    return this.unread(query, this.parts.popular);
  }

  itemNeighbors(itemId: string, query: ListQuery): Promise<ScoredEntry[]> | ScoredEntry[] {
    const { reads, itemNeighbors, catalogue } = this.parts;
    const row = reads.itemRow(itemId);
    if (query.placement !== undefined)
      return this.placed(query.placement, query, row, new Set([row]), (k, accept) =>
        row < 0 ? NOTHING : itemNeighbors.of(row, k, accept, query.caller?.signal),
      );
    if (row < 0) return [];
    const { categories } = query;
    const k = query.offset + query.n;
    const accept = (other: number) => catalogue.isInAll(other, categories);
    const ready = k > PAUSE_ENTRIES ? undefined : itemNeighbors.ready(row, k, accept);
    if (ready === undefined) return this.workedOutNeighbors(row, k, accept, query);
    return atOnce(entries(ready, query, (other) => catalogue.idAt(other)));
  }

  private async workedOutNeighbors(
    row: number,
    k: number,
    accept: (other: number) => boolean,
    query: ListQuery,
  ): Promise<ScoredEntry[]> {
    const { itemNeighbors } = this.parts;
    const key = JSON.stringify(['item', row, k, query.categories]);
    const ranked = await this.neighbors.run(key, query.caller?.signal, (signal) =>
      itemNeighbors.of(row, k, accept, signal),
    );
    return this.itemEntries(ranked, query);
  }

  async userNeighbors(userId: string, query: ListQuery): Promise<ScoredEntry[]> {
    const { reads, userNeighbors, histories } = this.parts;
    const row = reads.userRow(userId);
    const want = query.offset + query.n;
    if (row < 0 || want === 0) return [];
    // Some of them may be gone since they were laid out.
    const k = Math.min(NEIGHBORS_MAX, want + SPARE_USERS);
    const ranked = await this.neighbors.run(`user ${row} ${k}`, query.caller?.signal, (signal) =>
      histories.use(row, (history) => userNeighbors.of(history, k, signal)),
    );
    const known = filterRanked(ranked, want, (other) => reads.userIdAt(other) !== undefined);
    return inTurns(entries(known, query, (other) => reads.userIdAt(other)));
  }

  recommend(userId: string, query: RecommendQuery): Promise<Answered> | Answered {
    return this.parts.personal.recommend(userId, query);
  }

  recommendReady(userId: string, query: RecommendQuery): Answered | undefined {
    return this.parts.personal.ofReadyList(userId, query);
  }

  tokenOf(
    userId: string,
    placement: string,
    { claims = { variant: '' }, token }: Pick<Answered, 'claims' | 'token'>,
    tookMs = 0,
  ): string {
    const { tokens, placementCounts, nameOf } = this.parts;
    placementCounts.note('lists', placement, claims.variant);
    return token ?? tokens.issue(nameOf(placement, claims, tookMs), userId);
  }

  failed(userId: string, placement: string): ListName | undefined {
    const { placements, nameOf } = this.parts;
    const { claims } = placements.of(placement, userId);
    return claims.edition === undefined ? undefined : nameOf(placement, claims);
  }

  async session(feedback: readonly Feedback[], query: ListQuery) {
    const { sessions } = this.parts;
    if (query.placement !== undefined) {
      const { seen, recent } = await sessions.read(feedback);
      const last = recent[0]?.row ?? -1;
      const entries = await this.placed(query.placement, query, last, seen, (k, accept, discovery) =>
        sessions.rank(feedback, { ...query, n: k, offset: 0, discovery }, accept),
      );
      return { entries, source: sourceOf(entries.length > 0 ? ['session'] : []) };
    }
    const { sources, ...ranked } = await sessions.rank(feedback, query);
    return { entries: await this.itemEntries(ranked, query), source: sourceOf(sources) };
  }

  async itemsLike(itemId: string, space: string, query: NearQuery): Promise<ScoredEntry[]> {
    const { reads, vectors } = this.parts;
    const row = reads.itemRow(itemId);
    const vector = vectors.vectorAt(space, row);
    return vector === undefined ? [] : this.near(vector, space, query, row);
  }

  itemsNear(vector: Float32Array, space: string, query: NearQuery): Promise<ScoredEntry[]> {
    return this.near(vector, space, query, -1);
  }

  /** @param except a row that is left out */
  private async near(
    vector: Float32Array,
    space: string,
    query: NearQuery,
    except: number,
  ): Promise<ScoredEntry[]> {
    const { reads, catalogue, histories, vectors } = this.parts;
    const { userId = '', categories, wishes = NO_WISHES, caller } = query;
    const read = await histories.use(reads.userRow(userId), (history) => history.readRowsInEffect());
    const excluded = wishes.excluded.map((itemId) => reads.itemRow(itemId));
    const { allowed } = new ItemFilter(catalogue, categories, wishes, excluded);
    if (except >= 0) clearBit(allowed, except);
    for (const row of read) clearBit(allowed, row);
    const k = query.offset + query.n;
    return this.itemEntries(await vectors.search(space, vector, k, allowed, caller?.signal), query);
  }

  /**
   * A list by the rules of a placement: of its kind or, of one `for-you`, by what ranks.
   * @param itemRow the item that the page is about, -1 for one that nobody knows @param without rows that are no pins, and in no list of a kind
   */
  private async placed(
    name: string,
    query: ListQuery,
    itemRow: number,
    without: ReadonlySet<number>,
    rank: (
      k: number,
      accept: (row: number) => boolean,
      discovery: Discovery | undefined,
    ) => Promise<Ranked> | Ranked,
  ): Promise<ScoredEntry[]> {
    const { placements, kinds, histories, reads, filters } = this.parts;
    const placement = placements.own(name);
    const mayShow = (row: number) => !without.has(row);
    const { caller, userId, discovery = placement.discovery } = query;
    return histories.use(userId === undefined ? -1 : reads.userRow(userId), async (history) => {
      const passing = placement.filter && (await filters.of(placement.filter, caller?.signal));
      await inTurns(placement.lookUp(this.parts.catalogue, (itemId) => reads.itemRow(itemId)));
      const isNew = (row: number) => mayShow(row) && isUnread(history, row);
      const frame = frameOf(this.parts, placement, passing, query, isNew);
      const { filter } = frame;
      const k = withSpare(frame.wanted, placement, filter);
      const listOf = async (wanted: ItemFilter) => {
        const accept = (row: number) => wanted.accepts(row) && mayShow(row);
        const ofKind = await kinds.rank(placement, { history, itemRow, k, accept, caller });
        const isUnreadOne = (row: number) => wanted.accepts(row) && isUnread(history, row);
        return boosted(ofKind ?? (await rank(k, isUnreadOne, discovery)), wanted);
      };
      const ranked = await kinds.withNew(placement, { history, filter, k, mayShow, caller }, listOf);
      const answer = frame.begin();
      await answer.takeAll(ranked.rows, ranked.scores);
      if (frame.pins.length > 0) answer.arrange(frame.withPins(answer.rows));
      const { rows } = answer;
      return this.itemEntries({ rows, scores: rows.map((row) => answer.scoreOf(row)) }, query);
    });
  }

  /** Entries of a list less what the user of the query has read. */
  private unread(query: ListQuery, source: GlobalSource): Promise<ScoredEntry[]> {
    const { userId, categories } = query;
    const k = query.offset + query.n;
    const rank = async (accept: (row: number) => boolean) =>
      this.itemEntries(await source.rank({ k, accept, categories }), query);
    if (userId === undefined || userId === '') return rank(() => true);
    const { histories, reads } = this.parts;
    return histories.use(reads.userRow(userId), (history) => rank((row) => isUnread(history, row)));
  }

  private itemEntries(ranked: Ranked, query: ListQuery): Promise<ScoredEntry[]> {
    const { catalogue } = this.parts;
    // While some were waited for, others may have been hidden or deleted, or have left a category.
    const mayShow = (row: number) => catalogue.isListable(row) && catalogue.isInAll(row, query.categories);
    const shown = filterRanked(ranked, ranked.rows.length, mayShow);
    return inTurns(entries(shown, query, (row) => catalogue.idAt(row)));
  }
}

/** The entries of a page, without those that go while it is made. Pauses now and then. */
function* entries(
  { rows, scores }: Ranked,
  { n, offset }: ListQuery,
  idAt: (row: number) => string | undefined,
): Generator<undefined, ScoredEntry[]> {
  const page: ScoredEntry[] = [];
  const end = Math.min(rows.length, offset + n);
  for (let at = offset; at < end; at++) {
    if ((at - offset) % PAUSE_ENTRIES === PAUSE_ENTRIES - 1) yield;
    const Id = idAt(rows[at]!);
    if (Id !== undefined) page.push({ Id, Score: scores[at]! });
  }
  return page;
}
