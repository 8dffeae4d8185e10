import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from './start.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const ONE = { RowAffected: 1 };
const FILM = {
  ItemId: 'film',
  IsHidden: false,
  Categories: ['Drama'],
  Timestamp: '2022-03-04T05:06:07Z',
  Labels: ['court'],
  Comment: 'Twelve Angry Men',
};

test('an item is written, read, changed and deleted', async () => {
  const { call } = server;
  expect((await call('POST', '/api/item', FILM)).body).toEqual(ONE);
  expect((await call('GET', '/api/item/film')).body).toEqual(FILM);
  const change = { IsHidden: true, Timestamp: '', Labels: null, Comment: 'c' };
  expect((await call('PATCH', '/api/item/film', change)).body).toEqual(ONE);
  const changed = { ...FILM, IsHidden: true, Timestamp: '', Comment: 'c' };
  expect((await call('GET', '/api/item/film')).body).toEqual(changed);
  expect((await call('DELETE', '/api/item/film')).body).toEqual(ONE);
  expect((await call('DELETE', '/api/item/film')).body).toEqual({ RowAffected: 0 });
  expect((await call('GET', '/api/item/film')).body.code).toBe('ITEM_NOT_FOUND');
  expect((await call('PATCH', '/api/item/film', {})).status).toBe(404);
});

test('null and absent fields are empty', async () => {
  const nulls = {
    ItemId: 'n',
    IsHidden: null,
    Categories: null,
    Timestamp: null,
    Labels: null,
    Comment: null,
  };
  for (const body of [nulls, { ItemId: 'n' }, { ItemId: 'n', Timestamp: '' }]) {
    await server.call('POST', '/api/item', body);
    const item = { ItemId: 'n', IsHidden: false, Categories: [], Timestamp: '', Labels: [], Comment: '' };
    expect((await server.call('GET', '/api/item/n')).body).toEqual(item);
  }
  await server.call('DELETE', '/api/item/n');
});

test.each([
  ['2022-03-04 05:06:07.678', '2022-03-04T05:06:07.678Z'],
  ['2022-03-04T05:06:07+02:00', '2022-03-04T03:06:07Z'],
  ['2022-03-04', '2022-03-04T00:00:00Z'],
])('the timestamp %s reads back as %s', async (Timestamp, expected) => {
  await server.call('POST', '/api/item', { ItemId: 't', Timestamp });
  expect((await server.call('GET', '/api/item/t')).body.Timestamp).toBe(expected);
  await server.call('DELETE', '/api/item/t');
});

test('categories are appended once and removed', async () => {
  const { call } = server;
  await call('POST', '/api/item', FILM);
  expect((await call('PUT', '/api/item/film/category/Sci%2FFi%20%F0%9F%98%80')).status).toBe(200);
  expect((await call('PUT', '/api/item/film/category/Drama')).status).toBe(200);
  expect((await call('GET', '/api/item/film')).body.Categories).toEqual(['Drama', 'Sci/Fi 😀']);
  expect((await call('DELETE', '/api/item/film/category/Drama/')).status).toBe(200);
  expect((await call('GET', '/api/item/film')).body.Categories).toEqual(['Sci/Fi 😀']);
  for (const method of ['PUT', 'DELETE']) {
    expect((await call(method, '/api/item/none/category/Drama')).body.code).toBe('ITEM_NOT_FOUND');
  }
  await call('DELETE', '/api/item/film');
});

test('items are listed by id, a page at a time', async () => {
  const ids = ['i1', 'i2', 'i3', 'é', '😀'];
  await server.call(
    'POST',
    '/api/items',
    ids.toReversed().map((ItemId) => ({ ItemId })),
  );
  const first = (await server.call('GET', '/api/items?n=3')).body;
  expect(first.Items.map((item: { ItemId: string }) => item.ItemId)).toEqual(['i1', 'i2', 'i3']);
  const next = (await server.call('GET', `/api/items?n=3&cursor=${encodeURIComponent(first.Cursor)}`)).body;
  expect(next.Items.map((item: { ItemId: string }) => item.ItemId)).toEqual(['é', '😀']);
  expect(next.Cursor).toBe('');
});

