import type { Feedback, ScoredEntry } from '../domain/entities.ts';
import type { LocalReads } from '../store/data-store.ts';
import type { Catalogue } from './catalogue.ts';
import type { Histories } from './histories.ts';
import { type ItemNeighbors, NEIGHBORS_MAX } from './item-neighbors.ts';
import type { LatestIndex } from './latest.ts';
import type { PersonalAnswers } from './personal.ts';
import type { PopularIndex } from './popular.ts';
import { filterRanked, type Ranked } from './ranked.ts';
import type { ListQuery, Recommender, RecommendQuery } from './recommender.ts';
import type { Sessions } from './sessions.ts';
import type { UserNeighbors } from './user-neighbors.ts';

/** Users looked for beside those wanted. */
const SPARE_USERS = 64;

export interface OnlineParts {
  readonly reads: LocalReads;
  readonly catalogue: Catalogue;
  readonly latest: LatestIndex;
  readonly popular: PopularIndex;
  readonly itemNeighbors: ItemNeighbors;
  readonly userNeighbors: UserNeighbors;
  readonly histories: Histories;
  readonly personal: PersonalAnswers;
  readonly sessions: Sessions;
}

/** Answers every list out of what is in memory and a few local reads. */
export class OnlineRecommender implements Recommender {
  private readonly parts: OnlineParts;

  constructor(parts: OnlineParts) {
    this.parts = parts;
  }

  async latest(query: ListQuery): Promise<ScoredEntry[]> {
    const { latest, catalogue } = this.parts;
    return this.unread(query, (accept) => {
      const want = query.offset + query.n;
      const rows: number[] = [];
      if (want > 0) {
        latest.walk(query.categories, (row) => {
          if (catalogue.isListable(row) && accept(row)) rows.push(row);
          return rows.length < want;
        });
      }
      return { rows, scores: rows.map((row) => Math.floor(catalogue.timestampMsAt(row) / 1000)) };
    });
  }

  async popular(query: ListQuery): Promise<ScoredEntry[]> {
    const { popular } = this.parts;
    return this.unread(query, (accept) => popular.top(query.offset + query.n, query.categories, accept));
  }

  async itemNeighbors(itemId: string, query: ListQuery): Promise<ScoredEntry[]> {
    const { reads, itemNeighbors, catalogue } = this.parts;
    const row = reads.itemRow(itemId);
    if (row < 0) return [];
    const accept = (other: number) => catalogue.isInAll(other, query.categories);
    return this.itemEntries(await itemNeighbors.of(row, query.offset + query.n, accept), query);
  }

  async userNeighbors(userId: string, query: ListQuery): Promise<ScoredEntry[]> {
    const { reads, userNeighbors, histories } = this.parts;
    const row = reads.userRow(userId);
    const want = query.offset + query.n;
    if (row < 0 || want === 0) return [];
    // Some of them may be gone since they were laid out.
    const k = Math.min(NEIGHBORS_MAX, want + SPARE_USERS);
    const ranked = await histories.use(row, (history) => userNeighbors.of(history, k));
    const known = filterRanked(ranked, want, (other) => reads.userIdAt(other) !== undefined);
    return entries(known, query, (other) => reads.userIdAt(other)!);
  }

  recommend(userId: string, query: RecommendQuery): Promise<string> | string {
    return this.parts.personal.recommend(userId, query);
  }

  async session(feedback: readonly Feedback[], query: ListQuery): Promise<ScoredEntry[]> {
    return this.itemEntries(await this.parts.sessions.rank(feedback, query), query);
  }

  /** Entries of a list less what the user of the query has read. */
  private unread(
    query: ListQuery,
    rank: (accept: (row: number) => boolean) => Ranked,
  ): ScoredEntry[] | Promise<ScoredEntry[]> {
    const { userId } = query;
    if (userId === undefined || userId === '')
      return this.itemEntries(
        rank(() => true),
        query,
      );
    const { histories, reads } = this.parts;
    return histories.use(reads.userRow(userId), (history) =>
      this.itemEntries(
        rank((row) => !history.hasRead(row)),
        query,
      ),
    );
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
