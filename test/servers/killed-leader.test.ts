import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type PostgresDsn, parseDsn } from '../../src/store/dsn.ts';
import { Connection } from '../../src/store/postgres/connection.ts';
import { Furze } from '../cli/run-furze.ts';
import { HAS_POSTGRES } from '../store/postgres/under-test.ts';
import { newPostgresDsn } from './dsn.ts';
import { LIKES, PATIENT, servedGeneration, startNode } from './roles.ts';
import { HAS_S3, startS3, type TestS3 } from './s3.ts';

describe.skipIf(!HAS_POSTGRES || !HAS_S3)('a leader that is killed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'furze-killed-'));
  let s3: TestS3;
  beforeAll(async () => {
    s3 = await startS3();
  });
  afterAll(async () => {
    await s3?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('before it has published what it put into a bucket leaves nothing there once another has', async () => {
    const [dataStore, modelStore] = [newPostgresDsn(), s3.newDsn()];
    const leader = new Furze(['serve', '--role', 'worker'], {
      FURZE_DATABASE_DATA_STORE: dataStore,
      FURZE_DATABASE_MODEL_STORE: modelStore,
      FURZE_DATABASE_REPLICA: `lmdb://${join(folder, 'replica')}`,
      FURZE_DATABASE_CACHE_STORE: `lmdb://${join(folder, 'cache')}`,
      FURZE_RECOMMEND_DATA_SOURCE_POSITIVE_FEEDBACK_TYPES: 'like',
      FURZE_RECOMMEND_COLLABORATIVE_EPOCHS: '3',
      FURZE_SERVER_PORT: '0',
      FURZE_WORKER_THREADS: '1',
    });
    const [, url] = await leader.waitFor(/"url":"([^"]+)"/);
    const dsn = parseDsn(dataStore) as PostgresDsn;
    const [connection, keeper] = await Promise.all([
      Connection.open(dsn, 'test'),
      Connection.open(dsn, 'keeper'),
    ]);
    const epoch = () => connection.rows(`SELECT epoch FROM "${dsn.schema}".generation`);
    await vi.waitFor(async () => expect(await epoch()).toEqual([[1]]), PATIENT);
    // Nobody can publish.
    await keeper.run('SET idle_in_transaction_session_timeout = 0');
    await keeper.run('BEGIN');
    await keeper.run(`SELECT 1 FROM "${dsn.schema}".generation FOR UPDATE`);
    await fetch(`${url}/api/feedback`, { method: 'POST', body: JSON.stringify(LIKES) });
    fetch(`${url}/api/admin/fit`, { method: 'POST' }).catch(() => {});
    const publishing = () =>
      connection.rows<[number]>(
        `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE $1`,
        [`UPDATE "${dsn.schema}".generation SET number%`],
      );
    await vi.waitFor(async () => expect(await publishing()).toHaveLength(1), PATIENT);
    const left = await s3.names(modelStore);
    expect(left).not.toEqual([]);
    const [[process]] = (await publishing()) as [[number]];
    await leader.stop('SIGKILL');
    // The server would carry out what it was asked, though nobody waits for the answer.
    await connection.run('SELECT pg_terminate_backend($1)', [process]);
    await keeper.close();
    const next = await startNode(dataStore, 'worker', 'w2', modelStore);
    const fit = async () => expect((await next.call('POST', '/api/admin/fit')).status).toBeLessThan(300);
    await vi.waitFor(fit, PATIENT);
    await vi.waitFor(async () => expect(await servedGeneration(next)).toBe(1), PATIENT);
    const isOf = (names: string[], epoch: number) => names.every((name) => name.includes(`/1-${epoch}-`));
    expect(isOf(left, 1)).toBe(true);
    await vi.waitFor(async () => expect(isOf(await s3.names(modelStore), 2)).toBe(true), PATIENT);
    expect(await s3.names(modelStore)).not.toEqual([]);
    await next.stop();
    await connection.close();
  });
});
