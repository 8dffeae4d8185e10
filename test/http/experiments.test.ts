import { expect, it, vi } from 'vitest';
import { PlacementLists } from '../../src/recommend/answers/placement-lists.ts';
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
  // It tells the same list, which took another time.
  const listOf = (token: string) => token.split('.').slice(0, 5);
  expect(listOf(again.headers.get('X-Furze-Recommendation')!)).toEqual(listOf(seen[7]!.Recommendation));
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

it('names a variant that is slower, and one whose lists fail, of users who told of nothing, too', async () => {
  let nowMs = START_MS;
  const server = await startTestServer({
    clock: () => nowMs,
    config: { placement: { home: blank }, experiment: { sizes: EXPERIMENT } },
  });
  await server.call('POST', '/api/items', [
    ...['a', 'b'].map((ItemId) => ({
      ItemId,
      IsHidden: false,
      Labels: [],
      Categories: [],
      Comment: '',
      Timestamp: '2026-01-01T00:00:00Z',
    })),
  ]);
  const { begin } = PlacementLists.prototype;
  let users = 0;
  vi.spyOn(PlacementLists.prototype, 'begin').mockImplementation(async function (
    this: PlacementLists,
    rules,
    ...asked
  ) {
    if (rules.claims.variant === 'short') {
      if (users++ % 3 === 0) throw new Error('no list');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return begin.call(this, rules, ...asked);
  });
  const ask = async (UserId: string) => {
    const {
      status,
      body: Items,
      headers,
    } = await server.call('GET', `/api/recommend/${UserId}?placement=home`);
    const Recommendation = headers.get('X-Furze-Recommendation')!;
    return { status, seen: { UserId, Recommendation, Items } };
  };
  const answers = [];
  for (let user = 0; user < USERS; user += 20)
    answers.push(...(await Promise.all(Array.from({ length: 20 }, (_, at) => ask(`u${user + at}`)))));
  vi.restoreAllMocks();
  const shown = answers.filter(({ status }) => status === 200).map(({ seen }) => seen);
  const failed = answers.filter(({ status }) => status === 500).length;
  expect(failed).toBeGreaterThan(USERS / 10);
  expect(shown.length + failed).toBe(USERS);
  await server.call('POST', '/api/impressions', shown);
  nowMs += 25 * HOUR_MS;
  await server.restart();
  const { body } = await server.call('GET', '/api/admin/placements');
  const [sizes] = body.Experiments;
  expect(sizes.Variants.reduce((sum: number, { Seen }: { Seen: number }) => sum + Seen, 0)).toBe(USERS);
  expect(sizes.Guardrails).toMatchObject([
    { Kind: 'latency', Variant: 'short', Falls: true },
    { Kind: 'failures', Variant: 'short', Falls: true },
  ]);
  // A list that nobody saw counts among no lists.
  const lists = body.Placements.reduce((sum: number, { Lists }: { Lists: number }) => sum + Lists, 0);
  expect(lists).toBe(shown.length);
  await server.stop();
});
