import type { Clock } from '../domain/clock.ts';
import type { Feedback, ScoredEntry } from '../domain/entities.ts';
import { formatTimestamp } from '../domain/time.ts';
import type { DataStore, LocalReads } from '../store/data-store.ts';
import type { Catalogue } from './catalogue.ts';
import type { FallbackName, Fallbacks } from './fallbacks.ts';
import type { History, TypeTest } from './history.ts';
import type { HitCache } from './hit-cache.ts';
import { type FindRelated, type ItemNeighbors, NEIGHBORS_MAX, type NeighborType } from './item-neighbors.ts';
import type { LatestIndex } from './latest.ts';
import type { ListMaker } from './list-maker.ts';
import type { UserLists } from './lists.ts';
import type { PopularIndex } from './popular.ts';
import { filterRanked, type Ranked } from './ranked.ts';
import type { ListQuery, Recommender, RecommendQuery } from './recommender.ts';
import { RowSet } from './row-set.ts';
import type { GenerationSlot } from './serving-model.ts';
import { userRelation } from './user-based.ts';

export interface OnlineParts {
  readonly data: DataStore;
  readonly reads: LocalReads;
  readonly catalogue: Catalogue;
  readonly latest: LatestIndex;
  readonly popular: PopularIndex;
  readonly itemNeighbors: ItemNeighbors;
  readonly findRelated: FindRelated;
  readonly userNeighborType: NeighborType;
  readonly lists: UserLists;
  readonly hits: HitCache;
  readonly maker: ListMaker;
  readonly generations: GenerationSlot;
  /** Whether lists hold items that the user has read, which then may be shown. */
  readonly replacesRead: boolean;
  readonly fallbacks: Fallbacks;
  readonly fallbackOrder: readonly FallbackName[];
  readonly history: History;
  readonly isPositive: TypeTest;
  /** Names of the positive types; empty when none is configured. */
  readonly positiveTypes: readonly string[];
  /** Records of a session, and of a user's history, that the item-based recommender looks at. */
  readonly sessionLength: number;
  /** Feedback up to this much later than now is in effect, milliseconds. */
  readonly clockErrorMs: number;
  readonly clock: Clock;
}

/** Rows chosen so far for one answer, and what may still be chosen. */
class Answer {
  readonly rows: number[] = [];
  private readonly chosen: RowSet;
  readonly wanted: number;

  constructor(chosen: RowSet, wanted: number) {
    chosen.clear();
    this.chosen = chosen;
    this.wanted = wanted;
  }

  get missing(): number {
    return this.wanted - this.rows.length;
  }

  has(row: number): boolean {
    return this.chosen.has(row);
  }

  take(row: number): void {
    if (this.chosen.has(row)) return;
    this.chosen.add(row);
    this.rows.push(row);
  }
}

/** Answers every list out of what is in memory and a few local reads (interface specification, sections 4.4 and 4.5). */
export class OnlineRecommender implements Recommender {
  private readonly parts: OnlineParts;
  private readonly chosen = new RowSet();
  private readonly isShown = (row: number) => this.parts.replacesRead || !this.parts.history.hasRead(row);

  constructor(parts: OnlineParts) {
    this.parts = parts;
  }

  async latest(query: ListQuery): Promise<ScoredEntry[]> {
    const { latest, catalogue } = this.parts;
    const accept = this.unreadBy(query.userId);
    const want = query.offset + query.n;
    const rows: number[] = [];
    if (want > 0) {
      latest.walk(query.categories, (row) => {
        if (catalogue.isListable(row) && accept(row)) rows.push(row);
        return rows.length < want;
      });
    }
    const scores = rows.map((row) => Math.floor(catalogue.timestampMsAt(row) / 1000));
    return this.itemEntries({ rows, scores }, query);
  }

  async popular(query: ListQuery): Promise<ScoredEntry[]> {
    const want = query.offset + query.n;
    return this.itemEntries(
      this.parts.popular.top(want, query.categories, this.unreadBy(query.userId)),
      query,
    );
  }

