import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from './start.ts';

const OWNER = 'owner-secret';
const KEYS = { merchant: 'merchant-secret', shop: 'shop-secret', viewer: 'viewer-secret' };
const ITEMS = ['a', 'b', 'c', 'd', 'e'];

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({
    config: {
      server: { api_key: OWNER },
      key: {
        merchant: { value: KEYS.merchant, role: 'operate' },
        shop: { value: KEYS.shop, role: 'write' },
        viewer: { value: KEYS.viewer, role: 'read' },
      },
      recommend: { online: { fallback_recommend: ['latest'] } },
      placement: { fixed: { length: 1 } as never },
    },
  });
  const items = ITEMS.map((ItemId, at) => ({
    ...{
      ItemId,
      IsHidden: false,
      Categories: [],
      Labels: at < 3 ? ['red'] : ['blue'],
      Comment: `Item ${ItemId}`,
    },
    Timestamp: `2024-01-0${9 - at}T00:00:00Z`,
  }));
  await server.call('POST', '/api/items', items, { 'X-API-Key': OWNER });
});
afterAll(() => server.stop());

const as = (key: string) => (method: string, path: string, body?: unknown) =>
  server.call(method, path, body, { 'X-API-Key': key });
const merchant = as(KEYS.merchant);
const owner = as(OWNER);
const list = async (placement: string) =>
  (await merchant('GET', `/api/recommend/u?n=3&placement=${placement}`)).body as string[];

