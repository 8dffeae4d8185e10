import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chooseEngine, loadUws } from '../../src/http/engine/engine-choice.ts';
import type { Uws } from '../../src/http/engine/uws-api.ts';
import { startTestServer } from './start.ts';

const TARGET = { platform: 'linux', arch: 'x64', abi: '127' };
const FILE = 'uws_linux_x64_127.node';
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'furze-uws-'));
  // A package whose entry point would serve an imitation.
  await mkdir(join(folder, 'imitation'));
  await writeFile(join(folder, 'imitation', 'uws.js'), 'module.exports = { App() {} };');
  await mkdir(join(folder, 'broken', 'binaries'), { recursive: true });
  await writeFile(join(folder, 'broken', 'binaries', FILE), 'no shared object');
});
afterAll(() => rm(folder, { recursive: true }));

test('without a build for this system there is no native engine, whatever else a package has', () => {
  const { uws, why } = loadUws(TARGET, [['imitation', join(folder, 'imitation')]]);
  expect(uws).toBeUndefined();
  expect(why).toContain(`there is no ${FILE}`);
  expect(why).toContain('ABI 127');
  expect(loadUws(TARGET, []).why).toContain('no package with native builds is installed');
});

test('a build that does not load is named with its reason', () => {
  const { uws, why } = loadUws(TARGET, [['broken', join(folder, 'broken')]]);
  expect(uws).toBeUndefined();
  expect(why).toMatch(/^uws_linux_x64_127\.node of broken does not load: ./);
});

test('node:http serves where no build loads, and its reason tells how much slower it is', () => {
  const none = () => ({ uws: undefined, why: 'there is none' });
  const choice = chooseEngine('auto', false, none);
  expect(choice.name).toBe('node');
  expect(choice.why).toMatch(/^there is none; node:http answers 0\.\d+ times/);
  expect(() => chooseEngine('uws', false, none)).toThrow('http_engine = "uws"');
});

test('a build that loads serves, unless node:http is asked for', () => {
  const load = () => ({ uws: {} as Uws, why: 'native build' });
  expect(chooseEngine('auto', false, load)).toMatchObject({ name: 'uws', why: 'native build' });
  expect(chooseEngine('uws', false, load).name).toBe('uws');
  expect(chooseEngine('node', false, load).name).toBe('node');
});

test('a build without TLS does not serve when there is a certificate', () => {
  const bare = () => ({ uws: {} as Uws, why: 'native build' });
  expect(chooseEngine('auto', true, bare)).toMatchObject({
    name: 'node',
    why: expect.stringContaining('native build has no TLS'),
  });
  const able = () => ({ uws: { SSLApp: () => {} } as unknown as Uws, why: 'native build' });
  expect(chooseEngine('auto', true, able).name).toBe('uws');
});

test('one line at start and a metric say which engine serves and why', async () => {
  const server = await startTestServer({ config: { server: { http_engine: 'node' } } });
  try {
    const lines = server.lines.filter((line) => line.includes('"HTTP engine"'));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { engine: 'node', why: expect.stringContaining('set by http_engine') },
    ]);
    const { text } = await server.call('GET', '/metrics');
    expect(text).toMatch(/^furze_http_engine_info\{engine="node",why="set by http_engine; .*"\} 1$/m);
  } finally {
    await server.stop();
  }
});
