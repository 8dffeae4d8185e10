import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from './start.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.parse('2026-03-01T12:00:00Z');

let server: TestServer;

const ago = (days: number) => new Date(NOW_MS - days * DAY_MS).toISOString();

/** Feedback of a type, of a user, on an item, so many days ago. */
function feedback(FeedbackType: string, UserId: string, ItemId: string, days: number) {
  return { FeedbackType, UserId, ItemId, Timestamp: ago(days), Comment: '' };
}

/** Items with the days since they came. */
const ITEMS: Readonly<Record<string, number>> = {
  ...{ bread: 400, butter: 390, radio: 380, lamp: 370, steady: 360, rising: 350, faded: 340 },
  ...{ milk: 330, soap: 320, coffee: 310, 'film-1': 300, 'film-2': 290, 'new-1': 5, 'new-2': 10 },
};

beforeAll(async () => {
  const kinds = {
    ...{ because: {}, similar: {}, together: {}, trending: {}, new: {}, again: {} },
    continue: { begun: ['start'], finished: ['finish'] },
  };
  const placement = Object.fromEntries(
    Object.entries(kinds).map(([kind, keys]) => [kind, { kind, ...keys }]),
  );
  server = await startTestServer({
    clock: () => NOW_MS,
    config: {
      recommend: {
        data_source: { positive_feedback_types: ['buy'], repeated: { buy: 'count' } },
        popular: { popular_window: 400 * DAY_MS },
        online: { fallback_recommend: ['popular', 'latest'] },
      },
      placement: {
        ...placement,
        lately: { recommenders: ['latest'], length: 4 },
        fresh: { kind: 'similar', new_share: 0.5, new_days: 30 },
        mixed: { recommenders: ['popular'], new_share: 0.5, new_days: 30 },
        framed: { exclude: ['butter'], pins: [{ item: 'lamp', place: 1 }], length: 2 },
      } as never,
    },
  });
  const items = Object.entries(ITEMS).map(([ItemId, days]) => ({
    ...{ ItemId, IsHidden: false, Categories: [], Labels: [], Comment: `The ${ItemId}` },
    Timestamp: ago(days),
  }));
  await server.call('POST', '/api/items', items);
  const all = [
    feedback('buy', 'ann', 'bread', 2),
    feedback('start', 'ann', 'film-1', 5),
    feedback('start', 'ann', 'film-2', 3),
    feedback('finish', 'ann', 'film-1', 4),
    feedback('buy', 'ann', 'soap', 1.5),
    feedback('buy', 'ann', 'coffee', 30),
    ...[28, 21, 14, 7].map((days) => feedback('buy', 'ann', 'milk', days)),
  ];
  for (let at = 0; at < 6; at++) {
    const user = `shopper-${at}`;
    all.push(feedback('buy', user, 'bread', 40), feedback('buy', user, 'butter', 40.1));
    all.push(feedback('buy', user, 'radio', 20));
    all.push(feedback('buy', user, 'coffee', 84), feedback('buy', user, 'coffee', 56));
    all.push(feedback('buy', user, 'soap', 84), feedback('buy', user, 'soap', 54));
  }
  for (let at = 0; at < 30; at++) all.push(feedback('buy', `regular-${at}`, 'steady', at));
  for (let at = 0; at < 40; at++) all.push(feedback('buy', `past-${at}`, 'faded', 25));
  for (let at = 0; at < 8; at++) all.push(feedback('buy', `late-${at}`, 'rising', 0.5));
  expect((await server.call('POST', '/api/feedback', all)).status).toBe(200);
});
afterAll(() => server.stop());

const ask = (user: string, placement: string, more = '') =>
  server.call('GET', `/api/recommend/${user}?n=5&placement=${placement}${more}`);

