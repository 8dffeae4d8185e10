import { FeedbackColumns, type LocalReads } from '../store/data-store.ts';
import type { Catalogue } from './catalogue.ts';
import type { History, TypeTest } from './history.ts';
import { type FindRelated, type ItemNeighbors, NEIGHBORS_MAX } from './item-neighbors.ts';
import type { LatestIndex } from './latest.ts';
import type { UserLists } from './lists.ts';
import type { PopularIndex } from './popular.ts';
import { type Ranked, TopK } from './ranked.ts';
import type { ModelSlot } from './serving-model.ts';

export const FALLBACK_NAMES = ['collaborative', 'item_based', 'user_based', 'popular', 'latest'] as const;
export type FallbackName = (typeof FALLBACK_NAMES)[number];

/** How many neighbors of each seed item, and of the user, are summed. */
const NEIGHBORS_PER_SEED = 100;

const NOTHING: Ranked = { rows: [], scores: [] };

export interface FallbackParts {
  readonly reads: LocalReads;
  readonly catalogue: Catalogue;
  readonly latest: LatestIndex;
  readonly popular: PopularIndex;
  readonly itemNeighbors: ItemNeighbors;
  readonly findRelated: FindRelated;
  readonly lists: UserLists;
  readonly models: ModelSlot;
  readonly isPositive: TypeTest;
  readonly sessionLength: number;
}

/**
 * The recommenders that work in real time. Each gives the best `k` items that pass `accept`, in an order that does not
 * depend on `k`, so that pages of one list fit together.
 */
export class Fallbacks {
  private readonly parts: FallbackParts;

  constructor(parts: FallbackParts) {
    this.parts = parts;
  }

  async rank(
    name: FallbackName,
    history: History,
    k: number,
    accept: (row: number) => boolean,
  ): Promise<Ranked> {
    switch (name) {
      case 'latest':
        return this.latest(k, accept);
      case 'popular':
        return this.parts.popular.top(k, this.parts.catalogue, [], accept);
      case 'collaborative':
        return this.collaborative(history, k, accept);
      case 'item_based': {
        const { isPositive, sessionLength } = this.parts;
        return this.similarToAll(history.positiveRows(isPositive, sessionLength), k, accept);
      }
      case 'user_based':
        return this.userBased(history.userRow, k, accept);
    }
  }

  /** Items most like the seed items together: the sum of each item's similarity to the seeds. */
  async similarToAll(seeds: readonly number[], k: number, accept: (row: number) => boolean): Promise<Ranked> {
    const sums = new Map<number, number>();
    for (const seed of seeds) {
      const { rows, scores } = await this.parts.itemNeighbors.of(seed, NEIGHBORS_PER_SEED, accept);
      rows.forEach((row, at) => {
        sums.set(row, (sums.get(row) ?? 0) + scores[at]!);
      });
    }
    return best(sums, k);
  }

  private latest(k: number, accept: (row: number) => boolean): Ranked {
    const { latest, catalogue } = this.parts;
    const rows: number[] = [];
    latest.walk([], (row) => {
      if (catalogue.isListable(row) && accept(row)) rows.push(row);
      return rows.length < k;
    });
    return { rows, scores: rows.map((row) => catalogue.timestampMsAt(row) / 1000) };
  }

  private collaborative(history: History, k: number, accept: (row: number) => boolean): Ranked {
    const { models, lists } = this.parts;
    const vector = lists.vectorOf(history);
    return vector === undefined ? NOTHING : (models.current?.topItems(vector, k, accept) ?? NOTHING);
  }

  /** Items liked by the users most like this one: the sum of those users' similarities. */
  private async userBased(userRow: number, k: number, accept: (row: number) => boolean): Promise<Ranked> {
    if (userRow < 0) return NOTHING;
    const { findRelated, reads, isPositive, catalogue } = this.parts;
    const neighbors = await findRelated('users-by-items', userRow, NEIGHBORS_MAX);
    const feedback = new FeedbackColumns();
    const sums = new Map<number, number>();
    neighbors.rows.slice(0, NEIGHBORS_PER_SEED).forEach((neighbor, at) => {
      reads.readUserFeedback(neighbor, feedback);
      for (let i = 0; i < feedback.length; i++) {
        const row = feedback.itemRows[i]!;
        if (!isPositive(feedback.types[i]!) || !catalogue.isListable(row) || !accept(row)) continue;
        sums.set(row, (sums.get(row) ?? 0) + neighbors.scores[at]!);
      }
    });
    return best(sums, k);
  }
}

function best(sums: ReadonlyMap<number, number>, k: number): Ranked {
  const top = new TopK(k);
  for (const [row, sum] of sums) top.push(row, sum);
  return top.sorted();
}
