import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from './start.ts';

const item = (ItemId: string) => ({
  ItemId,
  IsHidden: false,
  Categories: [],
  Timestamp: '',
  Labels: [],
  Comment: '',
});

// A folder alone keeps vectors: the configuration refuses them beside PostgreSQL.
describe('vectors of items', () => {
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
    ['no number', { Vector: [0, null, 0] }, '/Vector/1', 'must be a number'],
    ['no list', { Vector: null }, '/Vector', 'must be an array'],
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

  describe('find items', () => {
    let found: TestServer;
    const STEPS = 40;
    const name = (at: number) => `i${String(at).padStart(2, '0')}`;
    beforeAll(async () => {
      found = await startTestServer({
        config: {
          recommend: { data_source: { positive_feedback_types: ['like'], item_ttl: 30 } },
          vectors: {
            angle: { dimensions: 2, similarity: 'cosine' },
            plain: { dimensions: 1, similarity: 'dot' },
            place: { dimensions: 2, similarity: 'euclidean' },
          },
        },
      });
      const all = Array.from({ length: STEPS }, (_, at) => at);
      const items = all.map((at) => ({
        ...item(name(at)),
        IsHidden: at === 3,
        Timestamp: at === 5 ? '2001-01-01' : '',
        Categories: at % 2 === 0 ? ['even'] : [],
        Labels: at % 4 === 0 ? ['fourth'] : [],
      }));
      await found.call('POST', '/api/items', items);
      const write = (space: string, numbers: (at: number) => number[]) =>
        found.call(
          'POST',
          `/api/vectors/${space}`,
          all.map((at) => ({ ItemId: name(at), Vector: numbers(at) })),
        );
      // Of any length, ever further from the first by angle; ever longer; ever further away.
      await write('angle', (at) => [Math.cos(at / 30) * (at + 1), Math.sin(at / 30) * (at + 1)]);
      await write('plain', (at) => [at]);
      await write('place', (at) => [at, 1]);
      await found.call('PUT', '/api/feedback', [
        { FeedbackType: 'like', UserId: 'u', ItemId: name(1), Timestamp: '', Comment: '' },
      ]);
    });
    afterAll(() => found.stop());

    const ask = async (
      method: string,
      path: string,
      body?: unknown,
    ): Promise<{ Id: string; Score: number }[]> => {
      const answer = await found.call(method, path, body);
      expect(answer.status).toBe(200);
      return answer.body;
    };
    const idsOf = (entries: { Id: string }[]) => entries.map(({ Id }) => Number(Id.slice(1)));

    it('like an item, less itself, hidden ones and those out of date', async () => {
      const entries = await ask('GET', `/api/item/${name(0)}/neighbors?by=angle&n=5`);
      expect(idsOf(entries)).toEqual([1, 2, 4, 6, 7]);
      expect(entries[0]!.Score).toBeCloseTo(Math.cos(1 / 30), 6);
      const { Spaces } = (await found.call('GET', `/api/admin/item/${name(0)}?n=5`)).body;
      expect(Spaces.map(({ Name }: { Name: string }) => Name)).toEqual(['angle', 'plain', 'place']);
      expect(idsOf(Spaces[0].Neighbors)).toEqual(idsOf(entries));
      const [first] = await ask('GET', `/api/item/${name(10)}/neighbors?by=place&n=1`);
      // Of two as far away the one that came first.
      expect(first).toEqual({ Id: name(9), Score: 0.5 });
    });

    it('near a vector by each similarity, page by page', async () => {
      const search = (space: string, Vector: number[], query = '') =>
        ask('POST', `/api/vectors/${space}/search?n=3${query}`, { Vector });
      expect(idsOf(await search('plain', [2]))).toEqual([39, 38, 37]);
      expect((await search('plain', [2]))[0]!.Score).toBe(78);
      expect(idsOf(await search('plain', [-1]))).toEqual([0, 1, 2]);
      expect(idsOf(await search('plain', [2], '&offset=2'))).toEqual([37, 36, 35]);
      expect(idsOf(await search('place', [20.4, 1]))).toEqual([20, 21, 19]);
      expect(idsOf(await search('angle', [0, 5]))).toEqual([39, 38, 37]);
    });

    it('with all filters and less what a user has read', async () => {
      const near = async (query: string) =>
        idsOf(await ask('GET', `/api/item/${name(0)}/neighbors?by=angle&n=4&${query}`));
      expect(await near('category=even')).toEqual([2, 4, 6, 8]);
      expect(await near('label=fourth')).toEqual([4, 8, 12, 16]);
      expect(await near('not-label=fourth')).toEqual([1, 2, 6, 7]);
      expect(await near(`exclude=${name(2)},${name(4)}`)).toEqual([1, 6, 7, 8]);
      expect(await near('user-id=u')).toEqual([2, 4, 6, 7]);
      expect(await near('category=none')).toEqual([]);
      const inPath = await ask('GET', `/api/item/${name(0)}/neighbors/even?by=angle&n=2`);
      expect(idsOf(inPath)).toEqual([2, 4]);
    });

    it('as of the last write, and after a restart', async () => {
      const first = async () => idsOf(await ask('POST', '/api/vectors/plain/search?n=2', { Vector: [1] }));
      await found.call('PUT', `/api/item/${name(7)}/vectors/plain`, { Vector: [100] });
      expect(await first()).toEqual([7, 39]);
      await found.call('DELETE', `/api/item/${name(39)}/vectors/plain`);
      expect(await first()).toEqual([7, 38]);
      await found.call('DELETE', `/api/item/${name(38)}`);
      expect(await first()).toEqual([7, 37]);
      await found.restart();
      expect(await first()).toEqual([7, 37]);
    });

    it('or none, of what there is not', async () => {
      expect(await ask('GET', '/api/item/nobody/neighbors?by=angle')).toEqual([]);
      expect(await ask('GET', `/api/item/${name(39)}/neighbors?by=plain`)).toEqual([]);
      expect((await found.call('GET', `/api/item/${name(0)}/neighbors?by=other`)).status).toBe(404);
      const ruled = await found.call('GET', `/api/item/${name(0)}/neighbors?by=angle&placement=home`);
      expect([ruled.status, ruled.body.errors[0].path]).toEqual([400, 'placement']);
      const wrong = await found.call('POST', '/api/vectors/plain/search', { Vector: [1, 2] });
      expect(wrong.body.errors).toEqual([{ path: '/Vector', message: 'must hold 1 numbers and holds 2' }]);
    });
  });

  describe('made of texts', () => {
    let texts: TestServer;
    const words = ['tea pot', 'tea cup', 'coffee cup', 'garden chair', 'garden chairs', 'garden lamp'];
    const numbers = [1, 2, 3, 4];
    const of = (ItemId: string, Comment: string, more = {}) => ({ ...item(ItemId), Comment, ...more });
    beforeAll(async () => {
      texts = await startTestServer({
        config: { vectors: { words: { dimensions: 256, similarity: 'cosine', source: 'text' } } },
      });
      const items = words.flatMap((word, at) =>
        numbers.map((number) => of(`${at}-${number}`, `${word}${'!'.repeat(number)}`)),
      );
      await texts.call('POST', '/api/items', items);
    });
    afterAll(() => texts.stop());

    const like = async (id: string, n = 3): Promise<string[]> => {
      const { body } = await texts.call('GET', `/api/item/${id}/neighbors?by=words&n=${n}`);
      return body.map(({ Id }: { Id: string }) => Id);
    };

    it('are near where words are in common, whole or in part', async () => {
      // Its weights are of all items once there are twice as many as were counted.
      await texts.restart();
      expect((await like('3-1', 7)).map((id) => Number(id[0])).sort()).toEqual([3, 3, 3, 4, 4, 4, 4]);
      expect((await like('3-1', 3)).every((id) => id.startsWith('3'))).toBe(true);
    });

    it('follow each write, and items without words have none', async () => {
      await texts.call('POST', '/api/item', of('new', 'A lamp for the garden'));
      expect(new Set(await like('new', 4))).toEqual(new Set(numbers.map((number) => `5-${number}`)));
      await texts.call('PATCH', '/api/item/new', { Comment: '', Labels: ['coffee', 'cup'] });
      expect(new Set(await like('new', 4))).toEqual(new Set(numbers.map((number) => `2-${number}`)));
      await texts.call('PATCH', '/api/item/new', { Labels: [], Comment: '...' });
      expect(await like('new')).toEqual([]);
    });

    it('are not written', async () => {
      const answers = await Promise.all([
        texts.call('PUT', '/api/item/new/vectors/words', { Vector: Array(256).fill(1) }),
        texts.call('DELETE', '/api/item/new/vectors/words'),
      ]);
      for (const { status, body } of answers) expect([status, body.code]).toEqual([400, 'INVALID_PARAMETER']);
    });
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
