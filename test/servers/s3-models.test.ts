import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type PostgresDsn, parseDsn } from '../../src/store/dsn.ts';
import { KEPT_NAMES } from '../../src/store/model-store.ts';
import { Connection } from '../../src/store/postgres/connection.ts';
import { ModelObjects } from '../../src/store/s3/model-objects.ts';
import type { TestServer } from '../http/start.ts';
import { HAS_POSTGRES } from '../store/postgres/under-test.ts';
import { newPostgresDsn } from './dsn.ts';
import { freshAnswer, LIKES, PATIENT, servedGeneration, startNode } from './roles.ts';
import { HAS_S3, objectPlace, startS3, type TestS3 } from './s3.ts';

describe.skipIf(!HAS_POSTGRES || !HAS_S3)('nodes whose learned models are in a bucket', () => {
  let s3: TestS3;
  let worker: TestServer;
  let server: TestServer;
  let connection: Connection;
  let modelStore: string;
  let dsn: PostgresDsn;

  beforeAll(async () => {
    s3 = await startS3();
    modelStore = s3.newDsn();
    const dataStore = newPostgresDsn();
    dsn = parseDsn(dataStore) as PostgresDsn;
    worker = await startNode(dataStore, 'worker', 'w1', modelStore);
    server = await startNode(dataStore, 'server', 's1', modelStore);
    connection = await Connection.open(dsn, 'test');
    await server.call('POST', '/api/feedback', LIKES);
  });

  afterAll(async () => {
    await server?.stop();
    await worker?.stop();
    await connection?.close();
    await s3?.stop();
  });

  const served = (node: TestServer, generation: number) =>
    vi.waitFor(async () => expect(await servedGeneration(node)).toBe(generation), PATIENT);
  /** Feedback that the worker knows of, too. */
  const like = async (ItemId: string) => {
    await server.call('POST', '/api/feedback', [{ FeedbackType: 'like', UserId: 'u1', ItemId }]);
    await freshAnswer(worker, '/api/user/u1');
  };
  const linesOf = (node: TestServer, text: string) => node.lines.filter((line) => line.includes(text));
  /** The numbers of the generations that there are objects of. */
  const generations = async () => {
    const numbers = (await s3.names(modelStore)).map((name) => Number(/\/(\d+)-\d+-\d+\//.exec(name)![1]));
    return [...new Set(numbers)].sort();
  };

  test('what a worker has learned goes there, and a server that joins takes it from there', async () => {
    await worker.service.fit();
    await served(server, 1);
    expect(await generations()).toEqual([1]);
    const names = await connection.rows<[string]>(`SELECT name FROM "${dsn.schema}".model_parts`);
    expect(names.flat().filter((name) => !name.startsWith(KEPT_NAMES))).toEqual([]);
    const list = async (node: TestServer) => (await node.call('GET', '/api/recommend/u5?n=20')).body;
    const joined = await startNode(`${dsn.url}?schema=${dsn.schema}`, 'server', 's2', modelStore);
    await served(joined, 1);
    // It makes lists once it has counted feedback.
    await vi.waitFor(async () => expect(await list(joined)).not.toHaveLength(0), PATIENT);
    expect(await list(joined)).toEqual(await list(worker));
    await joined.stop();
  });

  test('while the bucket is away the last generation serves, and the next is published once it is back', async () => {
    await s3.pause();
    await like('new40');
    const fit = worker.service.fit();
    const told = 'what was learned cannot be stored yet';
    await vi.waitFor(() => expect(linesOf(worker, told)).toHaveLength(1), PATIENT);
    // Some tries more.
    await new Promise((resolve) => setTimeout(resolve, 3000));
    expect(await servedGeneration(server)).toBe(1);
    expect((await server.call('GET', '/api/recommend/u5?n=20')).body).not.toHaveLength(0);
    await s3.resume();
    expect(await fit).toMatchObject({ unchanged: false });
    await served(server, 2);
    expect(linesOf(worker, told)).toHaveLength(1);
    expect(linesOf(worker, told)[0]).toMatch(/the bucket models: ECONN/);
  });

  test('where an object is damaged the last generation serves, which is said once, until it can be read', async () => {
    const names = (await s3.names(modelStore)).filter((name) => /\/2-\d+-\d+\//.test(name));
    await s3.change(names[0]!, (bytes) => bytes.reverse());
    await connection.run(
      `UPDATE "${dsn.schema}".generation SET number = 3, mark = (mark::jsonb || '{"generation": 3}')::json`,
    );
    const told = 'the published generation could not be taken over';
    await vi.waitFor(() => expect(linesOf(server, told)).toHaveLength(1), PATIENT);
    expect(linesOf(server, told)[0]).toContain(`the object ${names[0]} is damaged`);
    // Some tries more.
    await new Promise((resolve) => setTimeout(resolve, 4000));
    expect(await servedGeneration(server)).toBe(2);
    expect(linesOf(server, told)).toHaveLength(1);
    await s3.change(names[0]!, (bytes) => bytes.reverse());
    await served(server, 3);
    await served(worker, 3);
  });

  test('objects of older generations go, and what a leader that died has left', async () => {
    const [name] = await s3.names(modelStore);
    const left = new ModelObjects(objectPlace(modelStore, name!.split('/')[1]));
    await left.putBlob('als/4-0-1', new Uint8Array(9));
    left.close();
    for (const [item, number] of [
      ['new41', 4],
      ['new42', 5],
    ] as const) {
      await like(item);
      await worker.service.fit();
      await served(server, number);
    }
    await vi.waitFor(async () => expect(await generations()).toEqual([4, 5]), PATIENT);
    expect((await s3.names(modelStore)).filter((each) => each.includes('als/4-0-1'))).toEqual([]);
  });

  test('nobody is shown the keys', async () => {
    const shown = await Promise.all(
      ['/api/admin/config', '/api/admin/summary', '/metrics'].map((path) => server.call('GET', path)),
    );
    expect(shown[0]!.text).toContain('s3://models/t');
    const all = [...shown.map(({ text }) => text), ...server.lines, ...worker.lines];
    expect(all.filter((text) => text.includes('veiled'))).toEqual([]);
  });
});
