import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ENTRIES } from '../entries.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
/** Below the package's folder, so that the program finds its other files, and beside no other build. */
const folder = mkdtempSync(join(ROOT, 'node_modules', '.built-for-tests-'));

const filesIn = () =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(js|txt)$/.test(name));

const build = () => execFileSync(process.execPath, [join(ROOT, 'scripts/build-service.js'), folder]);

beforeAll(() => {
  writeFileSync(join(folder, 'of-an-earlier-build.js'), '');
  build();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('has a file for each thread and process that begins, licenses, and nothing of an earlier build', () => {
  const names = filesIn();
  for (const entry of ENTRIES) expect(names).toContain(entry.replace(/^src\//, '').replace(/ts$/, 'js'));
  expect(names).toContain('LICENSES.txt');
  expect(names).not.toContain('of-an-earlier-build.js');
});

it('writes what has changed and nothing else', () => {
  const writtenAt = () => filesIn().map((name) => [name, statSync(join(folder, name)).mtimeMs]);
  const before = writtenAt();
  build();
  expect(writtenAt()).toEqual(before);
  const main = readFileSync(join(folder, 'main.js'));
  writeFileSync(join(folder, 'main.js'), 'changed');
  build();
  expect(readFileSync(join(folder, 'main.js')).equals(main)).toBe(true);
});

it('imports nothing that an installation lacks', () => {
  const own = filesIn().filter((name) => name.endsWith('.js'));
  const imported = own.flatMap((name) =>
    Array.from(
      readFileSync(join(folder, name), 'utf8').matchAll(
        /^(?:import|export)\b[^;'"]*?['"]([^.'"][^'"]*)['"];$/gm,
      ),
      ([, specifier]) => specifier as string,
    ),
  );
  const packages = new Set(
    imported.filter((name) => !name.startsWith('node:') && !builtinModules.includes(name)),
  );
  expect(packages).toContain('lmdb');
  for (const name of packages) expect(manifest.dependencies).toHaveProperty([name]);
});

it('runs', () => {
  const version = execFileSync(process.execPath, [join(folder, 'main.js'), '--version'], {
    encoding: 'utf8',
  });
  expect(version.trim()).toBe(manifest.version);
});
