import type { Ranked } from '../../memory/ranked-rows.ts';
import { TopK } from '../../memory/top-k.ts';
import type { NeighborLists } from '../../model/neighbors/summed-lists.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { TypeTest } from '../history/counts-as-positive.ts';
import type { GenerationSlot } from '../models/generation.ts';
import type { ItemNeighbors } from '../neighbors/item-neighbors.ts';
import type { Match, Matcher } from './matcher.ts';
import type { Ask, Source } from './source.ts';

/** How many neighbors of each seed item are summed. */
const NEIGHBORS_PER_SEED = 100;

/** Items most like those that the user liked last; also those most like the items of a session. */
export class ItemBasedSource implements Source {
  private readonly parts: {
    readonly catalogue: Catalogue;
    readonly generations: GenerationSlot;
    readonly itemNeighbors: ItemNeighbors;
    readonly isPositive: TypeTest;
    /** How many of the latest likes are looked at. */
    readonly seedItems: number;
  };

  constructor(parts: ItemBasedSource['parts']) {
    this.parts = parts;
  }

  rank(ask: Ask): Promise<Ranked> {
    const { isPositive, seedItems } = this.parts;
    return this.similarTo(ask.history.positiveRows(isPositive, seedItems), ask);
  }

  /**
   * Items most like the seed items together: the sum of each item's similarity to the seeds, out of what was computed
   * ahead, else worked out now.
   */
  async similarTo(
    seeds: readonly number[],
    { k, accept, caller }: Pick<Ask, 'k' | 'accept' | 'caller'>,
  ): Promise<Ranked> {
    const { generations, catalogue, itemNeighbors } = this.parts;
    const lists = generations.current?.parts.itemNeighbors;
    const isAhead = (seed: number) => lists !== undefined && lists.neighborsAt(seed).rows.length > 0;
    const sums = new Map<number, number>();
    const add = (row: number, score: number) => sums.set(row, (sums.get(row) ?? 0) + score);
    for (const [row, sum] of sumSimilarities(lists, seeds.filter(isAhead))) {
      if (catalogue.isListable(row) && accept(row)) add(row, sum);
    }
    for (const seed of seeds) {
      if (isAhead(seed)) continue;
      const { rows, scores } = await itemNeighbors.of(seed, NEIGHBORS_PER_SEED, accept, caller?.signal);
      rows.forEach((row, at) => {
        add(row, scores[at]!);
      });
    }
    const top = new TopK(k);
    // Items may have been hidden or deleted while others were waited for.
    for (const [row, sum] of sums) if (catalogue.isListable(row)) top.push(row, sum);
    return top.sorted();
  }
}

export const itemBasedMatcher: Matcher = {
  lists(match) {
    const { settings, accept } = match;
    const top = new TopK(settings.cacheSize);
    for (const [row, sum] of matched(match)) if (accept(row)) top.push(row, sum);
    return [top.sorted().rows];
  },
  proposes(match) {
    const sums = matched(match);
    return (row) => sums.has(row);
  },
};

const NONE: ReadonlyMap<number, number> = new Map();

function matched({ inputs, settings, liked }: Match): ReadonlyMap<number, number> {
  if (!settings.item_based) return NONE;
  return sumSimilarities(inputs.generation?.parts.itemNeighbors, liked.slice(0, settings.seedItems));
}

/**
 * The sum of each item's similarity to the seed items, out of what was computed ahead.
 * @param weightAt what the seed at a place counts
 */
export function sumSimilarities(
  lists: NeighborLists | undefined,
  seeds: readonly number[],
  weightAt: (at: number) => number = () => 1,
): ReadonlyMap<number, number> {
  if (lists === undefined) return NONE;
  const sums = new Map<number, number>();
  seeds.forEach((seed, place) => {
    const weight = weightAt(place);
    const { rows, scores } = lists.neighborsAt(seed);
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at]!;
      sums.set(row, (sums.get(row) ?? 0) + weight * scores[at]!);
    }
  });
  return sums;
}
