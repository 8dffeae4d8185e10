import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from './start.ts';

/** There can be so many feedback types. */
const TYPES_MAX = 4096;
const RECORD = { UserId: 'u', ItemId: 'i', Timestamp: '2022-03-04T05:06:07Z', Comment: '' };

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ config: { server: { auto_insert_user: false } } });
  await server.call('POST', '/api/item', { ItemId: 'j', Timestamp: RECORD.Timestamp });
  await server.call('POST', '/api/users', [{ UserId: 'u' }, { UserId: 'v' }]);
});
afterAll(() => server.stop());

const recordsOf = (UserId: string, names: readonly string[]) =>
  names.map((FeedbackType) => ({ ...RECORD, FeedbackType, UserId }));
const post = async (records: readonly object[]) =>
  (await server.call('POST', '/api/feedback', records)).body as Record<string, unknown>;
const names = (kind: string, count: number) => Array.from({ length: count }, (_, at) => `${kind} ${at}`);

test('feedback types of records that are skipped, and of answers that write nothing back, use up no numbers', async () => {
  // All but one are used.
  expect(await post(recordsOf('u', names('stored', TYPES_MAX - 1)))).toEqual({ RowAffected: TYPES_MAX - 1 });
  expect(await post(recordsOf('nobody', names('skipped', TYPES_MAX)))).toEqual({ RowAffected: 0 });
  for (const path of ['nobody?n=1', 'v?n=0', 'v/no-such-category?n=5', 'v?n=5&offset=100']) {
    const type = `back-${path.replaceAll(/\W/g, '')}`;
    const { status } = await server.call('GET', `/api/recommend/${path}&write-back-type=${type}`);
    expect(status, path).toBe(200);
  }
  // Skipped ones in the same request count as little.
  const last = [...recordsOf('nobody', names('more', 10)), ...recordsOf('v', ['last'])];
  expect(await post(last)).toEqual({ RowAffected: 1 });
  expect(await post(recordsOf('v', ['one too many']))).toMatchObject({ code: 'INVALID_BODY' });
});

test('a type that an answer wrote back is given back once its feedback is gone', async () => {
  expect(await post(recordsOf('v', ['one too many']))).toMatchObject({ code: 'INVALID_BODY' });
  const refused = await server.call('GET', '/api/recommend/v?n=1&write-back-type=seen');
  expect(refused.body).toMatchObject({ code: 'INVALID_BODY' });
  await server.call('DELETE', '/api/feedback/last/v/i');
  expect((await server.call('GET', '/api/recommend/v?n=1&write-back-type=seen')).body).toEqual(['j']);
  expect(await post(recordsOf('v', ['one too many']))).toMatchObject({ code: 'INVALID_BODY' });
  await server.call('DELETE', '/api/feedback/seen/v/j');
  expect(await post(recordsOf('v', ['one too many']))).toEqual({ RowAffected: 1 });
});
