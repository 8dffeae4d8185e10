import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../http/start.ts';
import { HAS_POSTGRES } from '../store/postgres/under-test.ts';
import { startPostgres, type TestPostgres } from './postgres.ts';

describe.skipIf(!HAS_POSTGRES)('a node whose PostgreSQL goes and comes', () => {
  let postgres: TestPostgres;
  let node: TestServer;

  beforeAll(async () => {
    postgres = (await startPostgres())!;
    node = await startTestServer({ config: { database: { data_store: postgres.url, sync: 'disk' } } });
  });

  afterAll(async () => {
    await node?.stop();
    await postgres?.stop();
  });

  test('reads go on and say so, writes are refused, and all is well again by itself', async () => {
    await node.call('POST', '/api/users', [{ UserId: 'before' }]);
    await postgres.pause();
    const refused = await node.call('POST', '/api/users', [{ UserId: 'during' }]);
    expect(refused.status).toBe(503);
    expect(refused.body.code).toBe('STORE_UNAVAILABLE');
    const read = await node.call('GET', '/api/user/before');
    expect(read.body).toMatchObject({ UserId: 'before' });
    expect(read.headers.get('x-furze-stale')).toBe('true');
    await until(async () => (await node.call('GET', '/api/health/ready')).status === 503);
    await postgres.resume();
    await until(async () => (await node.call('POST', '/api/users', [{ UserId: 'after' }])).status === 200);
    await until(async () => {
      const again = await node.call('GET', '/api/user/after');
      return again.status === 200 && again.headers.get('x-furze-stale') === null;
    });
    await until(async () => (await node.call('GET', '/api/health/ready')).status === 200);
    expect((await node.call('GET', '/api/user/during')).status).toBe(404);
  });

  test('no password is logged or shown', async () => {
    const other = startTestServer({
      config: { database: { data_store: 'postgres://me:s3cret@127.0.0.1:1/nowhere' } },
    });
    await expect(other).rejects.toThrow(/postgres:\/\/127\.0\.0\.1:1\/nowhere cannot be reached/);
    await expect(other).rejects.not.toThrow(/s3cret|me:/);
  });
});

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 100));
}
