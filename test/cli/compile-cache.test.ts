import { existsSync } from 'node:fs';
import nodeModule from 'node:module';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { useCompileCache } from '../../src/cli/compile-cache.ts';
import { VERSION } from '../../src/platform/program/version.ts';
import { Furze } from './run-furze.ts';

test('what a process has compiled is kept beside the program where Node.js can keep it', async () => {
  expect(await new Furze(['--version']).exit).toBe(0);
  expect(existsSync(join(inject('compiled'), '.compiled'))).toBe('enableCompileCache' in nodeModule);
});

test('a folder that cannot be written for it is no trouble', async () => {
  const furze = new Furze(['--version'], { NODE_COMPILE_CACHE: '/dev/null/compiled' });
  expect(await furze.exit).toBe(0);
  expect(furze.output).toBe(`${VERSION}\n`);
});

test('a variable that is set to nothing names no folder', () => {
  const runtime = nodeModule as { enableCompileCache?: unknown };
  const { enableCompileCache: own } = runtime;
  onTestFinished(() => {
    if (own === undefined) delete runtime.enableCompileCache;
    else runtime.enableCompileCache = own;
  });
  const asked: string[] = [];
  runtime.enableCompileCache = (folder: string) => {
    asked.push(folder);
    return { directory: `${folder}/of-this-version` };
  };
  const env: NodeJS.ProcessEnv = { NODE_COMPILE_CACHE: '' };
  expect(useCompileCache('/program/.compiled', env)).toBe('/program/.compiled/of-this-version');
  expect([asked, env]).toEqual([['/program/.compiled'], { NODE_COMPILE_CACHE: '/program/.compiled' }]);
});
