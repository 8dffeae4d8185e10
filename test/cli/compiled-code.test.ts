import { existsSync } from 'node:fs';
import nodeModule from 'node:module';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { VERSION } from '../../src/domain/process/version.ts';
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
