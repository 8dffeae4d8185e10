import type { LocalReads } from '../store/data-store.ts';
import type { Catalogue } from './catalogue.ts';
import type { History, TypeTest } from './history.ts';
import type { ItemNeighbors } from './item-neighbors.ts';
import type { LatestIndex } from './latest.ts';
import type { ListMaker } from './list-maker.ts';
import type { PopularIndex } from './popular.ts';
import { type Ranked, TopK } from './ranked.ts';
import type { GenerationSlot } from './serving-model.ts';
import { similarItems } from './similar-items.ts';
import { itemsOfUsers, USERS_ASKED } from './user-based.ts';
import type { UserNeighbors } from './user-neighbors.ts';

export const FALLBACK_NAMES = ['collaborative', 'item_based', 'user_based', 'popular', 'latest'] as const;
export type FallbackName = (typeof FALLBACK_NAMES)[number];

/** How many neighbors of each seed item are summed. */
const NEIGHBORS_PER_SEED = 100;

const NOTHING: Ranked = { rows: [], scores: [] };

export interface FallbackParts {
  readonly reads: LocalReads;
  readonly catalogue: Catalogue;
  readonly latest: LatestIndex;
  readonly popular: PopularIndex;
  readonly itemNeighbors: ItemNeighbors;
  readonly userNeighbors: UserNeighbors;
  readonly maker: ListMaker;
  readonly generations: GenerationSlot;
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
        return this.parts.popular.top(k, [], accept);
      case 'collaborative':
        return this.collaborative(history, k, accept);
      case 'item_based': {
        const { isPositive, sessionLength } = this.parts;
        return this.similarToAll(history.positiveRows(isPositive, sessionLength), k, accept);
      }
      case 'user_based':
        return this.userBased(history, k, accept);
    }
  }

  /**
   * Items most like the seed items together: the sum of each item's similarity to the seeds, out of what was computed
   * ahead, else worked out now.
   */
  async similarToAll(seeds: readonly number[], k: number, accept: (row: number) => boolean): Promise<Ranked> {
    const { generations, catalogue, itemNeighbors } = this.parts;
    const lists = generations.current?.itemNeighbors;
    const isAhead = (seed: number) => lists !== undefined && lists.neighborsAt(seed).rows.length > 0;
    const sums = new Map<number, number>();
    const add = (row: number, score: number) => sums.set(row, (sums.get(row) ?? 0) + score);
    for (const [row, sum] of similarItems(lists, seeds.filter(isAhead))) {
      if (catalogue.isListable(row) && accept(row)) add(row, sum);
    }
    for (const seed of seeds) {
      if (isAhead(seed)) continue;
      const { rows, scores } = await itemNeighbors.of(seed, NEIGHBORS_PER_SEED, accept);
      rows.forEach((row, at) => {
        add(row, scores[at]!);
      });
    }
    // Items may have been hidden or deleted while others were waited for.
    for (const row of sums.keys()) if (!catalogue.isListable(row)) sums.delete(row);
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
    const { generations, maker } = this.parts;
    const vector = maker.vectorOf(history);
    if (vector === undefined) return NOTHING;
    return (
      generations.current?.collaborative?.topItems(vector, k, accept, history.readRowsInEffect()) ?? NOTHING
    );
  }

  /** Items liked by the users most like this one. */
  private async userBased(history: History, k: number, accept: (row: number) => boolean): Promise<Ranked> {
    if (history.userRow < 0) return NOTHING;
    const { reads, isPositive, catalogue, userNeighbors } = this.parts;
    const users = await userNeighbors.of(history, USERS_ASKED);
    const isWanted = (row: number) => catalogue.isListable(row) && accept(row);
    return itemsOfUsers(users, reads, history.likes(isPositive), k, isWanted);
  }
}

function best(sums: ReadonlyMap<number, number>, k: number): Ranked {
  const top = new TopK(k);
  for (const [row, sum] of sums) top.push(row, sum);
  return top.sorted();
}