  async itemNeighbors(itemId: string, query: ListQuery): Promise<ScoredEntry[]> {
    const { reads, itemNeighbors, catalogue } = this.parts;
    const row = reads.itemRow(itemId);
    if (row < 0) return [];
    const accept = (other: number) => catalogue.isInAll(other, query.categories);
    return this.itemEntries(await itemNeighbors.of(row, query.offset + query.n, accept), query);
  }

  async userNeighbors(userId: string, query: ListQuery): Promise<ScoredEntry[]> {
    const { reads, userNeighborType, findRelated } = this.parts;
    const row = reads.userRow(userId);
    if (row < 0) return [];
    const hasLabels = (reads.userAt(row)?.Labels.length ?? 0) > 0;
    const ranked = await findRelated(userRelation(userNeighborType, hasLabels), row, NEIGHBORS_MAX);
    const known = filterRanked(
      ranked,
      query.offset + query.n,
      (other) => reads.userIdAt(other) !== undefined,
    );
    return entries(known, query, (other) => reads.userIdAt(other)!);
  }

  recommend(userId: string, query: RecommendQuery): Promise<string> | string {
    const { reads, history, lists, hits } = this.parts;
    const ready = hits.find(userId, query);
    if (ready !== undefined) return ready;
    const userRow = reads.userRow(userId);
    history.load(userRow, this.effectiveUntilMs());
    const answer = new Answer(this.chosen, query.offset + query.n);
    const list = answer.wanted > 0 ? lists.of(history) : undefined;
    if (list !== undefined) {
      this.takeList(answer, list.itemRows, query.categories);
      if (answer.missing === 0) hits.keep(userId, history, list, this.isShown);
    }
    if (answer.missing === 0 && query.writeBackType === undefined) return this.idsJson(answer.rows, query);
    return this.complete(userId, userRow, answer, query);
  }

  async session(feedback: readonly Feedback[], query: ListQuery): Promise<ScoredEntry[]> {
    const { reads, catalogue, fallbacks, positiveTypes, sessionLength } = this.parts;
    const counts = (type: string) => positiveTypes.length === 0 || positiveTypes.includes(type);
    const seen = new Set(feedback.map((record) => reads.itemRow(record.ItemId)));
    const recent = feedback
      .filter((record) => counts(record.FeedbackType))
      .sort((a, b) => Date.parse(b.Timestamp) - Date.parse(a.Timestamp))
      .map((record) => reads.itemRow(record.ItemId))
      .filter((row) => row >= 0);
    const seeds = [...new Set(recent)].slice(0, sessionLength);
    const accept = (row: number) => !seen.has(row) && catalogue.isInAll(row, query.categories);
    return this.itemEntries(await fallbacks.similarToAll(seeds, query.offset + query.n, accept), query);
  }

  private takeList(answer: Answer, itemRows: Uint32Array, categories: readonly string[]): void {
    const { catalogue } = this.parts;
    for (let at = 0; at < itemRows.length && answer.missing > 0; at++) {
      const row = itemRows[at]!;
      if (this.isShown(row) && catalogue.isListable(row) && catalogue.isInAll(row, categories))
        answer.take(row);
    }
  }

  /** Fills the answer behind the list, and writes it back if asked to. The history is this user's until the first await. */
  private async complete(
    userId: string,
    userRow: number,
    answer: Answer,
    query: RecommendQuery,
  ): Promise<string> {
    const { rows, wanted } = answer;
    const taken = new Set(rows);
    if (query.categories.length > 0) this.takeFromCategory(rows, taken, wanted, query.categories);
    for (const name of this.parts.fallbackOrder) {
      if (rows.length >= wanted) break;
      // Other requests may have used the shared history in the meantime.
      this.parts.history.load(userRow, this.effectiveUntilMs());
      const read = this.parts.history;
      const ranked = await this.parts.fallbacks.rank(
        name,
        read,
        wanted - rows.length,
        this.acceptor(userRow, taken, query),
      );
      for (const row of ranked.rows) if (!taken.has(row) && taken.add(row)) rows.push(row);
    }
    // While a worker was waited for, items may have been hidden or deleted; so may they be while this is written back.
    const shown = rows.filter((row) => this.parts.catalogue.isListable(row));
    const json = this.idsJson(shown, query);
    if (query.writeBackType !== undefined) await this.writeBack(userId, this.page(shown, query), query);
    return json;
  }

