import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, inject, test } from 'vitest';
import { Furze, QUICK_FIT } from '../cli/run-furze.ts';
import { HAS_POSTGRES } from '../store/postgres/under-test.ts';
import { newPostgresDsn, newRedisDsn } from './dsn.ts';

const folder = mkdtempSync(join(tmpdir(), 'furze-split-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const READY = /API page: (\S+)\/apidocs/;

test.skipIf(!HAS_POSTGRES)(
  'the playground runs on a server that learns nothing, beside a worker, over PostgreSQL and Redis',
  async () => {
    const dataStore = newPostgresDsn();
    const envOf = (name: string, role: string) => ({
      FURZE_NODE_NAME: name,
      FURZE_NODE_ROLE: role,
      FURZE_DATABASE_DATA_STORE: dataStore,
      FURZE_DATABASE_REPLICA: `lmdb://${join(folder, name)}`,
      FURZE_DATABASE_CACHE_STORE: cacheStore,
      FURZE_SERVER_PORT: '0',
      FURZE_WORKER_THREADS: '1',
      FURZE_RECOMMEND_DATA_SOURCE_POSITIVE_FEEDBACK_TYPES: 'like',
      FURZE_RECOMMEND_DATA_SOURCE_READ_FEEDBACK_TYPES: 'read',
      ...QUICK_FIT,
    });
    // Without a Redis, which the set-up has said, lists are in a table.
    const cacheStore = inject('redisUrl') === '' ? dataStore : newRedisDsn();
    const worker = new Furze(['serve'], envOf('worker', 'worker'));
    await worker.waitFor(/"url":"([^"]+)"/);
    const args = ['playground', '--data', join(folder, 'playground'), '--port', '0'];
    const start = () => new Furze(args, envOf('server', 'server'));
    const first = start();
    const url = (await first.waitFor(READY))[1]!;
    expect(first.output).toMatch(/^ratings: 100,000 done$/m);
    expect(first.output).toMatch(/^learning, by the node that leads.* done$/m);
    expect(first.output).not.toContain('Training');
    expect(worker.output).toMatch(/this node leads/);
    const requests = Array.from(first.output.matchAll(/^ {2}curl '([^']+)'$/gm), ([, request]) => request!);
    expect(requests).toHaveLength(3);
    const answers = await Promise.all(requests.map(async (request) => (await fetch(request)).json()));
    for (const answer of answers) expect(answer).toHaveLength(5);
    const personal = requests.find((request) => request.startsWith(`${url}/api/recommend/`))!;
    const popular = (await (await fetch(`${url}/api/popular?n=5`)).json()) as { Id: string }[];
    const own = answers[requests.indexOf(personal)] as string[];
    expect(own.filter((itemId) => popular.some(({ Id }) => Id === itemId)).length).toBeLessThan(3);
    expect(await first.stop('SIGINT')).toBe(0);
    const second = start();
    await second.waitFor(READY);
    expect(second.output).toContain('Using the sample');
    expect(await second.stop('SIGTERM')).toBe(0);
    expect(await worker.stop('SIGTERM')).toBe(0);
  },
  1_200_000,
);