test.each([
  ['malformed JSON', '{"ItemId":', 'INVALID_JSON', undefined],
  ['no body', '', 'INVALID_JSON', undefined],
  ['null', 'null', 'INVALID_BODY', ''],
  ['an array for an item', '[]', 'INVALID_BODY', ''],
  ['a slash in the id', { ItemId: 'a/b' }, 'INVALID_BODY', '/ItemId'],
  ['an empty id', { ItemId: '' }, 'INVALID_BODY', '/ItemId'],
  ['a long id', { ItemId: 'x'.repeat(513) }, 'INVALID_BODY', '/ItemId'],
  ['a number for an id', { ItemId: 1 }, 'INVALID_BODY', '/ItemId'],
  ['another case of a name', { itemid: 'a' }, 'INVALID_BODY', '/ItemId'],
  ['a text for a flag', { ItemId: 'a', IsHidden: 'yes' }, 'INVALID_BODY', '/IsHidden'],
  ['a text for a list', { ItemId: 'a', Categories: 'x' }, 'INVALID_BODY', '/Categories'],
  ['no date', { ItemId: 'a', Timestamp: '2022-02-30' }, 'INVALID_BODY', '/Timestamp'],
  ['513 labels', { ItemId: 'a', Labels: Array(513).fill('x') }, 'INVALID_BODY', '/Labels'],
  ['a long comment', { ItemId: 'a', Comment: 'x'.repeat(65_537) }, 'INVALID_BODY', '/Comment'],
])('%s is a 400 with code and place', async (_name, body, code, path) => {
  const answer = await server.call('POST', '/api/item', body);
  expect(answer.status).toBe(400);
  expect(answer.body).toMatchObject({ status: 400, code, type: `/apidocs/errors#${code}` });
  expect(answer.body.errors?.[0].path).toBe(path);
});

test('a slash in the path of an item is a 400, and unknown fields and content types do not matter', async () => {
  expect((await server.call('GET', '/api/item/a%2Fb')).body.code).toBe('INVALID_PARAMETER');
  const headers = { 'Content-Type': 'text/plain' };
  expect((await server.call('POST', '/api/item', { ItemId: 'z', Unknown: {} }, headers)).body).toEqual(ONE);
});

test('labels of any form come back as they were given, one and many', async () => {
  const Labels = { topics: ['a', ['b']], year: 1957, more: null };
  await server.call('POST', '/api/item', { ItemId: 'any-labels', Labels });
  expect((await server.call('GET', '/api/item/any-labels')).body).toMatchObject({ Labels });
  const page = (await server.call('GET', '/api/items?n=1000')).body.Items;
  const found = page.find(({ ItemId }: { ItemId: string }) => ItemId === 'any-labels');
  expect(found.Labels).toEqual(Labels);
  expect(found).not.toHaveProperty('LabelsAsGiven');
  await server.call('POST', '/api/user', { UserId: 'any-labels', Labels: 7 });
  expect((await server.call('GET', '/api/user/any-labels')).body.Labels).toBe(7);
});

test('q searches ids, comments, categories and labels, best match first', async () => {
  await server.call('POST', '/api/items', [
    { ItemId: 's-inside', Comment: 'A megazebra' },
    { ItemId: 's-word', Comment: 'The grey Zebra walks' },
    { ItemId: 's-title', Comment: 'ZEBRA' },
    { ItemId: 's-label', Labels: { animal: ['Zebra'] } },
    { ItemId: 's-category', Categories: ['zebras'] },
    { ItemId: 'zebra-1', IsHidden: true },
    { ItemId: 's-none', Comment: 'A horse' },
  ]);
  const idsOf = async (query: string) =>
    (await server.call('GET', `/api/items?${query}`)).body.Items.map(
      ({ ItemId }: { ItemId: string }) => ItemId,
    );
  expect(await idsOf('q=zEbRa')).toEqual([
    's-title',
    's-label',
    's-category',
    'zebra-1',
    's-word',
    's-inside',
  ]);
  expect(await idsOf('q=zebra&n=2')).toEqual(['s-title', 's-label']);
  expect(await idsOf('q=zebra&n=0')).toEqual([]);
  expect(await idsOf('q=grey+zebra')).toEqual(['s-word']);
  expect(await idsOf('q=unicorn')).toEqual([]);
  expect((await server.call('GET', '/api/items?q=zebra')).body).toMatchObject({ Cursor: '' });
  expect((await server.call('GET', `/api/items?q=${'x'.repeat(600)}`)).status).toBe(400);
});
