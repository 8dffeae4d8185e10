import { expect, it } from 'vitest';
import { PlacementCounts } from '../../src/recommend/placements/placement-counts.ts';
import { RecommendationTokens } from '../../src/recommend/placements/recommendation-tokens.ts';
import { SeenLately } from '../../src/recommend/placements/seen-lately.ts';
import { Impressions } from '../../src/shown/impressions.ts';
import type { ShownLog, ShownRecord } from '../../src/store/shown-log.ts';

const NOW_MS = Date.UTC(2026, 0, 31);
const tokens = new RecommendationTokens('secret');
const Recommendation = tokens.issue({ placement: 'home', variant: '', generation: 1, timeMs: NOW_MS }, 'ann');
const liked = (Timestamp: string) => [
  { FeedbackType: 'like', UserId: 'ann', ItemId: 'i', Timestamp, Comment: '', Recommendation },
];

function impressionsOver(append: ShownLog['append'], troubles: string[]): Impressions {
  const log = { append, prune: () => Promise.resolve() } as unknown as ShownLog;
  const reads = { itemRow: () => 7, itemIdAt: () => 'i' };
  const onTrouble = (message: string) => void troubles.push(message);
  const counts = new PlacementCounts();
  const made = new Impressions({
    pools: { note: () => {} },
    seenLately: new SeenLately(undefined, () => NOW_MS),
    ...{ log, tokens, counts, reads, barrier: undefined, clock: () => NOW_MS, elapsedMs: () => 0, onTrouble },
  });
  made.stop();
  return made;
}

it('tells that the lists of feedback cannot be kept, and refuses no feedback for it', async () => {
  const troubles: string[] = [];
  const impressions = impressionsOver(() => Promise.reject(new Error('no room')), troubles);
  await impressions.credit(liked('2026-01-30T00:00:00Z'));
  expect(troubles).toEqual(['lists of feedback are not kept']);
});

it('takes feedback that is dated ahead for one of now, so that it is kept for no longer than others', async () => {
  const stored: ShownRecord[] = [];
  const impressions = impressionsOver(async (records) => void stored.push(...records), []);
  await impressions.credit(liked('2099-01-01T00:00:00Z'));
  expect(stored).toMatchObject([{ timeMs: NOW_MS, feedbackType: 'like' }]);
});

it('notes of each user once an hour that lists failed, of so many users at most, and is not in the way where it cannot', async () => {
  const stored: ShownRecord[] = [];
  const impressions = impressionsOver(async (records) => void stored.push(...records), []);
  const list = { placement: 'home', variant: 'b', generation: 1, timeMs: NOW_MS, edition: 'x' };
  for (let time = 0; time < 3; time++) impressions.noteFailed('ann', list);
  expect(stored).toEqual([{ userId: 'ann', timeMs: NOW_MS, list, itemRows: [], places: [] }]);
  for (let user = 0; user < 30_000; user++) impressions.noteFailed(`u${user}`, list);
  expect(stored).toHaveLength(20_000);
  impressions.noteFailed('ann', { ...list, timeMs: NOW_MS + 3_600_000 });
  expect(stored).toHaveLength(20_001);
  const troubles: string[] = [];
  impressionsOver(() => Promise.reject(new Error('no room')), troubles).noteFailed('ann', list);
  await new Promise((resolve) => setImmediate(resolve));
  expect(troubles).toEqual(['it is not kept that lists failed']);
});
