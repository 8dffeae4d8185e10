import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Furze } from '../cli/run-furze.ts';
import { HAS_POSTGRES } from '../store/postgres/under-test.ts';
import { newPostgresDsn } from './dsn.ts';

const folder = mkdtempSync(join(tmpdir(), 'furze-kill-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const urlOf = async (node: Furze) => (await node.waitFor(/"url":"([^"]+)"/))[1] as string;

test.skipIf(!HAS_POSTGRES)(
  'what a node had answered is there after it was killed, on the others and on itself',
  async () => {
    const dataStore = newPostgresDsn();
    const serve = (name: string) =>
      new Furze(['serve'], {
        FURZE_DATABASE_DATA_STORE: dataStore.replace('furze@', 'furze:s3cret@'),
        FURZE_DATABASE_REPLICA: `lmdb://${join(folder, name)}`,
        FURZE_DATABASE_CACHE_STORE: `lmdb://${join(folder, name, 'cache')}`,
        FURZE_SERVER_PORT: '0',
        FURZE_WORKER_THREADS: '1',
      });
    const nodes = [serve('a'), serve('b')] as const;
    const [a, b] = [await urlOf(nodes[0]), await urlOf(nodes[1])];
    const answered: string[] = [];
    const post = async (id: string) => {
      const body = JSON.stringify([
        { FeedbackType: 'like', UserId: id, ItemId: 'i', Timestamp: '2024-01-01' },
      ]);
      const response = await fetch(`${a}/api/feedback`, { method: 'POST', body }).catch(() => undefined);
      if (response?.status === 200) answered.push(id);
    };
    await post('first');
    const flood = Array.from({ length: 300 }, (_, at) => post(`u${at}`));
    await Promise.all(flood.slice(0, 20));
    await nodes[0].stop('SIGKILL');
    await Promise.all(flood);
    expect(answered.length).toBeGreaterThanOrEqual(21);
    const known = async (url: string) => {
      const page = (await (await fetch(`${url}/api/users?n=1000`)).json()) as { Users: { UserId: string }[] };
      return page.Users.map(({ UserId }) => UserId);
    };
    expect(await known(b)).toEqual(expect.arrayContaining(answered));
    const again = serve('a');
    const url = await urlOf(again);
    expect((await known(url)).sort()).toEqual((await known(b)).sort());
    expect(await again.stop('SIGTERM')).toBe(0);
    expect(await nodes[1].stop('SIGTERM')).toBe(0);
    for (const node of [...nodes, again]) expect(node.output).not.toContain('s3cret');
  },
);