describe('placements that staff keep', () => {
  it('are in effect at once, refused with the place of a mistake, changed, undone, and there after a restart', async () => {
    expect((await merchant('GET', '/api/recommend/u?placement=home')).body.code).toBe('PLACEMENT_NOT_FOUND');
    const bad = await merchant('PUT', '/api/admin/placements/home', { filter: { and: [{ price: 3 }] } });
    expect(bad.status).toBe(400);
    expect(bad.body.errors).toMatchObject([{ path: '/filter/and/0/price' }]);
    const made = await merchant('PUT', '/api/admin/placements/home?version=0', { exclude: ['a'] });
    expect(made.status).toBe(200);
    expect(made.body).toMatchObject({
      Rule: {
        Name: 'home',
        Source: 'dashboard',
        Version: 1,
        ChangedBy: 'merchant',
        Settings: { exclude: ['a'] },
      },
    });
    expect(await list('home')).toEqual(['b', 'c', 'd']);
    const late = await merchant('PUT', '/api/admin/placements/home?version=0', { exclude: ['b'] });
    expect(late.body.code).toBe('CHANGED_MEANWHILE');
    await merchant('PUT', '/api/admin/placements/home?version=1', { pins: [{ item: 'e', place: 1 }] });
    expect(await list('home')).toEqual(['e', 'a', 'b']);
    await server.restart();
    expect(await list('home')).toEqual(['e', 'a', 'b']);
    const undone = await merchant('POST', '/api/admin/placements/home/undo');
    expect(undone.body.History.map(({ Version }: { Version: number }) => Version)).toEqual([3, 2, 1]);
    expect(await list('home')).toEqual(['b', 'c', 'd']);
    await merchant('POST', '/api/admin/placements/home/undo');
    expect(await list('home')).toEqual(['e', 'a', 'b']);
    await merchant('DELETE', '/api/admin/placements/home');
    expect((await merchant('GET', '/api/recommend/u?placement=home')).status).toBe(404);
    await merchant('POST', '/api/admin/placements/home/undo');
    expect(await list('home')).toEqual(['e', 'a', 'b']);
  });

  it('that the configuration has are seen, and changed there alone', async () => {
    const { body } = await merchant('GET', '/api/admin/rules');
    expect(body).toMatchObject({ Caller: 'merchant', Role: 'operate' });
    expect(body.Placements).toMatchObject([
      { Name: 'fixed', Source: 'configuration', Settings: { length: 1 }, Version: 0 },
      { Name: 'home', Source: 'dashboard' },
    ]);
    const refused = await merchant('PUT', '/api/admin/placements/fixed', { length: 3 });
    expect(refused.body.detail).toBe(
      '[placement.fixed] is of the configuration, which goes first; change it there.',
    );
    expect((await merchant('DELETE', '/api/admin/placements/other')).body.code).toBe('PLACEMENT_NOT_FOUND');
    expect((await merchant('GET', '/api/admin/placements/constructor')).body.code).toBe(
      'PLACEMENT_NOT_FOUND',
    );
    expect((await merchant('PUT', '/api/admin/placements/9', {})).status).toBe(400);
    expect((await merchant('PUT', '/api/admin/placements/__proto__', { length: 3 })).status).toBe(400);
    expect((await merchant('PUT', '/api/admin/placements/home', [])).body.code).toBe('INVALID_BODY');
    expect((await merchant('PUT', `/api/admin/placements/${'x'.repeat(65)}`, {})).status).toBe(400);
  });

  it('are seen as they would be before they are kept', async () => {
    const asked = { Settings: { pins: [{ item: 'd', place: 1 }], max_per_label: 1 }, Users: ['u', 'v'] };
    const { body } = await as(KEYS.viewer)('POST', '/api/admin/placements/new/preview?n=2', asked);
    expect(body.Users).toMatchObject([
      {
        UserId: 'u',
        Known: false,
        Items: [
          { Id: 'd', Title: 'Item d', Reason: 'staff put it here' },
          { Id: 'a', Title: 'Item a' },
        ],
      },
      { UserId: 'v' },
    ]);
    expect((await merchant('GET', '/api/recommend/u?placement=new')).status).toBe(404);
    for (const discovery of [0, 0.5]) {
      const tried = await merchant('POST', '/api/admin/placements/shelf/preview', {
        Settings: { discovery },
        Users: ['u'],
      });
      expect(tried.body.Users[0].Items.length).toBeGreaterThan(0);
    }
    const fixed = await merchant('POST', '/api/admin/placements/fixed/preview', { ...asked, Users: ['u'] });
    expect(fixed.body.Users[0].Items.length).toBeGreaterThan(1);
    expect(fixed.body.Users[0].Items[0].Id).toBe('d');
    const bad = { Settings: { length: -1 }, Users: ['u'] };
    for (const name of ['new', 'fixed'])
      expect(
        (await merchant('POST', `/api/admin/placements/${name}/preview`, bad)).body.errors,
      ).toMatchObject([{ path: '/length' }]);
    const odd = await merchant('POST', '/api/admin/placements/new/preview', { Users: ['u', 'half \ud800'] });
    expect(odd.body.errors).toMatchObject([{ path: '/Users/1' }]);
    expect((await merchant('POST', '/api/admin/placements/none/preview', { Users: ['u'] })).status).toBe(404);
  });

  it('are previewed one after the other, and who asks for many keeps nobody else out', async () => {
    const or = Array.from({ length: 200 }, (_, at) => ({ label: `none-${at}` }));
    const asked = { Settings: { filter: { or } }, Users: ['u', 'v', 'w'] };
    const preview = (who: ReturnType<typeof as>) => who('POST', '/api/admin/placements/new/preview', asked);
    const many = Array.from({ length: 200 }, () => preview(as(KEYS.viewer)));
    await Promise.race(many);
    expect((await preview(merchant)).status).toBe(200);
    const statuses = (await Promise.all(many)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200, 503]));
  });
});

