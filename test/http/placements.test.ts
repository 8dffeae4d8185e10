import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestServer, type TestServer } from './start.ts';

const NOW_MS = Date.UTC(2026, 0, 31);
const DAY_MS = 86_400_000;
/** i0 is the newest, of today; each further one is a day older. */
const ITEMS = Array.from({ length: 30 }, (_, number) => ({
  ItemId: `i${number}`,
  IsHidden: number === 29,
  Labels: [number % 3 === 0 ? 'red' : `own${number}`],
  Categories: [number % 2 === 0 ? 'even' : 'odd'],
  Timestamp: new Date(NOW_MS - number * DAY_MS).toISOString(),
  Comment: '',
}));

const NONE = { categories: [], filter: {}, exclude: [], pins: [], fallback: [] };
const NO_LIMITS = { max_per_label: 0, max_per_category: 0, length: 0, tired_after: 0, tired_hours: 168 };
const blank = { ...NONE, ...NO_LIMITS };

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    clock: () => NOW_MS,
    config: {
      recommend: { data_source: { positive_feedback_types: ['like'] } },
      placement: {
        pins: {
          ...blank,
          pins: [
            { item: 'i20', place: 3 },
            { item: 'nowhere', place: 1 },
            { item: 'i21', place: 2, until: '2026-01-30T00:00:00Z' },
            { item: 'i29', place: 4 },
            { item: 'i25', place: 6 },
          ],
          exclude: ['i1'],
        },
        caps: { ...blank, max_per_label: 1 },
        two: { ...blank, max_per_category: 2 },
        windows: { ...blank, max_per_label: 1, cap_window: 4, pins: [{ item: 'i27', place: 5 }] },
        filter: {
          ...blank,
          filter: { and: [{ not: { label: 'red' } }, { age_days: { gt: 4.5, lt: 8.5 } }] },
        },
        short: { ...blank, categories: ['odd'], length: 3, fallback: ['popular', 'latest'] },
      },
    },
  });
  await server.call('POST', '/api/items', ITEMS);
  await server.call('POST', '/api/users', [{ UserId: 'new', Labels: [], Comment: '' }]);
  const like = { FeedbackType: 'like', UserId: 'reader', Timestamp: '2026-01-30T00:00:00Z', Comment: '' };
  await server.call('PUT', '/api/feedback', [
    { ...like, ItemId: 'i20' },
    { ...like, ItemId: 'i0' },
  ]);
});
afterAll(() => server.stop());

async function ask(user: string, query: string, headers?: Record<string, string>) {
  const { status, body } = await server.call('GET', `/api/recommend/${user}?${query}`, undefined, headers);
  expect(status).toBe(200);
  return body;
}

it('shows pins at their places, once, until their time, and neither unknown nor hidden ones', async () => {
  expect(await ask('new', 'placement=pins&n=6')).toEqual(['i0', 'i2', 'i20', 'i3', 'i4', 'i25']);
  const whole: string[] = await ask('new', 'placement=pins&n=100');
  expect(new Set(whole).size).toBe(whole.length);
  expect(whole).not.toContain('i1');
  expect(whole).not.toContain('i29');
  expect(whole).toHaveLength(28);
});

it('shows the same list page by page', async () => {
  const whole = await ask('new', 'placement=pins&n=8');
  const pages = await Promise.all([0, 2, 4, 6].map((at) => ask('new', `placement=pins&n=2&offset=${at}`)));
  expect(pages.flat()).toEqual(whole);
});

it('shows nobody a pin that was read', async () => {
  expect(await ask('reader', 'placement=pins&n=6')).not.toContain('i20');
});

it('gives pins a score that does not rise along the answer', async () => {
  const entries = await ask('new', 'placement=pins&n=6', { 'X-API-Version': '2' });
  const scores = entries.map(({ Score }: { Score: number }) => Score);
  expect(scores).toEqual(scores.toSorted((a: number, b: number) => b - a));
  expect(entries[2].Id).toBe('i20');
});

it('fills the place of what a cap refuses with what comes next', async () => {
  expect(await ask('new', 'placement=caps&n=6')).toEqual(['i0', 'i1', 'i2', 'i4', 'i5', 'i7']);
  expect(await ask('new', 'placement=two&n=10')).toEqual(['i0', 'i1', 'i2', 'i3']);
  const inAnyFour = ['i0', 'i1', 'i2', 'i4', 'i27', 'i5', 'i7', 'i8', 'i3', 'i10', 'i11', 'i13', 'i6'];
  expect(await ask('new', 'placement=windows&n=13')).toEqual(inAnyFour);
  expect(await ask('new', 'placement=windows&n=4&offset=9')).toEqual(inAnyFour.slice(9));
});

it('filters by labels and age, and by what the question asks for besides', async () => {
  expect(await ask('new', 'placement=filter&n=10')).toEqual(['i5', 'i7', 'i8']);
  expect(await ask('new', 'placement=filter&n=10&category=odd&exclude=i7')).toEqual(['i5']);
});

it('ends at the length of the placement and asks its fallbacks', async () => {
  expect(await ask('new', 'placement=short&n=10')).toHaveLength(3);
  expect(await ask('new', 'placement=short&n=10&offset=2')).toHaveLength(1);
  expect(await ask('new', 'placement=short&n=10&offset=3')).toEqual([]);
});

it('names the placements where there is none of the name', async () => {
  const { status, body } = await server.call('GET', '/api/recommend/new?placement=hme');
  expect([status, body.code]).toEqual([404, 'PLACEMENT_NOT_FOUND']);
  expect(body.detail).toContain('there are "pins", "caps"');
});

it('carries a token of the list, which pages of other origins may read, where a placement is asked for alone', async () => {
  const placed = await server.call('GET', '/api/recommend/new?placement=caps&n=2');
  expect(placed.headers.get('X-Furze-Recommendation')).toMatch(/^caps\.\.0\.[0-9a-z]+\.[\w-]{16}$/);
  expect(placed.headers.get('Access-Control-Expose-Headers')).toContain('X-Furze-Recommendation');
  expect(placed.headers.get('X-Furze-Source')).toBe('latest');
  const plain = await server.call('GET', '/api/recommend/new?n=2');
  expect(plain.headers.get('X-Furze-Recommendation')).toBeNull();
  const again = await server.call('GET', '/api/recommend/new?placement=caps&n=2');
  await server.restart();
  const later = await server.call('GET', '/api/recommend/new?placement=caps&n=2');
  const tokens = [placed, again, later].map(({ headers }) => headers.get('X-Furze-Recommendation'));
  // The clock of this test stands still.
  expect(new Set(tokens).size).toBe(1);
});

it('answers as ever without one: with what is liked, and then the newest', async () => {
  expect(await ask('new', 'n=3')).toEqual(['i0', 'i20', 'i1']);
});
