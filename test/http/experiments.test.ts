import { expect, it } from 'vitest';
import { startTestServer } from './start.ts';

const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 0, 30);
const USERS = 600;
const blank = {
  ...{ categories: [], filter: {}, exclude: [], pins: [], fallback: [] },
  ...{ max_per_label: 0, max_per_category: 0, length: 0, tired_after: 0, tired_hours: 168 },
};
const EXPERIMENT = {
  ...{ placement: 'home', traffic: 1, start: '', measure: 'like', counts: 'users' as const },
  ...{ guardrails: [], horizon_hours: 24, plan_users: 600, alpha: 0.05 },
  variants: [
    { name: 'now', share: 0.5 },
    { name: 'short', share: 0.5, override: { length: 2 } },
  ],
};

it('shows each user one variant, and finds the better one out of what was shown and liked', async () => {
  let nowMs = START_MS;
  const server = await startTestServer({
    clock: () => nowMs,
    config: { placement: { home: blank, side: blank }, experiment: { sizes: EXPERIMENT } },
  });
  const items = ['a', 'b', 'c', 'd'].map((ItemId) => ({
    ...{ ItemId, IsHidden: false, Labels: [], Categories: [], Comment: '' },
    Timestamp: '2026-01-01T00:00:00Z',
  }));
  await server.call('POST', '/api/items', items);
  const seen = [];
  const likes = [];
  const users = { now: 0, short: 0 };
  for (let user = 0; user < USERS; user++) {
    const UserId = `u${user}`;
    const { body: Items, headers } = await server.call('GET', `/api/recommend/${UserId}?placement=home`);
    const Recommendation = headers.get('X-Furze-Recommendation')!;
    const variant = Recommendation.split('.')[1] as 'now' | 'short';
    expect(Items).toHaveLength(variant === 'short' ? 2 : 4);
    seen.push({ UserId, Recommendation, Items });
    // Short lists are liked twice as often.
    if (users[variant]++ % 10 < (variant === 'short' ? 6 : 3))
      likes.push({ FeedbackType: 'like', UserId, ItemId: 'a', Timestamp: '', Comment: '', Recommendation });
  }
  expect(Math.min(users.now, users.short)).toBeGreaterThan(USERS / 3);
  const again = await server.call('GET', '/api/recommend/u7?placement=home');
  expect(again.headers.get('X-Furze-Recommendation')).toBe(seen[7]!.Recommendation);
  const side = await server.call('GET', '/api/recommend/u7?placement=side');
  expect(side.headers.get('X-Furze-Recommendation')).toMatch(/^side\.\./);
  await server.call('POST', '/api/impressions', seen);
  await server.call('POST', '/api/feedback', likes);

  const early = (await server.call('GET', '/api/admin/placements')).body.Experiments;
  expect(early).toMatchObject([
    { Name: 'sizes', State: 'too early', Variants: [{ Users: 0 }, { Users: 0 }] },
  ]);
  nowMs += 25 * HOUR_MS;
  await server.restart();
  const { body } = await server.call('GET', '/api/admin/placements');
  expect(body.Experiments).toMatchObject([
    {
      ...{ Placement: 'home', Measure: 'share of users with like', State: 'decided', Winner: 'short' },
      Variants: [
        { Name: 'now', Seen: users.now, Users: users.now },
        { Name: 'short', Seen: users.short, Users: users.short },
      ],
    },
  ]);
  expect(body.Experiments[0].Sentence).toMatch(/^short does better than now by \d+ % \(\d+ to \d+\)\.$/);
  expect(body.Placements.map(({ Variant }: { Variant: string }) => Variant)).toEqual(['now', 'short']);
  const metrics = (await server.call('GET', '/metrics')).text;
  expect(metrics).toContain('furze_placement_lists_total');
  await server.stop();
});
