import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { Furze } from './run-furze.ts';

const folder = mkdtempSync(join(tmpdir(), 'furze-locks-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const store = join(folder, 'store');
const env = {
  FURZE_DATABASE_DATA_STORE: `lmdb://${store}`,
  FURZE_DATABASE_CACHE_STORE: `lmdb://${store}/cache`,
  FURZE_SERVER_PORT: '0',
};
const serve = (...args: string[]) => new Furze(['serve', ...args], env);

/** Has a fault that nothing catches when it is told so. */
const FAULTY = {
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(
    "process.on('SIGUSR2',()=>{Promise.reject(new Error('made by the test'))})",
  )}`,
};
const urlOf = async (furze: Furze) => (await furze.waitFor(/"url":"([^"]+)"/))[1] as string;

it('a folder in use is refused in one line that names the process, and passed on when that one stops, for whatever reason', async () => {
  mkdirSync(join(store, 'partial-left'), { recursive: true });
  writeFileSync(join(store, 'partial-left', 'data.mdb'), 'cut off');
  const first = serve();
  const url = await urlOf(first);
  expect(readdirSync(store)).not.toContain('partial-left');
  const orders = join(folder, 'orders.csv');
  writeFileSync(orders, 'user,item\nann,tea\n');
  const imports = [[orders], ['vectors', orders, '--space', 'text']].map(
    (files) => new Furze(['import', ...files, '--lock-wait', '0'], env),
  );
  const refused = [serve('--lock-wait', '0'), new Furze(['compact', '--lock-wait', '0'], env), ...imports];
  for (const furze of refused) {
    expect(await furze.exit).toBe(1);
    expect(furze.output).toMatch(
      new RegExp(`^furze: The folder \\S+ is in use by process ${first.process.pid} on .+\\n$`),
    );
  }
  for (const { output } of imports) expect(output).toMatch(/Or import while it serves, with --url\.\n$/);
  // A backup needs no lock, and leaves the service alone.
  const copy = join(folder, 'copy');
  const backup = new Furze(['backup', copy, '--json'], env);
  expect(await backup.exit).toBe(0);
  expect(JSON.parse(backup.output)).toMatchObject({ users: 0, feedback: 0 });
  const over = new Furze(['restore', copy, '--data', store], env);
  const beside = new Furze(['restore', copy, '--data', join(folder, 'other')], env);
  expect([await over.exit, await beside.exit]).toEqual([1, 0]);
  expect(over.output).toMatch(/^furze: There is a data store in .+ already\. .+\n$/);
  expect(beside.output).toMatch(/: 0 users, 0 items, 0 feedback; [\d,]+ bytes\n$/);

  const next = new Furze(['serve', '--lock-wait', '600'], { ...env, ...FAULTY });
  // It has begun to wait when the first one stops.
  await next.waitFor(/"msg":"waiting for/);
  const body = JSON.stringify({ UserId: 'u' });
  expect((await fetch(`${url}/api/user`, { method: 'POST', body })).status).toBe(200);
  expect(await first.stop('SIGTERM')).toBe(0);
  expect((await fetch(`${await urlOf(next)}/api/user/u`)).status).toBe(200);
  // A fault that nothing catches ends it in order.
  expect(await next.stop('SIGUSR2')).toBe(1);
  expect(next.output).toMatch(/made by the test.*nothing caught; stopping[\s\S]*"msg":"stopped"/);
  expect(next.output).toMatch(/^furze: stopped after a fault/m);
});
