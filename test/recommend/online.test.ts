import { expect, it } from 'vitest';
import { type OnlineParts, OnlineRecommender } from '../../src/recommend/answers/online-recommender.ts';
import { PersonalAnswers, type PersonalParts } from '../../src/recommend/answers/personal-answers.ts';
import { Catalogue } from '../../src/recommend/catalogue/catalogue.ts';
import type { History } from '../../src/recommend/history/history.ts';
import type { GenerationSlot } from '../../src/recommend/models/generation.ts';
import type { SinceFit } from '../../src/recommend/neighbors/changed-since-fit.ts';
import { ItemNeighbors } from '../../src/recommend/neighbors/item-neighbors.ts';
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

it('searches for neighbors by labels are refused beyond those that may wait', async () => {
  const catalogue = new Catalogue(() => 0);
  const none = { hidden: false, timestampMs: Number.NaN, categories: [] };
  // More rows than are looked at without a pause: the signal is asked between two turns.
  for (let row = 0; row < 3000; row++) catalogue.put({ row, itemId: `i${row}`, labels: ['same'], ...none });
  const itemNeighbors = new ItemNeighbors(
    catalogue,
    { current: undefined } as GenerationSlot,
    'similar',
    () => Promise.reject(new Error('nobody asks')),
    { begin() {}, hasChanged: () => false, hasNewsByLabels: () => true } as unknown as SinceFit,
    () => 0,
  );
  const found = await Promise.allSettled(
    Array.from({ length: 100 }, () => itemNeighbors.of(0, 5, () => true)),
  );
  const refused = found.filter(({ status }) => status === 'rejected');
  expect(refused.map((each) => (each as PromiseRejectedResult).reason.code)).toEqual(
    Array.from({ length: 20 }, () => 'OVERLOADED'),
  );
  expect(found[79]).toMatchObject({ status: 'fulfilled', value: { rows: [1, 2, 3, 4, 5] } });
});

it('lists for questions with wishes are made one a turn, and refused when too many wait', async () => {
  let turn = 0;
  const madeIn: number[] = [];
  const parts: Partial<PersonalParts> = {
    reads: { userRow: () => -1, itemRow: () => -1 } as unknown as PersonalParts['reads'],
    catalogue: new Catalogue(() => 0),
    active: { note() {} } as unknown as PersonalParts['active'],
    histories: {
      use: async (_: number, work: (history: History) => unknown) => work({} as History),
    } as never,
    maker: {
      make: () => void madeIn.push(turn),
      among: () => [],
    } as unknown as PersonalParts['maker'],
    fallbacks: { fill: async () => {} } as unknown as PersonalParts['fallbacks'],
  };
  const personal = new PersonalAnswers(parts as PersonalParts);
  const wishes = { excluded: ['x'], labels: [], notLabels: [], boosts: [] };
  const asked = Array.from({ length: 70 }, () =>
    personal.recommend('u', { n: 5, offset: 0, categories: [], wishes }),
  );
  let isOver = false;
  const answers = Promise.allSettled(asked).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    turn++;
    await new Promise((resolve) => setImmediate(resolve));
  }
  const found = await answers;
  expect(found.map(({ status }) => status)).toEqual([
    ...Array.from({ length: 65 }, () => 'fulfilled'),
    ...Array.from({ length: 5 }, () => 'rejected'),
  ]);
  expect(madeIn).toHaveLength(65);
  expect(new Set(madeIn).size).toBe(65);
});
