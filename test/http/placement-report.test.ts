import { expect, it } from 'vitest';
import { startTestServer } from './start.ts';

const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 0, 30);
const blank = {
  ...{ categories: [], filter: {}, exclude: [], pins: [], fallback: [] },
  ...{ max_per_label: 0, max_per_category: 0, length: 0, tired_after: 0, tired_hours: 168 },
};

it('tells what was seen, what came of it, day by day and by place, as JSON, CSV and metrics', async () => {
  let nowMs = START_MS;
  const server = await startTestServer({
    clock: () => nowMs,
    config: {
      recommend: {
        data_source: { positive_feedback_types: ['buy>=1'], read_feedback_types: ['read', 'buy'] },
      },
      placement: { home: blank, side: blank },
    },
  });
  expect((await server.call('GET', '/api/admin/placements')).body.Placements).toEqual([]);
  const items = ['a', 'b', 'c'].map((ItemId) => ({
    ...{ ItemId, IsHidden: false, Labels: [], Categories: [], Comment: '' },
    Timestamp: '2026-01-01T00:00:00Z',
  }));
  await server.call('POST', '/api/items', items);
  const ask = async (user: string, placement: string) => {
    const { headers } = await server.call('GET', `/api/recommend/${user}?placement=${placement}`);
    return headers.get('X-Furze-Recommendation')!;
  };
  const see = (UserId: string, Recommendation: string, Items: string[]) =>
    server.call('POST', '/api/impressions', [{ UserId, Recommendation, Items }]);
  const give = (records: object[]) =>
    server.call(
      'POST',
      '/api/feedback',
      records.map((record) => ({ Timestamp: '', Comment: '', ...record })),
    );

  const first = await ask('ann', 'home');
  await see('ann', first, ['a', 'b', 'c']);
  await see('bob', await ask('bob', 'home'), ['b']);
  nowMs += 1000;
  await give([
    { FeedbackType: 'buy', UserId: 'ann', ItemId: 'b', Value: 2.5 },
    { FeedbackType: '=like', UserId: 'ann', ItemId: 'b' },
    { FeedbackType: 'read', UserId: 'ann', ItemId: 'a' },
    { FeedbackType: 'buy', UserId: 'ann', ItemId: 'a', Value: 0.5 },
    { FeedbackType: 'buy', UserId: 'bob', ItemId: 'a', Value: 9 },
  ]);
  nowMs += DAY_MS;
  await see('ann', await ask('ann', 'home'), ['c']);
  await give([{ FeedbackType: 'buy', UserId: 'ann', ItemId: 'c', Value: 1, Recommendation: first }]);
  await see('bob', await ask('bob', 'side'), ['a']);
  // The report of before is kept for a minute; a restart reads what is stored.
  await server.restart();

  const { body } = await server.call('GET', '/api/admin/placements');
  const home = {
    ...{ Lists: 3, Users: 2, Shown: 5, Clicked: 2, Named: 1, InWindow: 2, Converted: 1, Beyond: 4 },
    Feedback: [
      { Type: 'buy>=1', Count: 2, Value: 3.5 },
      { Type: '=like', Count: 1, Value: 0 },
    ],
  };
  expect(body.Placements.map(({ Placement }: { Placement: string }) => Placement)).toEqual(['home', 'side']);
  expect(body.Placements[0]).toEqual({
    ...{ Placement: 'home', Variant: '', ...home, Items: 3 },
    Places: [
      { Place: 1, Shown: 3, Clicked: 0 },
      { Place: 2, Shown: 1, Clicked: 1 },
      { Place: 3, Shown: 1, Clicked: 1 },
    ],
    Days: [
      { Day: '2026-01-30', ...home, Lists: 2, Shown: 4, Beyond: 3 },
      {
        ...{
          Day: '2026-01-31',
          Lists: 1,
          Users: 1,
          Shown: 1,
          Clicked: 0,
          Named: 0,
          InWindow: 0,
          Converted: 0,
          Beyond: 1,
        },
        Feedback: [],
      },
    ],
  });
  expect(body.Placements[1]).toMatchObject({ Placement: 'side', Lists: 1, Clicked: 0, Feedback: [] });
  expect(JSON.stringify(body)).not.toContain('ann');

  const { text, headers } = await server.call('GET', '/api/admin/placements.csv');
  expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(text.split('\r\n')).toEqual([
    'Placement,Variant,Day,Lists,Users,Shown,Clicked,Named,InWindow,Converted,Beyond,"\'=like","\'=like Value",buy>=1,buy>=1 Value',
    'home,,2026-01-30,2,2,4,2,1,2,1,3,1,0,2,3.5',
    'home,,2026-01-31,1,1,1,0,0,0,0,1,0,0,0,0',
    'side,,2026-01-31,1,1,1,0,0,0,0,0,0,0,0,0',
    '',
  ]);

  await see('bob', await ask('bob', 'side'), ['a', 'b']);
  const metrics = (await server.call('GET', '/metrics')).text;
  expect(metrics).toContain('furze_placement_lists_total{placement="side",variant=""} 1');
  expect(metrics).toContain('furze_placement_shown_total{placement="side",variant=""} 2');
  await server.stop();
});
