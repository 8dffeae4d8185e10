import { expect, it } from 'vitest';
import { AnswerCounts } from '../../src/recommend/answers/answer-counts.ts';
import { type OnlineParts, OnlineRecommender } from '../../src/recommend/answers/online-recommender.ts';
import { PersonalAnswers, type PersonalParts } from '../../src/recommend/answers/personal-answers.ts';
import { Catalogue } from '../../src/recommend/catalogue/catalogue.ts';
import { Histories } from '../../src/recommend/history/histories.ts';
import type { History } from '../../src/recommend/history/history.ts';
import { AnswerCache } from '../../src/recommend/lists/answer-cache.ts';
import { UserLists, type UserListsOptions } from '../../src/recommend/lists/user-lists.ts';
import { GenerationSlot } from '../../src/recommend/models/generation-slot.ts';
import { ItemNeighbors } from '../../src/recommend/neighbors/item-neighbors.ts';
import type { SinceFit } from '../../src/recommend/neighbors/since-fit.ts';
import { FeedbackColumns } from '../../src/store/data-store.ts';
import { generation, neighborLists, readsOf } from './hand-made.ts';

function neighborsByLabels(catalogue: Catalogue): ItemNeighbors {
  return new ItemNeighbors(
    catalogue,
    new GenerationSlot(),
    'similar',
    () => Promise.reject(new Error('nobody asks')),
    { hasChanged: () => false, hasNewsByLabels: () => true } as unknown as SinceFit,
    () => 0,
  );
}

it('neighbors of an item leave out those that are hidden while others are waited for', async () => {
  const hidden = new Set<number>();
  const catalogue: Partial<Catalogue> = {
    isListable: (row) => !hidden.has(row),
    isInAll: () => true,
    idAt: (row) => `i${row}`,
    hasLabels: () => false,
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
    { hasChanged: () => false, hasNewsByUsers: () => true } as unknown as SinceFit,
    () => 0,
  );
  const reads = { itemRow: () => 0 };
  const online = new OnlineRecommender({ reads, catalogue, itemNeighbors } as unknown as OnlineParts);
  const found = await online.itemNeighbors('i0', { n: 5, offset: 0, categories: [] });
  expect(found.map(({ Id }) => Id)).toEqual(['i6', 'i7']);
});

it('neighbors of an item in a category leave out what had left it before they were asked for', async () => {
  const catalogue = new Catalogue(() => 0);
  const put = (row: number, ...categories: string[]) =>
    catalogue.put({
      ...{ row, itemId: `i${row}`, hidden: false, timestampMs: Number.NaN, labels: ['same'] },
      categories,
    });
  // More rows than are looked at without a pause.
  for (let row = 0; row < 3000; row++) put(row, 'a');
  const itemNeighbors = neighborsByLabels(catalogue);
  const parts = { reads: { itemRow: () => 0 }, catalogue, itemNeighbors };
  const online = new OnlineRecommender(parts as unknown as OnlineParts);
  const ask = async (gone: number) => {
    const found = await online.itemNeighbors('i0', { n: 40, offset: 0, categories: ['a'] });
    return found.some(({ Id }) => Id === `i${gone}`);
  };
  const asked = [ask(-1)];
  // Each joins the search of the first, which may have come across the item while it was there.
  for (let row = 1; row <= 40; row++) {
    await new Promise((resolve) => setImmediate(resolve));
    put(row);
    asked.push(ask(row));
  }
  expect(await Promise.all(asked)).toEqual(Array.from({ length: 41 }, () => false));
});

it('a list that was waited for is not that of whoever has the name by then', async () => {
  const catalogue = new Catalogue(() => 0);
  for (let row = 0; row < 4; row++)
    catalogue.put({
      ...{ row, itemId: `i${row}`, hidden: false, timestampMs: Number.NaN },
      ...{ categories: [], labels: [] },
    });
  let userRow = 7;
  const list = { userRow, generation: 1, madeMs: 0, knowsMs: 0 };
  const made = { ...list, itemRows: Uint32Array.of(0, 1, 2, 3), scores: Float32Array.of(4, 3, 2, 1) };
  const hits = new AnswerCache({
    ...{ bytesMax: 2 ** 20, catalogue, clockErrorMs: 0 },
    ...{ clock: () => 0, isStale: () => false },
  });
  const histories = new Histories(readsOf([]), Number.POSITIVE_INFINITY, () => 0);
  const parts = {
    ...{ catalogue, hits, histories, answers: new AnswerCounts(), replacesRead: false },
    reads: { userRow: () => userRow },
    active: { note() {} },
    lists: { fetch: () => undefined, of: async () => made },
    fallbacks: { fill: async () => [] },
  };
  const personal = new PersonalAnswers(parts as unknown as PersonalParts);
  const query = { n: 3, offset: 0, categories: [] };
  const asked = personal.recommend('u', query);
  // The user is deleted, and the next one of that name is another.
  const none = new FeedbackColumns();
  for (const _ of hits.follow({ added: none, removed: none, deletedUserRows: [7] }));
  userRow = 8;
  expect(await asked).toMatchObject({ text: '[]' });
  expect(hits.find('u', query)).toBeUndefined();
});