describe('rules that are no good', () => {
  const put = (body: unknown) => merchant('PUT', '/api/admin/placements/odd', body);

  it.each([
    [{ filter: { label: { in: 'a' } } }, '/filter/label'],
    [{ filter: { and: [{ not: { or: [] } }] } }, '/filter/and/0/not/or'],
    [{ filter: { or: [{ label: 'a' }, { constructor: { label: 'a' } }] } }, '/filter/or/1/constructor'],
    [{ filter: 'label = a' }, '/filter'],
    [{ filter: JSON.parse(`${'{"not": '.repeat(20)}{"label": "a"}${'}'.repeat(20)}`) }, '/filter/not'],
    [{ pins: [{ item: 'a', place: 0 }] }, '/pins'],
    [{ pins: [{ item: 'a', place: 1.5 }] }, '/pins'],
    [{ explore: 0.9 }, '/explore'],
    [{ max_per_label: '2' }, '/max_per_label'],
    [{ kind: 'continue' }, '/begun'],
  ])('%j is refused with its place', async (settings, path) => {
    const { status, body } = await put(settings);
    expect([status, body.code]).toEqual([400, 'INVALID_BODY']);
    expect(body.errors[0].path.startsWith(path), JSON.stringify(body.errors)).toBe(true);
    expect((await merchant('GET', '/api/admin/placements/odd')).status).toBe(404);
  });

  it('pins of items that are unknown are left out until there is such an item', async () => {
    const pins = [
      { item: 'nobody knows', place: 1 },
      { item: 'd', place: 2 },
    ];
    const { body } = await merchant('PUT', '/api/admin/placements/pinned', { pins });
    expect(body.Titles).toEqual({ d: 'Item d' });
    expect(await list('pinned')).toEqual(['a', 'd', 'b']);
    const neighbors = await merchant('GET', '/api/item/a/neighbors?placement=pinned&n=3');
    expect(neighbors.body.map(({ Id }: { Id: string }) => Id)).toEqual(['b', 'd', 'c']);
  });

  it('pins and exclusions go by the item of a name as it is now, also where it went and came back in another place', async () => {
    const item = (ItemId: string) => ({ ItemId, Categories: ['moving'], Timestamp: '2020-01-01T00:00:00Z' });
    const rules = { pins: [{ item: 'pin', place: 1 }], exclude: ['out'], categories: ['moving'] };
    await merchant('PUT', '/api/admin/placements/moving', rules);
    const shown = () => list('moving');
    expect(await shown()).toEqual([]);
    await owner('POST', '/api/items', [item('pin'), item('out')]);
    expect(await shown()).toEqual(['pin']);
    for (const id of ['pin', 'out']) await owner('DELETE', `/api/item/${id}`);
    expect(await shown()).toEqual([]);
    await owner('POST', '/api/items', [item('other'), item('between'), item('out'), item('pin')]);
    expect((await shown())[0]).toBe('pin');
    expect((await shown()).toSorted()).toEqual(['between', 'other', 'pin']);
    for (const id of ['pin', 'out', 'other', 'between']) await owner('DELETE', `/api/item/${id}`);
    await merchant('DELETE', '/api/admin/placements/moving');
  });
});

