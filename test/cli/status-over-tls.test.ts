import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { writeSelfSigned } from '../http/self-signed.ts';
import { Furze } from './run-furze.ts';

const folder = mkdtempSync(join(tmpdir(), 'furze-over-tls-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a service of this machine is asked over TLS whatever name its certificate is for, one elsewhere is not', async () => {
  const { certPath, keyPath } = await writeSelfSigned(folder, 'own');
  const data = join(folder, 'data');
  const config = join(folder, 'furze.toml');
  const server = { api_key: 'secret', ssl_cert: certPath, ssl_key: keyPath, port: 0 };
  const lines = Object.entries(server).map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`);
  writeFileSync(config, `[server]\n${lines.join('')}`);
  const run = async (...args: string[]) => {
    const furze = new Furze([...args, '--config', config]);
    return { code: await furze.exit, output: furze.output };
  };
  const service = new Furze(['serve', '--config', config, '--data', data]);
  const url = (await service.waitFor(/"url":"(https:[^"]+)"/))[1] as string;
  const status = await run('status', '--data', data, '--timeout', '600');
  expect([status.code, status.output]).toEqual([0, expect.stringMatching(/^Ready/)]);
  const likes = join(folder, 'likes.csv');
  writeFileSync(likes, `user,item\n${Array.from({ length: 12_000 }, (_, at) => `u${at},tea\n`).join('')}`);
  const imported = await run('import', 'feedback', likes, '--url', url);
  expect([imported.code, imported.output]).toEqual([0, expect.stringContaining('12,000 feedback stored')]);
  const copy = await run('backup', join(folder, 'copy'), '--url', url);
  expect([copy.code, copy.output]).toEqual([0, expect.stringContaining('12,000 feedback')]);
  // The same service by an address that is not known to be of this machine alone.
  const elsewhere = url.replace('127.0.0.1', '0.0.0.0');
  const refused = await run('status', '--url', elsewhere, '--timeout', '600');
  expect(refused).toEqual({
    code: 2,
    output: `furze: The certificate of ${elsewhere} is not trusted here (DEPTH_ZERO_SELF_SIGNED_CERT); NODE_EXTRA_CA_CERTS=FILE names its authority's.\n`,
  });
  expect(await service.stop('SIGTERM')).toBe(0);
});
