import { expect, it } from 'vitest';
import type { Catalogue } from '../../src/recommend/catalogue.ts';
import { ItemNeighbors } from '../../src/recommend/item-neighbors.ts';
import { type OnlineParts, OnlineRecommender } from '../../src/recommend/online.ts';
import type { GenerationSlot } from '../../src/recommend/serving-model.ts';
import type { SinceFit } from '../../src/recommend/since-fit.ts';
import { generation, neighborLists } from './hand-made.ts';

it('neighbors of an item leave out those that are hidden while others are waited for', async () => {
  const hidden = new Set<number>();
  const catalogue: Partial<Catalogue> = {
    isListable: (row) => !hidden.has(row),
    isInAll: () => true,
    idAt: (row) => `i${row}`,
    labelsAt: () => [],
  };
  const ahead = neighborLists(() => [
    [5, 0.9],
    [6, 0.8],
  ]);
  const itemNeighbors = new ItemNeighbors(
    catalogue as Catalogue,
    { current: generation({ itemNeighbors: ahead }) } as GenerationSlot,
    'related',
    async () => {
      hidden.add(5);
      return { rows: [7], scores: [0.5] };
    },
    { begin() {}, hasChanged: () => false, hasNewsByUsers: () => true } as unknown as SinceFit,
    () => 0,
  );
  const reads = { itemRow: () => 0 };
  const online = new OnlineRecommender({ reads, catalogue, itemNeighbors } as unknown as OnlineParts);
  const found = await online.itemNeighbors('i0', { n: 5, offset: 0, categories: [] });
  expect(found.map(({ Id }) => Id)).toEqual(['i6', 'i7']);
});