describe('experiments that staff keep', () => {
  const variants = [
    { name: 'now', share: 0.5 },
    { name: 'short', share: 0.5, override: { length: 1, exclude: ['a'] } },
  ];

  it('start at once, hold their placement, and end with a winner that one undo takes back', async () => {
    await merchant('PUT', '/api/admin/placements/shelf', { length: 2 });
    const bad = await merchant('PUT', '/api/admin/experiments/sizes', {
      placement: 'shelf',
      variants: [{ ...variants[0], share: 0.7 }, variants[1]],
    });
    expect(bad.body.errors).toMatchObject([
      { path: '/variants', message: 'variants: expected shares that sum up to 1, got 1.2' },
    ]);
    const started = await merchant('PUT', '/api/admin/experiments/sizes', { placement: 'shelf', variants });
    expect(Date.parse(started.body.Rule.Settings.start)).toBeGreaterThan(Date.now() - 600_000);
    const lengths = new Set<number>();
    for (let at = 0; at < 40; at++) {
      const answer = await merchant('GET', `/api/recommend/u${at}?placement=shelf`);
      lengths.add(answer.body.length);
    }
    expect([...lengths].sort()).toEqual([1, 2]);
    const report = await merchant('GET', '/api/admin/placements');
    expect(report.body.Experiments).toMatchObject([{ Name: 'sizes', State: 'too early' }]);
    const held = await merchant('DELETE', '/api/admin/placements/shelf');
    // A request without a body is not told that its body is wrong.
    expect([held.status, held.body.code]).toEqual([400, 'BAD_REQUEST']);
    expect(held.body.detail).toContain('experiment.sizes.placement: expected a placement');
    // Nor is it taken away by undoing that it was made.
    const undone = await merchant('POST', '/api/admin/placements/shelf/undo');
    expect([undone.status, undone.body.code]).toEqual([400, 'BAD_REQUEST']);
    expect(undone.body.detail).toContain('experiment.sizes.placement: expected a placement');
    expect(await list('shelf')).not.toEqual([]);
    const none = await merchant('POST', '/api/admin/experiments/sizes/promote?variant=other');
    expect(none.body.detail).toBe('The experiment has no variant "other".');
    const promoted = await merchant('POST', '/api/admin/experiments/sizes/promote?variant=short');
    expect(promoted.body.Rule).toMatchObject({ Name: 'shelf', Settings: { length: 1, exclude: ['a'] } });
    expect((await merchant('GET', '/api/admin/rules')).body.Experiments).toEqual([]);
    expect(await list('shelf')).toEqual(['b']);
    await merchant('POST', '/api/admin/placements/shelf/undo');
    const { Placements, Experiments } = (await merchant('GET', '/api/admin/rules')).body;
    expect(Experiments).toMatchObject([{ Name: 'sizes' }]);
    expect(Placements.at(-1)).toMatchObject({ Name: 'shelf', Settings: { length: 2 } });
    expect((await merchant('POST', '/api/admin/experiments/no/promote?variant=x')).body.code).toBe(
      'EXPERIMENT_NOT_FOUND',
    );
    expect((await merchant('POST', '/api/admin/experiments/sizes/promote')).body.code).toBe(
      'INVALID_PARAMETER',
    );
  });
});

describe('roles', () => {
  const rules = [
    ['read', KEYS.viewer, [200, 403, 403, 403]],
    ['write', KEYS.shop, [200, 200, 403, 403]],
    ['operate', KEYS.merchant, [200, 403, 200, 403]],
    ['own', OWNER, [200, 200, 200, 200]],
  ] as const;

  it.each(rules)('%s may do what it may', async (_role, key, statuses) => {
    const ask = as(key);
    const answers = [
      await ask('GET', '/api/admin/rules'),
      await ask('POST', '/api/user', { UserId: 'x' }),
      await ask('PUT', '/api/admin/placements/roles', {}),
      await ask('POST', '/api/admin/evaluation'),
    ];
    expect(answers.map(({ status }) => status)).toEqual(statuses);
  });

  it('are told with what they lack, and who changed what by names of keys', async () => {
    const refused = await as(KEYS.shop)('PUT', '/api/admin/placements/home', {});
    expect(refused.body).toMatchObject({
      code: 'ROLE_LACKS',
      detail: 'This takes the role "operate"; the API key has "write".',
    });
    const seen = async () => (await as(KEYS.viewer)('GET', '/api/admin/audit?n=100')).body.Changes;
    await expect
      .poll(async () => (await seen()).map(({ By, What }: { By: string; What: string }) => `${By}: ${What}`))
      .toEqual(
        expect.arrayContaining([
          'merchant: placement home made',
          'merchant: placement home undone',
          'merchant: experiment sizes ended, its variant short written into placement shelf',
          'api_key: POST /api/admin/evaluation',
        ]),
      );
    const all = JSON.stringify([await seen(), (await merchant('GET', '/api/admin/config')).body]);
    for (const secret of [OWNER, ...Object.values(KEYS)]) expect(all).not.toContain(secret);
  });
});
