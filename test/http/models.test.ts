import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parquetOfVectors } from '../../src/exchange/parquet-vectors.ts';
import { startTestServer, TEST_STORE, type TestServer } from './start.ts';

const USERS = 60;
const ITEMS = 40;
const PARITY = Array.from({ length: ITEMS }, (_, item) => `i${item}`);
const at = (minute: number) => new Date(Date.parse('2026-01-01T00:00:00Z') + minute * 60_000).toISOString();

/** Users of even numbers like items of even numbers, and others the others. */
const FEEDBACK = Array.from({ length: USERS * 12 }, (_, number) => {
  const user = number % USERS;
  const item = (2 * Math.floor(number / USERS) * 7 + (user % 2) + 2 * ((user * 5) % 20)) % ITEMS;
  return { FeedbackType: 'like', UserId: `u${user}`, ItemId: `i${item}`, Timestamp: at(number * 7) };
});

/** Factors that know it. */
const model = (turned = false) => ({
  ids: PARITY,
  vectors: PARITY.map((_, item) => Float32Array.of(1, (item % 2 === 0) === turned ? 1 : -1, 0.01 * item)),
  ofUsers: false,
});

// Another node learns than the one that answers where these are apart, and it alone takes models.
describe.skipIf(TEST_STORE === 'split')('models of other tools', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({
      config: { recommend: { data_source: { positive_feedback_types: ['like'] } } },
    });
    await server.call('POST', '/api/feedback', FEEDBACK);
    await server.service.fit();
  });
  afterAll(() => server.stop());

  const put = async (query: string, bytes: Uint8Array<ArrayBuffer>) => {
    const response = await fetch(`${server.base}/api/admin/model/${query}`, { method: 'PUT', body: bytes });
    return { status: response.status, body: (await response.json()) as ReturnType<typeof JSON.parse> };
  };
  const fitted = async () => {
    await expect
      .poll(async () => (await server.call('GET', '/api/admin/tasks')).body.Running.length, {
        timeout: 600_000,
      })
      .toBe(0);
    return (await server.call('GET', '/api/admin/quality')).body as { Parts: string[]; Generation: number };
  };
  const kept = async () => (await server.call('GET', '/api/admin/models')).body;

  it('are judged, part of the next generation, and still so after a restart', async () => {
    const { status, body } = await put('parity', parquetOfVectors([model()]));
    expect([status, body]).toMatchObject([
      200,
      {
        Used: 'parity',
        Models: [{ Name: 'parity', Items: ITEMS, Dimensions: 3, UnknownItems: 0, Users: 0 }],
      },
    ]);
    const quality = await fitted();
    expect(quality.Generation).toBe(2);
    expect(quality.Parts).toContain('given model');
    const { Ways } = (await server.call('GET', '/api/admin/summary')).body.Model.Choice;
    const of = (name: string) => Ways.find((way: { Name: string }) => way.Name === name)?.Quality.Mean;
    expect(of('given')).toBeGreaterThan(of('popular_ever'));
    await server.restart();
    expect((await fitted()).Parts).toContain('given model');
    expect(await kept()).toEqual(body);
  });

  it('are switched, taken out and removed by name', async () => {
    await put('turned?use=false&fold=mean', parquetOfVectors([model(true)]));
    expect(await kept()).toMatchObject({ Used: 'parity', Models: [{}, { Name: 'turned', Fold: 'mean' }] });
    expect((await server.call('POST', '/api/admin/model/turned/use')).body).toMatchObject({ Used: 'turned' });
    await server.call('POST', '/api/admin/model/parity/use');
    await server.call('DELETE', '/api/admin/model/turned');
    expect(await kept()).toMatchObject({ Used: 'parity', Models: [{ Name: 'parity' }] });
    await server.call('DELETE', '/api/admin/model/parity/use');
    expect((await fitted()).Parts).not.toContain('given model');
    expect(await kept()).not.toHaveProperty('Used');
    for (const [method, path] of [
      ['DELETE', 'turned'],
      ['POST', 'turned/use'],
    ] as const)
      expect((await server.call(method, `/api/admin/model/${path}`)).body.code).toBe('MODEL_NOT_FOUND');
  });

  it('may be judged by another, which stays as long', async () => {
    expect((await put('late?judged-by=nobody', parquetOfVectors([model()]))).body.code).toBe(
      'MODEL_NOT_FOUND',
    );
    await put('early?use=false', parquetOfVectors([model(true)]));
    const { body } = await put('late?judged-by=early', parquetOfVectors([model()]));
    expect(body.Models).toMatchObject([{ Name: 'parity' }, { Name: 'early' }, { JudgedBy: 'early' }]);
    const refused = await server.call('DELETE', '/api/admin/model/early');
    expect([refused.status, refused.body.detail]).toEqual([
      400,
      'The model "late" is judged by "early"; remove that one first.',
    ]);
    for (const name of ['late', 'early', 'parity']) await server.call('DELETE', `/api/admin/model/${name}`);
    expect(await kept()).toEqual({ Models: [] });
  });

  it('come in pieces, whole or not at all', async () => {
    const { ids, vectors, ofUsers } = model();
    const parts = [0, 20].map((from) =>
      parquetOfVectors([
        { ids: ids.slice(from, from + 20), vectors: vectors.slice(from, from + 20), ofUsers },
      ]),
    );
    expect((await put('whole?piece=1:2:one', parts[0]!)).status).toBe(200);
    expect(await kept()).toEqual({ Models: [] });
    // Another file comes in between.
    expect((await put('other?piece=1:3:two', parts[0]!)).status).toBe(200);
    expect((await put('whole?piece=2:2:one', parts[1]!)).body.detail).toMatch(
      /The piece 1 of 2 is not there/,
    );
    expect((await put('other?piece=3:3:two', parts[1]!)).body.detail).toMatch(
      /The piece 2 of 3 is not there/,
    );
    expect((await put('other?piece=2:3:three', parts[1]!)).body.detail).toMatch(/another file/);
    for (const at of [1, 2]) expect((await put(`whole?piece=${at}:2:four`, parts[at - 1]!)).status).toBe(200);
    expect(await kept()).toMatchObject({ Models: [{ Name: 'whole', Items: ITEMS }] });
    await server.call('DELETE', '/api/admin/model/whole');
  });

  it.each([
    ['a?piece=0:2:x', 'INVALID_PARAMETER'],
    ['a?piece=3:2:x', 'INVALID_PARAMETER'],
    ['a?fold=none', 'INVALID_PARAMETER'],
    ['a?regularization=-1', 'INVALID_PARAMETER'],
    ['a?regularization=1e308', 'INVALID_PARAMETER'],
    ['-a', 'INVALID_PARAMETER'],
    ['a%2Fb', 'INVALID_PARAMETER'],
  ])('%s is refused', async (query, code) => {
    expect((await put(query, parquetOfVectors([model()]))).body.code).toBe(code);
  });

  it('without a byte are refused, and bodies of others come in as before', async () => {
    expect((await put('empty', new Uint8Array(0))).body.code).toBe('INVALID_BODY');
    for (let i = 0; i < 2; i++)
      expect((await server.call('POST', '/api/user', { UserId: `after${i}` })).status).toBe(200);
    expect((await put('empty', new Uint8Array(0))).body.code).toBe('INVALID_BODY');
  });

  it('that are not sound are refused and leave what serves alone', async () => {
    const bad = (change: (vectors: Float32Array[]) => void, ids = PARITY) => {
      const vectors = model().vectors;
      change(vectors);
      return put('bad', parquetOfVectors([{ ids, vectors, ofUsers: false }]));
    };
    const nothing = () => {};
    expect((await put('bad', new Uint8Array(Buffer.from('{}')))).body.detail).toMatch(
      /cannot be read as Parquet/,
    );
    expect((await bad((v) => v[7]!.fill(Number.NaN))).body.detail).toMatch(/not finite at item "i7"/);
    expect(
      (
        await bad(
          nothing,
          PARITY.map((id) => `x${id}`),
        )
      ).body.detail,
    ).toMatch(/ids of other data: 40 of its 40/);
    expect(
      (
        await bad(
          nothing,
          PARITY.map(() => 'i1'),
        )
      ).body,
    ).toMatchObject({ code: 'INVALID_BODY' });
    expect(await kept()).toEqual({ Models: [] });
    expect((await server.call('GET', '/api/recommend/u1')).body.length).toBeGreaterThan(0);
  });
});
