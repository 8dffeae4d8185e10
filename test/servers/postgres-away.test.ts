import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Connection } from '../../src/store/postgres/connection.ts';
import { startTestServer, type TestServer } from '../http/start.ts';
import { HAS_POSTGRES } from '../store/postgres/under-test.ts';
import { startPostgres, type TestPostgres } from './postgres.ts';

describe.skipIf(!HAS_POSTGRES)('a node whose PostgreSQL goes and comes', () => {
  let postgres: TestPostgres;
  let node: TestServer;
  let databases = 0;

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

  test('one that stands still is away after seconds; what waited for it may be stored, and is told so', async () => {
    const write = (UserId: string) => node.call('POST', '/api/users', [{ UserId }]);
    expect((await write('moving')).status).toBe(200);
    const children = execFileSync('pgrep', ['-P', `${postgres.processId}`], { encoding: 'utf8' });
    const all = [postgres.processId, ...children.trim().split('\n').map(Number)];
    try {
      for (const id of all) process.kill(id, 'SIGSTOP');
      for (const refused of await Promise.all([write('still-1'), write('still-2')])) {
        expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
        expect(refused.body.detail).toContain('may be stored: send it again');
      }
      expect((await write('still-3')).status).toBe(503);
      expect((await node.call('GET', '/api/health/ready')).text).toContain('the database does not answer');
      expect((await node.call('GET', '/api/user/moving')).body).toMatchObject({ UserId: 'moving' });
    } finally {
      for (const id of all) process.kill(id, 'SIGCONT');
    }
    for (const id of ['still-1', 'still-2', 'still-3'])
      await until(async () => (await write(id)).status === 200);
    await until(async () => (await node.call('GET', '/api/health/ready')).status === 200);
  });

  test.each([
    ['lets its user in no more', 'ALTER ROLE visitor NOLOGIN', 'ALTER ROLE visitor LOGIN'],
    [
      'lets its user no more to the tables',
      'REVOKE ALL ON ALL TABLES IN SCHEMA furze FROM visitor',
      'GRANT ALL ON ALL TABLES IN SCHEMA furze TO visitor',
    ],
  ])('one that %s is away until somebody mends it', async (_, shut, open) => {
    const database = `db${databases++}`;
    const at = (user: string) => {
      const url = new URL(postgres.url);
      [url.pathname, url.username] = [database, user];
      return url.href;
    };
    const ask = async (url: string, ...queries: string[]) => {
      const connection = await Connection.open(
        { engine: 'postgres', url, sessionUrl: url, schema: 'x' },
        'test',
      );
      for (const query of queries) await connection.run(query);
      await connection.close();
    };
    if (databases === 1) await ask(postgres.url, 'CREATE ROLE visitor LOGIN');
    await ask(postgres.url, `CREATE DATABASE ${database} OWNER visitor`);
    const visitor = await startTestServer({
      config: { database: { data_store: at('visitor'), sync: 'disk' } },
    });
    const write = (UserId: string) => visitor.call('POST', '/api/users', [{ UserId }]);
    try {
      expect((await write('before')).status).toBe(200);
      const others = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'visitor'`;
      await ask(at('furze'), shut, others);
      const refused = await write('during');
      expect([refused.status, refused.body.code]).toEqual([503, 'STORE_UNAVAILABLE']);
      expect((await visitor.call('GET', '/api/user/before')).body).toMatchObject({ UserId: 'before' });
      await until(async () => (await visitor.call('GET', '/api/health/ready')).status === 503);
      await ask(at('furze'), open);
      await until(async () => (await write('after')).status === 200);
      await until(async () => (await visitor.call('GET', '/api/health/ready')).status === 200);
      expect((await visitor.call('GET', '/api/user/during')).status).toBe(404);
    } finally {
      await visitor.stop();
    }
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
