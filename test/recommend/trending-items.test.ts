import { expect, it, vi } from 'vitest';
import { createRandom } from '../../src/domain/random.ts';
import { TopK } from '../../src/memory/top-k.ts';
import { PopularityCounts } from '../../src/recommend/popularity/popularity-counts.ts';
import { POPULARITY_SCALES } from '../../src/recommend/popularity/popularity-scales.ts';
import { TrendingItems } from '../../src/recommend/popularity/trending-items.ts';
import { topTrending } from '../../src/recommend/state/top-items.ts';
import { FeedbackColumns } from '../../src/store/data-store.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

function startCounts(ttlMs = Number.POSITIVE_INFINITY) {
  const time = { nowMs: 1e12 };
  const counts = new PopularityCounts({ windowMs: 1e9, ttlMs }, () => time.nowMs);
  const apply = (likes: readonly (readonly [row: number, timeMs: number])[], sign: 1 | -1) => {
    const feedback = new FeedbackColumns();
    for (const [row, timeMs] of likes) feedback.push(1, row, 0, timeMs);
    counts.apply(feedback, () => true, sign);
  };
  return { time, counts, apply };
}

it.each([
  ['for ever', Number.POSITIVE_INFINITY, 1],
  ['for ever, in a year', Number.POSITIVE_INFINITY, 365],
  ['for two days', 2 * DAY_MS, 3],
])(
  'has what a look through all items has, whatever is liked, taken back or hidden: likes that count %s',
  (_, ttlMs, days) => {
    const random = createRandom(5);
    const { time, counts, apply } = startCounts(ttlMs);
    const hidden = new Set<number>();
    const isListable = (row: number) => !hidden.has(row);
    const trends = new TrendingItems(counts, isListable);
    const given: [number, number][] = [];
    for (let step = 0; step < 250; step++) {
      time.nowMs += Math.floor(random.float() ** 4 * days * DAY_MS * 0.1);
      const likes = Array.from({ length: random.below(40) }, (): [number, number] => [
        Math.floor(3000 * random.float() ** 3),
        time.nowMs - Math.floor(random.float() ** 6 * 3 * DAY_MS),
      ]);
      apply(likes, 1);
      given.push(...likes);
      if (random.below(3) === 0 && given.length > 0) apply(given.splice(random.below(given.length), 5), -1);
      const row = Math.floor(3000 * random.float() ** 3);
      if (!hidden.delete(row)) hidden.add(row);
      if (random.below(3) > 0) continue;
      for (const scale of POPULARITY_SCALES.keys()) {
        const found = trends.first(scale, 10);
        // So many as `topTrending` takes for 10 of a list.
        expect([step, scale, found]).toEqual([
          step,
          scale,
          topTrending(counts.scales[scale]!, 10, isListable).slice(0, 10),
        ]);
      }
    }
  },
);

it('looks at what has been liked since, and not at all items', () => {
  const { counts, apply } = startCounts();
  const items = 5000;
  apply(
    Array.from({ length: items }, (_, row): [number, number] => [row, 1e12 - row]),
    1,
  );
  const trends = new TrendingItems(counts, () => true);
  const scales = [...POPULARITY_SCALES.keys()];
  for (const scale of scales) trends.first(scale, 20);
  const takes = vi.spyOn(TopK.prototype, 'takes');
  for (let round = 0; round < 20; round++) {
    apply([[round * 100, 1e12]], 1);
    for (const scale of scales) trends.first(scale, 20);
  }
  expect(takes.mock.calls.length).toBeLessThan(items * 5);
  takes.mockRestore();
});