describe('kinds of placements', () => {
  it('because of a like: items like it, and it is named', async () => {
    const { body, headers } = await ask('shopper-0', 'because', '&item=bread');
    expect(headers.get('X-Furze-Seed')).toBe('bread');
    expect(headers.get('X-Furze-Source')).toBe('because');
    expect(body).not.toContain('bread');
    const own = await ask('ann', 'because', '&details=true');
    expect(own.body.Seed).toBe('soap');
    expect(own.body.Items[0]).toMatchObject({
      ...{ Source: 'because', Reason: 'it is like an item that the user liked' },
    });
    expect((await ask('nobody', 'because')).body).toEqual([]);
  });

  it('names no item that is hidden, though the user liked it last', async () => {
    const seeds = async () => {
      const lists = ['because', 'similar', 'together'].map((kind) => ask('ann', kind));
      return (await Promise.all(lists)).map(({ headers }) => headers.get('X-Furze-Seed'));
    };
    expect(await seeds()).toEqual(['soap', 'soap', 'soap']);
    await server.call('PATCH', '/api/item/soap', { IsHidden: true });
    expect(await seeds()).toEqual(['bread', 'bread', 'bread']);
    await server.call('PATCH', '/api/item/soap', { IsHidden: false });
  });

  it('similar to an item, without what the user has', async () => {
    const { body, headers } = await ask('ann', 'similar', '&item=bread');
    expect(headers.get('X-Furze-Seed')).toBe('bread');
    expect(body).toContain('butter');
    for (const own of ['bread', 'milk', 'soap', 'coffee']) expect(body).not.toContain(own);
  });

  it('often bought together: within a basket, not by the same people at other times', async () => {
    const { body } = await ask('ann', 'together', '&item=bread');
    expect(body).toEqual(['butter']);
    const ofItem = await server.call('GET', '/api/item/bread/neighbors?placement=together');
    // Ann bought soap beside her bread, once.
    expect(ofItem.body.map(({ Id }: { Id: string }) => Id)).toEqual(['butter', 'soap']);
    expect((await server.call('GET', '/api/item/none/neighbors?placement=together')).body).toEqual([]);
  });

  it('trending: what rises against its own past, not what was liked most', async () => {
    const { body } = await ask('nobody', 'trending');
    expect(body[0]).toBe('rising');
    expect(body).not.toContain('faded');
    const popular = await server.call('GET', '/api/popular?n=1');
    expect(popular.body[0].Id).toBe('faded');
  });

  it('new for the user: items of the last days alone', async () => {
    expect((await ask('ann', 'new')).body.toSorted()).toEqual(['new-1', 'new-2']);
  });

  it('to continue: begun last and not finished, though the user has seen it', async () => {
    expect((await ask('ann', 'continue')).body).toEqual(['film-2']);
    expect((await ask('nobody', 'continue')).body).toEqual([]);
  });

  it("again: by the user's own rhythm, or that of others, and not before it is due", async () => {
    // Milk each 7 days and the last 7 days ago; coffee once, others each 28 days; soap others each 30 days, and just bought.
    expect((await ask('ann', 'again')).body).toEqual(['milk', 'coffee']);
    expect((await ask('nobody', 'again')).body).toEqual([]);
  });

  it('by chosen recommenders, and with a share of new items', async () => {
    expect((await ask('ann', 'lately')).body).toEqual(['new-1', 'new-2', 'faded', 'rising']);
    const { body } = await server.call('GET', '/api/recommend/nobody?n=4&placement=mixed&details=true');
    const ids = body.Items.map(({ Id }: { Id: string }) => Id);
    expect(ids.filter((id: string) => id.startsWith('new-'))).toHaveLength(2);
    expect(ids).toContain('faded');
  });

  it('rules hold for neighbors and sessions, too', async () => {
    const like = await server.call('GET', '/api/item/bread/neighbors?placement=framed');
    expect(like.body.map(({ Id }: { Id: string }) => Id)).toEqual(['lamp', expect.any(String)]);
    expect(JSON.stringify(like.body)).not.toContain('butter');
    const own = ['bread', 'milk', 'soap', 'coffee'];
    await server.call('POST', '/api/feedback', [feedback('buy', 'whoever', 'lamp', 0)]);
    for (const [userId, had] of Object.entries({ ann: own, whoever: ['lamp'] })) {
      const { body } = await server.call(
        'GET',
        `/api/item/butter/neighbors?placement=framed&user-id=${userId}`,
      );
      expect(body.map(({ Id }: { Id: string }) => Id).filter((id: string) => had.includes(id))).toEqual([]);
    }
    const session = await server.call('POST', '/api/session/recommend?placement=framed', [
      feedback('buy', '', 'bread', 0),
    ]);
    expect(session.body[0].Id).toBe('lamp');
    expect(session.body).toHaveLength(2);
    expect(JSON.stringify(session.body)).not.toContain('butter');
    const basket = await server.call('POST', '/api/session/recommend?placement=together', [
      feedback('buy', '', 'bread', 0),
    ]);
    expect(basket.body.map(({ Id }: { Id: string }) => Id)).toEqual(['butter', 'soap']);
    expect((await server.call('POST', '/api/session/recommend?placement=none', [])).status).toBe(404);
    expect((await server.call('GET', '/api/item/bread/neighbors?placement=none')).status).toBe(404);
  });

  it('of an item that nobody knows there is nothing, whatever the user likes', async () => {
    for (const kind of ['because', 'similar', 'together']) {
      const own = await ask('ann', kind, '&item=none');
      expect([own.body, own.headers.get('X-Furze-Seed')]).toEqual([[], null]);
      const { body } = await server.call('GET', `/api/item/none/neighbors?placement=${kind}&user-id=ann`);
      expect(body).toEqual([]);
    }
  });

  it('of a session they go by the latest item that is known', async () => {
    const { body } = await server.call('POST', '/api/session/recommend?placement=together', [
      feedback('buy', '', 'bread', 0),
      feedback('buy', '', 'none', 0),
      feedback('buy', '', 'radio', 5),
    ]);
    expect(body.map(({ Id }: { Id: string }) => Id)).toEqual(['butter', 'soap']);
  });

  it('new items have their share around items and sessions, and the item itself is none of them', async () => {
    const ids = (body: readonly { Id: string }[]) =>
      body.map(({ Id }) => Id).filter((id) => id.startsWith('new-'));
    for (const path of ['/api/item/new-1/neighbors?', '/api/recommend/nobody?details=true&item=new-1&']) {
      const { body } = await server.call('GET', `${path}placement=fresh`);
      expect(ids(body.Items ?? body)).toEqual(['new-2']);
    }
    const session = [feedback('buy', '', 'new-2', 0)];
    const { body } = await server.call('POST', '/api/session/recommend?placement=mixed&n=4', session);
    expect(ids(body)).toEqual(['new-1']);
  });

  it('details tell score, source and reason of each item, with a placement or without', async () => {
    const { body, headers } = await ask('ann', 'framed', '&details=true');
    expect(headers.get('X-Furze-Recommendation')).toMatch(/^framed\./);
    expect(body.Items).toMatchObject([
      { Id: 'lamp', Source: 'pins', Reason: 'staff put it here', Score: expect.any(Number) },
      { Id: 'radio', Source: 'personal', Score: expect.any(Number) },
    ]);
    const plain = await server.call('GET', '/api/recommend/ann?n=1&details=true');
    expect(plain.body.Items).toHaveLength(1);
    const shown = await ask('ann', 'framed', '&details=true&write-back-type=seen');
    expect(shown.body.Items).toHaveLength(2);
    const kept = await server.call('GET', '/api/user/ann/impressions');
    expect(kept.body[0].Items).toEqual(['lamp', 'radio']);
  });
});
