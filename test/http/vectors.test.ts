import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, TEST_STORE, type TestServer } from './start.ts';

const item = (ItemId: string) => ({
  ItemId,
  IsHidden: false,
  Categories: [],
  Timestamp: '',
  Labels: [],
  Comment: '',
});

// A folder alone keeps vectors: the configuration refuses them beside PostgreSQL.
describe.runIf(TEST_STORE === 'lmdb')('vectors of items', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({
      config: {
        vectors: {
          angle: { dimensions: 3, similarity: 'cosine' },
          plain: { dimensions: 2, similarity: 'dot' },
        },
      },
    });
    await server.call('POST', '/api/items', ['a', 'b', 'c'].map(item));
  });
  afterAll(() => server.stop());

  const get = (id: string, space: string) => server.call('GET', `/api/item/${id}/vectors/${space}`);
  const put = (id: string, space: string, body: unknown) =>
    server.call('PUT', `/api/item/${id}/vectors/${space}`, body);

  it('come in and out as they were given, by space, and after a restart', async () => {
    expect((await put('a', 'angle', { Vector: [0.1, -2.5, 1e-7] })).body).toEqual({ RowAffected: 1 });
    const batch = [
      { ItemId: 'b', Vector: [9, 9] },
      { ItemId: 'a', Vector: [0, 0] },
      { ItemId: 'b', Vector: [1 / 3, 16777217] },
    ];
    expect((await server.call('POST', '/api/vectors/plain', batch)).body).toEqual({ RowAffected: 2 });
    await server.restart();
    expect((await get('a', 'angle')).body).toEqual({ ItemId: 'a', Vector: [0.1, -2.5, 1e-7] });
    expect((await get('a', 'plain')).body).toEqual({ ItemId: 'a', Vector: [0, 0] });
    const [third, large] = (await get('b', 'plain')).body.Vector;
    expect([Math.fround(third), large]).toEqual([Math.fround(1 / 3), 16777216]);
    expect(await get('b', 'angle')).toMatchObject({ status: 404, body: { code: 'VECTOR_NOT_FOUND' } });
  });

  it('stay when their item is written again and go with it', async () => {
    await put('c', 'plain', { Vector: [1, 2] });
    await server.call('POST', '/api/item', item('c'));
    expect((await get('c', 'plain')).status).toBe(200);
    await server.call('DELETE', '/api/item/c');
    await server.call('POST', '/api/item', item('c'));
    expect((await get('c', 'plain')).status).toBe(404);
  });

  it('are deleted one at a time', async () => {
    await put('b', 'angle', { Vector: [1, 2, 3] });
    const remove = () => server.call('DELETE', '/api/item/b/vectors/angle');
    expect((await remove()).body).toEqual({ RowAffected: 1 });
    expect((await remove()).body).toEqual({ RowAffected: 0 });
    expect((await server.call('DELETE', '/api/item/nobody/vectors/angle')).body).toEqual({ RowAffected: 0 });
  });

  it.each([
    ['too short', { Vector: [1, 2] }, '/Vector', 'must hold 3 numbers and holds 2'],
    ['beyond 32 bits', { Vector: [1, 1e308, 2] }, '/Vector/1', 'must be a finite number of 32 bits'],
    [
      'all zeros',
      { Vector: [0, 0, 0] },
      '/Vector',
      'must not be all zeros, which have no angle to compare by',
    ],
    ['no number', { Vector: [0, null, 0] }, '/Vector/1', 'must be number'],
    ['no vector', {}, '/Vector', 'is required'],
    ['an empty one', { Vector: [] }, '/Vector', 'must hold 3 numbers and holds 0'],
  ])('are refused when %s', async (_name, body, path, message) => {
    const { status, body: problem } = await put('a', 'angle', body);
    expect([status, problem.errors]).toEqual([400, [{ path, message }]]);
  });

  it('name the position in a batch, of which nothing is stored then', async () => {
    const batch = [
      { ItemId: 'b', Vector: [4, 5, 6] },
      { ItemId: 'a', Vector: [1, 2, 3, 4] },
    ];
    const answer = await server.call('POST', '/api/vectors/angle', batch);
    expect(answer.body.errors).toEqual([{ path: '/1/Vector', message: 'must hold 3 numbers and holds 4' }]);
    expect((await get('b', 'angle')).status).toBe(404);
    const unknown = [batch[0], { ItemId: 'nobody', Vector: [1, 2, 3] }];
    const refused = await server.call('POST', '/api/vectors/angle', unknown);
    expect(refused).toMatchObject({ status: 404, body: { code: 'ITEM_NOT_FOUND' } });
    expect((await get('b', 'angle')).status).toBe(404);
  });

  it('are of spaces that there are', async () => {
    const vector = { Vector: [1, 2, 3] };
    const answers = await Promise.all([
      put('a', 'other', vector),
      get('a', 'other'),
      get('a', 'constructor'),
      server.call('DELETE', '/api/item/a/vectors/other'),
      server.call('POST', '/api/vectors/other', []),
    ]);
    for (const { status, body } of answers) expect([status, body.code]).toEqual([404, 'SPACE_NOT_FOUND']);
  });
});
