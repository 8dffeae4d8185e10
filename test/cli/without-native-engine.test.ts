import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Furze } from './run-furze.ts';
import { withoutNativeEngine } from './without-native-engine.ts';

const folder = mkdtempSync(join(tmpdir(), 'furze-no-native-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const env = withoutNativeEngine(folder);
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
