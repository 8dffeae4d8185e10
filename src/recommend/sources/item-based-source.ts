import type { Ranked } from '../../memory/ranked-rows.ts';
import { SparseSums } from '../../memory/sparse-sums.ts';
import { TopK } from '../../memory/top-k.ts';
import type { NeighborLists } from '../../model/neighbors/summed-lists.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { TypeTest } from '../history/counts-as-positive.ts';
import type { GenerationSlot } from '../models/generation-slot.ts';
import type { ItemNeighbors } from '../neighbors/item-neighbors.ts';
import type { Match, Matcher } from './matcher.ts';
import type { Ask, Source } from './source.ts';

/** Neighbors of each seed item that are summed. */
const NEIGHBORS_PER_SEED = 100;

/** Items most like those that the user liked last; also those most like the items of a session. */
export class ItemBasedSource implements Source {
  private readonly parts: {
    readonly catalogue: Catalogue;
    readonly generations: GenerationSlot;
    readonly itemNeighbors: ItemNeighbors;
    readonly isPositive: TypeTest;
    /** Number of the latest likes that are looked at. */
    readonly seedItems: number;
  };

  constructor(parts: ItemBasedSource['parts']) {
    this.parts = parts;
  }

  async rank(ask: Ask): Promise<Ranked> {
    const { isPositive, seedItems } = this.parts;
    return this.similarTo(ask.history.positiveRows(isPositive, seedItems), ask);
  }

  /**
   * Items most like the seed items together: the sum of each item's similarity to the seeds, out of what was computed
   * ahead, else worked out now.
   * @param weights of the seeds by their places; all alike when absent
   */
  similarTo(
    seeds: readonly number[],
    asked: Pick<Ask, 'k' | 'accept' | 'caller'>,
    weights?: Float64Array,
  ): Promise<Ranked> | Ranked {
    const { generations, catalogue } = this.parts;
    const lists = generations.current.parts.itemNeighbors;
    const isAhead = (seed: number) => lists !== undefined && lists.neighborsAt(seed).rows.length > 0;
    if (!seeds.every(isAhead)) return this.workedOut(seeds, asked, lists, weights);
    const accept = (row: number) => catalogue.isListable(row) && asked.accept(row);
    return bestBySimilarity(lists, seeds, asked.k, accept, weights);
  }

  private async workedOut(
    seeds: readonly number[],
    { k, accept, caller }: Pick<Ask, 'k' | 'accept' | 'caller'>,
    lists: NeighborLists | undefined,
    weights: Float64Array | undefined,
  ): Promise<Ranked> {
    const { catalogue, itemNeighbors } = this.parts;
    const sums = new Map<number, number>();
    const add = (row: number, score: number) => sums.set(row, (sums.get(row) ?? 0) + score);
    eachSimilarity(lists, seeds, weights, (row, similarity) => {
      if (catalogue.isListable(row) && accept(row)) add(row, similarity);
    });
    for (const [place, seed] of seeds.entries()) {
      if (lists !== undefined && lists.neighborsAt(seed).rows.length > 0) continue;
      const { rows, scores } = await itemNeighbors.of(seed, NEIGHBORS_PER_SEED, accept, caller?.signal);
      rows.forEach((row, at) => {
        add(row, weightAt(weights, place) * scores[at]!);
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
    const { k, accept } = match;
    return [bestBySimilarity(listsOf(match), seedsOf(match), k, accept).rows];
  },
  proposes(match) {
    const sums = sumSimilarities(listsOf(match), seedsOf(match));
    return (row) => sums.has(row);
  },
};

function listsOf({ inputs, settings }: Match): NeighborLists | undefined {
  return settings.item_based ? inputs.generation?.parts.itemNeighbors : undefined;
}

function seedsOf({ settings, liked }: Match): readonly number[] {
  return liked.slice(0, settings.seedItems);
}

/** This thread's. */
const scratch = new SparseSums();

/**
 * The items with the largest sums of similarities to the seed items, out of what was computed ahead.
 * @param weights of the seeds by their places; all alike when absent
 */
export function bestBySimilarity(
  lists: NeighborLists | undefined,
  seeds: readonly number[],
  k: number,
  accept: (row: number) => boolean,
  weights?: Float64Array,
): Ranked {
  scratch.clear();
  eachSimilarity(lists, seeds, weights, (row, similarity) => scratch.add(row, similarity));
  return scratch.best(k, accept);
}

/** The sum of each item's similarity to the seed items, likewise. */
function sumSimilarities(
  lists: NeighborLists | undefined,
  seeds: readonly number[],
): ReadonlyMap<number, number> {
  const sums = new Map<number, number>();
  eachSimilarity(lists, seeds, undefined, (row, similarity) =>
    sums.set(row, (sums.get(row) ?? 0) + similarity),
  );
  return sums;
}

/** Items beyond all weights are long ago. */
function weightAt(weights: Float64Array | undefined, place: number): number {
  return weights === undefined ? 1 : (weights[place] ?? 0);
}

function eachSimilarity(
  lists: NeighborLists | undefined,
  seeds: readonly number[],
  weights: Float64Array | undefined,
  onSimilarity: (row: number, similarity: number) => void,
): void {
  if (lists === undefined) return;
  for (let place = 0; place < seeds.length; place++) {
    const weight = weightAt(weights, place);
    const { rows, scores } = lists.neighborsAt(seeds[place]!);
    for (let at = 0; at < rows.length; at++) onSimilarity(rows[at]!, weight * scores[at]!);
  }
}
