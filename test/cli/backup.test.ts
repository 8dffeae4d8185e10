import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Furze } from './run-furze.ts';

const folder = mkdtempSync(join(tmpdir(), 'furze-backup-cli-'));
const store = join(folder, 'store');
const env = {
  FURZE_DATABASE_DATA_STORE: `lmdb://${store}`,
  FURZE_DATABASE_CACHE_STORE: `lmdb://${store}/cache`,
  FURZE_SERVER_API_KEY: 'hush',
  FURZE_SERVER_PORT: '0',
};
const USERS = 300;
let service: Furze;
let url: string;

beforeAll(async () => {
  service = new Furze(['serve'], env);
  url = (await service.waitFor(/"url":"([^"]+)"/))[1] as string;
  const users = Array.from({ length: USERS }, (_, at) => ({
    UserId: `u${at}`,
    Comment: `${at}`.repeat(2000),
  }));
  const body = JSON.stringify(users);
  const headers = { 'X-API-Key': 'hush' };
  expect((await fetch(`${url}/api/users`, { method: 'POST', headers, body })).status).toBe(200);
});
afterAll(async () => {
  await service.stop('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});

async function run(args: readonly string[], more: Record<string, string> = {}, wrapper: string[] = []) {
  const furze = new Furze(args, { ...env, ...more }, wrapper);
  return { code: await furze.exit, output: furze.output };
}
const file = (name: string) => join(folder, name, 'data.mdb');

it('a backup over HTTP is the one that is made on the folder, in a folder or through a pipe', async () => {
  const direct = await run(['backup', join(folder, 'direct'), '--json']);
  const over = await run(['backup', join(folder, 'over'), '--url', url, '--json']);
  expect([direct.code, over.code]).toEqual([0, 0]);
  const { file: _direct, ...copied } = JSON.parse(direct.output);
  expect(JSON.parse(over.output)).toMatchObject(copied);
  expect(copied).toMatchObject({ users: USERS });
  // The service notes who takes a copy, so the files themselves differ by that.
  const contents = async (name: string, path: string) => {
    const data = join(folder, `restored-${name}`);
    const restored = await run(['restore', path, '--data', data]);
    expect([restored.code, restored.output]).toEqual([0, expect.stringMatching(/: 300 users, 0 items/)]);
    const exported = await run(['export', 'users', '--data', data]);
    expect(exported.code).toBe(0);
    return exported.output;
  };
  const whole = await contents('direct', file('direct'));
  expect(whole.split('\n').filter((line) => line.startsWith('{'))).toHaveLength(USERS);
  expect((await contents('over', file('over'))) === whole).toBe(true);
  const pipe = ['sh', '-c', `exec "$0" "$@" > ${join(folder, 'piped.mdb')}`];
  expect((await run(['backup', '-', '--url', `${url}/`], {}, pipe)).code).toBe(0);
  expect((await contents('piped', join(folder, 'piped.mdb'))) === whole).toBe(true);
});

it('what cannot be is one line, exit code 1, and nothing is left', async () => {
  const wrong = await run(['backup', join(folder, 'no'), '--url', url], { FURZE_SERVER_API_KEY: 'other' });
  const nowhere = await run(['backup', join(folder, 'no'), '--url', 'http://127.0.0.1:2']);
  const over = await run(['backup', store, '--url', url]);
  const absent = await run(['backup', join(folder, 'no'), '--data', join(folder, 'none')]);
  const compact = await run(['compact', '--url', 'http://127.0.0.1:2']);
  expect([wrong, nowhere, over, absent, compact].map(({ code }) => code)).toEqual([1, 1, 1, 1, 1]);
  expect(wrong.output).toMatch(/^furze: http:\S+ asks for its key; set FURZE_SERVER_API_KEY\.\n$/);
  expect(nowhere.output).toMatch(/^furze: http:\S+ does not answer \(ECONNREFUSED\); .+\n$/);
  expect(over.output).toMatch(/^furze: There is a data store in .+ already\. .+\n$/);
  expect(absent.output).toMatch(/^furze: There is no data store in .+\n$/);
  expect(readdirSync(folder)).not.toContain('no');
});

it.each([
  ['of the folder', () => []],
  ['over HTTP', () => ['--url', url]],
])(
  'a backup %s that is killed leaves nothing that passes for one, and the next succeeds',
  async (_, more) => {
    const target = join(folder, `killed-${more().length}`);
    const killed = new Furze(['backup', target, ...more()], env);
    // The folder of the copy in the making is the first that is seen of it.
    const isMaking = () => readdirSync(folder).includes(target.slice(folder.length + 1));
    while (!isMaking() && killed.process.exitCode === null)
      await new Promise((resolve) => setTimeout(resolve, 1));
    await killed.stop('SIGKILL');
    // The service goes on, and keeps nothing for who asked.
    const headers = { 'X-API-Key': 'hush' };
    const body = JSON.stringify({ UserId: 'u0', Comment: '0'.repeat(2000) });
    expect((await fetch(`${url}/api/user`, { method: 'POST', headers, body })).status).toBe(200);
    await expect.poll(() => readdirSync(store).filter((name) => name.startsWith('partial-'))).toEqual([]);
    // What has the name is whole, be it of the one that was killed.
    if (!readdirSync(target).includes('data.mdb')) {
      const half = await run(['restore', target, '--data', `${target}-half`]);
      expect([half.code, half.output]).toEqual([1, `furze: There is no backup in ${target}.\n`]);
      const { code, output } = await run(['backup', target, ...more()]);
      expect([code, output]).toEqual([0, expect.stringContaining('300 users')]);
      expect(readdirSync(target)).toEqual(['data.mdb', 'data.mdb.sha256']);
    }
    const restored = await run(['restore', join(target, 'data.mdb'), '--data', `${target}-restored`]);
    expect([restored.code, restored.output]).toEqual([0, expect.stringMatching(/: 300 users, 0 items/)]);
  },
);

it('a running service compacts its store at a command', async () => {
  for (let at = 0; at < USERS - 10; at++)
    await fetch(`${url}/api/user/u${at}`, { method: 'DELETE', headers: { 'X-API-Key': 'hush' } });
  const refused = await run(['compact', '--lock-wait', '0']);
  expect([refused.code, refused.output]).toEqual([1, expect.stringContaining('with --url')]);
  const { code, output } = await run(['compact', '--url', url, '--json']);
  expect(code).toBe(0);
  const { bytesBefore, bytesAfter } = JSON.parse(output);
  expect(bytesAfter).toBeLessThan(bytesBefore / 2);
  expect(await (await run(['check', store])).code).toBe(0);
});