  /** A test that stays true to this user across awaits: it holds a copy of what it needs. */
  private acceptor(
    userRow: number,
    taken: ReadonlySet<number>,
    query: RecommendQuery,
  ): (row: number) => boolean {
    const { catalogue, history } = this.parts;
    const untilMs = this.effectiveUntilMs();
    return (row) => {
      if (taken.has(row) || !catalogue.isListable(row) || !catalogue.isInAll(row, query.categories))
        return false;
      if (history.userRow !== userRow) history.load(userRow, untilMs);
      return !history.hasRead(row);
    };
  }

  private takeFromCategory(
    rows: number[],
    taken: Set<number>,
    wanted: number,
    categories: readonly string[],
  ): void {
    const { generations, maker, catalogue, history } = this.parts;
    const model = generations.current?.collaborative;
    if (model === undefined || rows.length >= wanted) return;
    const vector = maker.vectorOf(history);
    if (vector === undefined) return;
    const accept = (row: number) =>
      !taken.has(row) &&
      catalogue.isListable(row) &&
      catalogue.isInAll(row, categories) &&
      !history.hasRead(row);
    const members = catalogue.narrowest(categories);
    for (const row of model.topItems(vector, wanted - rows.length, accept, [], members).rows) {
      taken.add(row);
      rows.push(row);
    }
  }

  private async writeBack(userId: string, rows: readonly number[], query: RecommendQuery): Promise<void> {
    const { data, catalogue, clock } = this.parts;
    const Timestamp = formatTimestamp(clock() + (query.writeBackDelayMs ?? 0));
    const FeedbackType = query.writeBackType!;
    const records = rows.map((row) => ({
      FeedbackType,
      UserId: userId,
      ItemId: catalogue.idAt(row)!,
      Timestamp,
      Comment: '',
    }));
    // What is read now is read, also where a record of a later time waits; a later time puts nothing off.
    const overwrite = (query.writeBackDelayMs ?? 0) === 0;
    if (records.length > 0) await data.write({ kind: 'putFeedback', overwrite, batch: { records } });
  }

  private unreadBy(userId: string | undefined): (row: number) => boolean {
    if (userId === undefined || userId === '') return () => true;
    const { history, reads } = this.parts;
    history.load(reads.userRow(userId), this.effectiveUntilMs());
    return (row) => !history.hasRead(row);
  }

  private effectiveUntilMs(): number {
    return this.parts.clock() + this.parts.clockErrorMs;
  }

  private page(rows: readonly number[], query: { n: number; offset: number }): readonly number[] {
    return rows.slice(query.offset, query.offset + query.n);
  }

  private idsJson(rows: readonly number[], { n, offset }: RecommendQuery): string {
    const { catalogue } = this.parts;
    let json = '';
    for (let at = offset; at < Math.min(rows.length, offset + n); at++) {
      json += (at > offset ? ',' : '') + catalogue.jsonIdAt(rows[at]!);
    }
    return `[${json}]`;
  }

  private itemEntries(ranked: Ranked, query: ListQuery): ScoredEntry[] {
    return entries(ranked, query, (row) => this.parts.catalogue.idAt(row)!);
  }
}

function entries(
  { rows, scores }: Ranked,
  { n, offset }: ListQuery,
  idAt: (row: number) => string,
): ScoredEntry[] {
  const page: ScoredEntry[] = [];
  for (let at = offset; at < Math.min(rows.length, offset + n); at++) {
    page.push({ Id: idAt(rows[at]!), Score: scores[at]! });
  }
  return page;
}
