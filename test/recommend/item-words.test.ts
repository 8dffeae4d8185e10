import { expect, it } from 'vitest';
import { Explainer } from '../../src/recommend/answers/explainer.ts';
import { ageInWords, popularityInWords, wordOfLikes } from '../../src/recommend/answers/item-words.ts';
import type { History } from '../../src/recommend/history/history.ts';
import { PopularityCounts } from '../../src/recommend/popularity/popularity-counts.ts';
import { FeedbackColumns } from '../../src/store/data-store.ts';

const NOW = Date.parse('2024-05-01T00:00:00Z');
const DAY_MS = 86_400_000;

/** Likes of items by people, so many days ago. */
function countsOf(likes: readonly (readonly [user: number, item: number, daysAgo: number])[]) {
  const popularity = new PopularityCounts(
    { windowMs: 90 * DAY_MS, ttlMs: Number.POSITIVE_INFINITY },
    () => NOW,
  );
  const feedback = new FeedbackColumns();
  for (const [user, item, daysAgo] of likes) feedback.push(user, item, 0, NOW - daysAgo * DAY_MS);
  popularity.apply(feedback, () => true, 1);
  popularity.drain();
  return popularity;
}

const POPULARITY = countsOf([
  [1, 5, 0],
  [1, 5, 1],
  [2, 5, 1],
  [3, 5, 20],
  [4, 5, 100],
  [1, 6, 1],
]);

it('tells how many people liked an item lately, and how often it was liked in all', () => {
  expect(popularityInWords(POPULARITY, 5)).toBe(
    'liked by 2 people in two days, by 3 people in 30 days, 5 times in all',
  );
  expect(popularityInWords(POPULARITY, 6)).toBe(
    'liked by 1 person in two days, by 1 person in 30 days, 1 time in all',
  );
  expect(popularityInWords(POPULARITY, 7)).toBe('liked by nobody yet');
  expect(popularityInWords(POPULARITY, 7, wordOfLikes(['purchase', 'order>0']))).toBe('bought by nobody yet');
  expect(['like', 'purchase,like', ''].map((types) => wordOfLikes(types.split(',')))).toEqual([
    'liked',
    'liked',
    'liked',
  ]);
});

it('leaves out spans that the latest likes do not reach', () => {
  const likes = Array.from({ length: 100_000 }, (_, at) => [at, at % 10, (1e5 - at) / 20_000] as const);
  // Of five days some two or three are remembered; the newest twenty count as of the moment of the one before.
  expect(popularityInWords(countsOf(likes), 3)).toBe(
    'liked by 1,002 people in 12 hours, by 4,002 people in two days, 10,000 times in all',
  );
});

it('tells how old an item is', () => {
  expect(ageInWords(NOW, NOW - 12.5 * DAY_MS)).toBe('there for 12 days');
  expect(ageInWords(NOW, NOW - DAY_MS)).toBe('there for 1 day');
  expect(ageInWords(NOW, NOW + 1)).toBe('there for less than a day');
  expect(ageInWords(NOW, Number.NaN)).toBe('of no known age');
});

it('stands in the explanation of an item, all scales of popularity in one', async () => {
  const parts = {
    reads: { itemRow: () => 5, userRow: () => 1, findItem: () => ({ Comment: 'A title' }) },
    recommender: { recommend: async () => ({ text: '["a"]' }) },
    histories: { use: (_: number, work: (history: History) => unknown) => work({} as History) },
    maker: {
      *warm() {},
      scoreOf: () => 0.5,
      uses: () => false,
      *partsOf() {
        yield;
        const of = new Map([
          ['popular_2d', 1],
          ['popular_ever', -0.25],
          ['age', -0.5],
        ]);
        return { base: -0.25, parts: of, likes: new Map() };
      },
    },
    live: { popularity: POPULARITY, sinceMsAt: () => NOW - 12 * DAY_MS, positiveTypes: ['purchase>0'] },
    fallbacks: [],
  };
  const explainer = new Explainer(parts as unknown as ConstructorParameters<typeof Explainer>[0]);
  const told = await explainer.explain('ann', 'a', { n: 10, categories: [] });
  expect(told?.Titles).toEqual({ a: 'A title' });
  expect(told?.Parts?.slice(1)).toEqual([
    { Name: 'popularity', Meaning: popularityInWords(POPULARITY, 5, 'bought'), Score: 0.75 },
    { Name: 'age', Meaning: 'there for 12 days', Score: -0.5 },
  ]);
});
