import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/domain/config.ts';
import { Furze } from './run-furze.ts';

const folder = mkdtempSync(join(tmpdir(), 'furze-cli-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fileOf(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

async function run(args: readonly string[], env?: Record<string, string>) {
  const furze = new Furze(args, env);
  return { code: await furze.exit, output: furze.output };
}

describe('furze config', () => {
  it('prints the effective configuration with the secret masked', async () => {
    const path = fileOf('print.toml', '[server]\nport = 9\napi_key = "hush"\n');
    const { code, output } = await run(['config', '--print', '--config', path], { FURZE_LOG_LEVEL: 'warn' });
    expect(code).toBe(0);
    expect(output).not.toContain('hush');
    const { server, log } = parseConfig(output);
    expect([server.port, server.api_key, log.level]).toEqual([9, '********', 'warn']);
  });
});

describe('arguments and configuration that are not valid', () => {
  it.each([
    [
      'an unknown key',
      ['serve', '--config', fileOf('unknown.toml', '[server]\nprot = 1\n')],
      /server\.prot: unknown key/,
    ],
    [
      'no such file',
      ['serve', '--config', join(folder, 'none.toml')],
      /none\.toml: cannot be read \(ENOENT\)/,
    ],
    ['a bad port', ['playground', '--port', '70000'], /expected an integer from 0 to 65535/],
    ['an unknown option', ['serve', '--prot', '1'], /unknown option '--prot'/],
  ])('%s ends the start with code 2 and says what is wrong', async (_, args, message) => {
    const { code, output } = await run(args);
    expect(code).toBe(2);
    expect(output).toMatch(message);
  });
});

describe('furze serve', () => {
  const store = join(folder, 'store');
  const env = {
    FURZE_DATABASE_DATA_STORE: `lmdb://${store}`,
    FURZE_DATABASE_CACHE_STORE: `lmdb://${store}/cache`,
    FURZE_SERVER_API_KEY: 'hush',
  };
  const serve = () =>
    new Furze(
      ['serve', '--config', fileOf('serve.toml', '[server]\nport = 0\n[log]\nlevel = "info"\n')],
      env,
    );
  const urlOf = async (furze: Furze) => (await furze.waitFor(/"url":"([^"]+)"/))[1] as string;
  const headers = { 'X-API-Key': 'hush' };

  it.each(['SIGTERM', 'SIGINT'] as const)('listens, and stops cleanly on %s', async (signal) => {
    const furze = serve();
    const url = await urlOf(furze);
    expect((await fetch(`${url}/api/health/ready`)).status).toBe(200);
    expect((await fetch(`${url}/api/users`)).status).toBe(401);
    const user = JSON.stringify({ UserId: signal });
    expect((await fetch(`${url}/api/user`, { method: 'POST', body: user, headers })).status).toBe(200);
    expect(await furze.stop(signal)).toBe(0);
    expect(furze.output).toContain('"msg":"stopped"');
    expect(furze.output).not.toContain('hush');
  });

  it('has what it stored after furze compact', async () => {
    const { code, output } = await run(['compact'], env);
    expect(output).toMatch(/[\d,]+ bytes before, [\d,]+ bytes after/);
    expect(code).toBe(0);
    const furze = serve();
    const answer = await fetch(`${await urlOf(furze)}/api/user/SIGTERM`, { headers });
    expect(await answer.json()).toMatchObject({ UserId: 'SIGTERM' });
    expect(await furze.stop('SIGTERM')).toBe(0);
  });
});
