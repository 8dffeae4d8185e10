import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startTestServer, type TestServer } from './start.ts';

const HOUR_MS = 3_600_000;
const blank = {
  ...{ categories: [], filter: {}, exclude: [], boost: [], pins: [], fallback: [] },
  ...{ max_per_label: 0, max_per_category: 0, length: 0, tired_after: 0, tired_hours: 168, explore: 0 },
};
const EXPERIMENT = {
  ...{ traffic: 1, start: '', measure: 'like', counts: 'users' as const },
  ...{ guardrails: [], horizon_hours: 24, plan_users: 600, alpha: 0.05 },
  variants: [
    { name: 'now', share: 0.5 },
    { name: 'new', share: 0.5, override: { exclude: ['i0', 'i1', 'i2'] } },
  ],
};
let nowMs = Date.UTC(2026, 0, 30);
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({
    clock: () => nowMs,
    config: {
      placement: {
        home: { ...blank, pins: [{ item: 'i9', place: 2 }] },
        side: { ...blank, explore: 0.25, length: 4 },
        plain: { ...blank, explore: 0.25 },
      },
      experiment: {
        mixed: { ...EXPERIMENT, placement: 'home', method: 'interleave' as const },
        unseen: { ...EXPERIMENT, placement: 'side', method: 'estimate' as const },
      },
    },
  });
  const items = Array.from({ length: 20 }, (_, at) => ({
    ...{ ItemId: `i${at}`, IsHidden: false, Labels: [], Categories: [], Comment: '' },
    Timestamp: new Date(Date.UTC(2026, 0, 29) - at * HOUR_MS).toISOString(),
  }));
  await server.call('POST', '/api/items', items);
});
afterAll(() => server.stop());

async function ask(UserId: string, placement: string, n = 4) {
  const { body, headers } = await server.call(
    'GET',
    `/api/recommend/${UserId}?placement=${placement}&n=${n}`,
  );
  return { UserId, Recommendation: headers.get('X-Furze-Recommendation')!, Items: body as string[] };
}

/** Waits until what was shown is counted; a list of before says that it is without. */
async function explores(placement: string) {
  await vi.waitFor(async () => {
    const path = `/api/recommend/x?placement=${placement}&n=4`;
    const { headers, body } = await server.call('GET', path);
    const isWithout = headers.get('X-Furze-Source')!.includes('unexplored');
    expect(headers.get('X-Furze-Recommendation')!.includes('.p')).toBe(!isWithout);
    if (isWithout) expect(body).toEqual(['i0', 'i1', 'i2', 'i3']);
    expect(isWithout).toBe(false);
  }, 300_000);
}

it('answers with a list of both rankings, pins at their places, the same for an hour', async () => {
  const lists = [];
  for (let user = 0; user < 20; user++) lists.push(await ask(`m${user}`, 'home'));
  const texts = new Set(lists.map(({ Items }) => Items.join(' ')));
  expect(texts.size).toBeGreaterThan(1);
  for (const { Items, Recommendation } of lists) {
    expect(new Set(Items).size).toBe(4);
    expect(Items[1]).toBe('i9');
    expect(Recommendation).toMatch(/^home\.now\+new\.\w+\.\w+\.\w+\.r[\w-]+\.\w+\.[\w-]+$/);
    // Entries of both: those that the second leaves out, and its first.
    expect(Items.some((item) => ['i0', 'i1', 'i2'].includes(item))).toBe(true);
    expect(Items).toContain('i3');
  }
  expect((await ask('m3', 'home')).Items).toEqual(lists[3]!.Items);
});

it('finds the ranking whose items are liked, on the same users', async () => {
  const seen = [];
  const likes = [];
  for (let user = 0; user < 300; user++) {
    const list = await ask(`u${user}`, 'home');
    seen.push(list);
    const ItemId = list.Items.find((item) => item === 'i3');
    if (ItemId === undefined || user % 3 === 0) continue;
    const { UserId, Recommendation } = list;
    likes.push({ FeedbackType: 'like', UserId, ItemId, Timestamp: '', Comment: '', Recommendation });
  }
  await server.call('POST', '/api/impressions', seen);
  await server.call('POST', '/api/feedback', likes);
  nowMs += 25 * HOUR_MS;
  await server.restart();
  const { body } = await server.call('GET', '/api/admin/placements');
  const mixed = body.Experiments.find(({ Name }: { Name: string }) => Name === 'mixed');
  expect(mixed).toMatchObject({
    State: 'decided',
    Winner: 'new',
    Variants: [{ Users: 300 }, { Users: 300 }],
  });
});

it('gives a place now and then to what was shown little, or to what the other ranking has there', async () => {
  await explores('side');
  const lists = [];
  for (let user = 0; user < 40; user++) lists.push(await ask(`e${user}`, 'side'));
  for (const { Items, Recommendation } of lists) {
    expect(Recommendation).toMatch(/^side\.now\.\w+\.\w+\.\w+\.p[\w-]+\.\w+\.[\w-]+$/);
    expect(new Set(Items).size).toBe(4);
    const usual = Items.filter((item) => ['i0', 'i1', 'i2', 'i3'].includes(item));
    expect(usual.length).toBeGreaterThanOrEqual(3);
  }
  // One place of four, so each list has one, to which a trade of two of the usual ones may be blind.
  expect(lists.filter(({ Items }) => Items.join() !== 'i0,i1,i2,i3').length).toBeGreaterThan(20);
  const { body } = await server.call('POST', '/api/impressions', lists);
  expect(body).toEqual({ RowAffected: 40 });
  const told = await server.call('GET', '/api/user/e7/impressions');
  expect(told.body[0].Chances).toHaveLength(4);
  for (const chance of told.body[0].Chances) expect(chance > 0 && chance <= 1).toBe(true);
});

it('explores without an experiment, too, and says nothing of an experiment there', async () => {
  await explores('plain');
  const { Recommendation } = await ask('p1', 'plain');
  expect(Recommendation).toMatch(/^plain\.\.\w+\.\w+\.\.p[\w-]+\.[\w-]+$/);
  expect((await server.call('POST', '/api/impressions', [await ask('p1', 'plain')])).body).toEqual({
    RowAffected: 1,
  });
});
