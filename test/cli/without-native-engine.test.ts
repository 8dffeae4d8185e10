import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Furze } from './run-furze.ts';

const folder = mkdtempSync(join(tmpdir(), 'furze-no-native-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Loaded before the program: no build of uWebSockets.js loads, as where the package is gone or the C library too old. */
const hook = join(folder, 'no-native.cjs');
writeFileSync(
  hook,
  `const { _extensions } = require('node:module');
const load = _extensions['.node'];
_extensions['.node'] = (module, file) => {
  if (/uws_/.test(file)) throw new Error('gone');
  load(module, file);
};
`,
);
const env = { NODE_OPTIONS: `--require ${hook}` };
const SAID = /HTTP engine: node:http, at 0\.\d+ of the speed of the native one, which .* have/;

test('a service says in its first lines what has the faster engine, without a warning and a name of a file', async () => {
  const furze = new Furze(['serve', '--data', join(folder, 'serve'), '--port', '0'], env);
  await furze.waitFor(/"msg":"listening"/);
  const lines = furze.output.split('\n').filter((line) => line.startsWith('{'));
  const line = lines.find((each) => SAID.test(each))!;
  expect(JSON.parse(line)).toMatchObject({ level: 'info', engine: 'node' });
  expect(furze.output).not.toMatch(/\.node\b|"level":"warn"[^\n]*engine/);
  const url = /"url":"(http[^"]+)"/.exec(furze.output)![1]!;
  expect((await fetch(`${url}/api/health/ready`)).status).toBe(200);
  expect(await furze.stop('SIGTERM')).toBe(0);
});

test('the playground runs without it', async () => {
  const furze = new Furze(['playground', '--data', join(folder, 'playground'), '--port', '0'], env);
  const [, url] = await furze.waitFor(/API page: (\S+)\/apidocs/);
  const popular = (await (await fetch(`${url}/api/popular?n=3`)).json()) as unknown[];
  expect(popular).toHaveLength(3);
  expect(await furze.stop('SIGTERM')).toBe(0);
});