it('searches for neighbors by labels are refused beyond those that may wait', async () => {
  const catalogue = new Catalogue(() => 0);
  const none = { hidden: false, timestampMs: Number.NaN, categories: [] };
  // More rows than are looked at without a pause: the signal is asked between two turns.
  for (let row = 0; row < 3000; row++) catalogue.put({ row, itemId: `i${row}`, labels: ['same'], ...none });
  const itemNeighbors = neighborsByLabels(catalogue);
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
      use: async (_: number, work: (history: History) => unknown) => work({ userRow: 7 } as History),
    } as never,
    lists: new UserLists({
      maker: {
        make: () => void madeIn.push(turn),
        among: () => [],
        turnedTo() {
          return this;
        },
      },
      ages: { refreshMs: 1, expireMs: 1, arrivalMs: 1 },
      clock: () => 0,
      elapsedMs: () => 0,
      share: 1,
      itemCount: () => 1,
    } as unknown as UserListsOptions),
    placements: { asked: () => undefined } as unknown as PersonalParts['placements'],
    hits: { markOf: () => 0 } as unknown as PersonalParts['hits'],
    answers: new AnswerCounts(),
    fallbacks: { fill: async () => [] } as unknown as PersonalParts['fallbacks'],
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

it('a ready list answers what of it may be shown where that is enough, and only then', () => {
  const catalogue = new Catalogue(() => 0);
  const item = { timestampMs: Number.NaN, labels: [] };
  for (let row = 0; row < 6; row++)
    catalogue.put({
      row,
      itemId: `i${row}`,
      hidden: row === 1,
      categories: row > 2 ? ['late'] : [],
      ...item,
    });
  const given: number[] = [];
  const noted: number[] = [];
  const parts = {
    answers: new AnswerCounts(),
    reads: { userRow: (userId: string) => (userId === 'u' ? 7 : -1), feedbackAhead: () => undefined },
    catalogue,
    active: { note: (row: number) => void noted.push(row) },
    histories: {
      take: (userRow: number) => ({ userRow, hasRead: (row: number) => row === 2 }),
      give: ({ userRow }: History) => void given.push(userRow),
    },
    lists: {
      ready: ({ userRow }: History) =>
        userRow === 7
          ? { itemRows: Uint32Array.of(0, 1, 2, 3, 4, 5), scores: Float32Array.of(6, 5, 4, 3, 2, 1) }
          : undefined,
    },
    replacesRead: false,
  };
  const online = new OnlineRecommender({
    personal: new PersonalAnswers(parts as unknown as PersonalParts),
  } as OnlineParts);
  const query = { n: 3, offset: 0, categories: [] };
  expect(online.recommendReady('u', query)).toEqual({ text: '["i0","i3","i4"]', source: 'personal' });
  expect(online.recommendReady('u', { ...query, offset: 1, scored: true })?.text).toBe(
    '[{"Id":"i3","Score":3},{"Id":"i4","Score":2},{"Id":"i5","Score":1}]',
  );
  expect(online.recommendReady('u', { ...query, n: 1, offset: 2, categories: ['late'] })?.text).toBe(
    '["i5"]',
  );
  expect(noted).toEqual([7, 7, 7]);
  expect(online.recommendReady('u', { ...query, n: 5 })).toBeUndefined();
  expect(online.recommendReady('other', query)).toBeUndefined();
  expect(given).toEqual([7, 7, 7, 7, -1]);
  const wishes = { excluded: ['i0'], labels: [], notLabels: [], boosts: [] };
  expect(online.recommendReady('u', { ...query, wishes })).toBeUndefined();
  expect(online.recommendReady('u', { ...query, writeBackType: 'read' })).toBeUndefined();
  expect(noted).toEqual([7, 7, 7]);
});
