import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from './start.ts';

const WRITES = 40;
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

function post(number: number) {
  const records = Array.from({ length: 200 }, (_, at) => ({
    FeedbackType: 'like',
    UserId: `user-${number}`,
    ItemId: `item-${at}`,
  }));
  return server.call('POST', '/api/feedback', records);
}

test('without its writer the service refuses writes, answers reads and says that it is not ready', async () => {
  await post(0);
  const answers = Array.from({ length: WRITES }, (_, number) => post(number));
  await Promise.race(answers);
  // What no request can bring about; the writer is not started again while the test looks.
  const writer = Reflect.get(server.service.data, 'writer') as { post(message: unknown): void };
  Reflect.set(writer, 'restartMs', 86_400_000);
  writer.post({ kind: 'write' });
  const acknowledged: number[] = [];
  for (const [number, answer] of (await Promise.all(answers)).entries()) {
    expect([200, 503]).toContain(answer.status);
    if (answer.status === 200) acknowledged.push(number);
    else expect([answer.headers.get('retry-after'), answer.body.code]).toEqual(['1', 'STORE_UNAVAILABLE']);
  }
  const refused = await post(1);
  expect([refused.status, refused.body.code]).toEqual([503, 'STORE_UNAVAILABLE']);

  expect((await server.call('GET', '/api/user/user-0')).body.UserId).toBe('user-0');
  expect((await server.call('GET', '/api/recommend/user-0')).status).toBe(200);
  const ready = await server.call('GET', '/api/health/ready');
  expect(ready.status).toBe(503);
  expect(ready.body).toMatchObject({ Ready: false, DataStoreConnected: false, CacheStoreConnected: true });
  expect(ready.body.DataStoreError).not.toBe('');
  expect((await server.call('GET', '/api/health/live')).status).toBe(200);

  await server.restart();
  expect((await server.call('GET', '/api/health/ready')).status).toBe(200);
  for (const number of acknowledged) {
    expect((await server.call('GET', `/api/user/user-${number}/feedback`)).body).toHaveLength(200);
  }
  expect((await post(1)).status).toBe(200);
});
