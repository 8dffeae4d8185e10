import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { afterTest } from '../clean-up.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TSX = join(ROOT, 'node_modules/tsx/dist/cli.mjs');
const LICENSES = ['dist/LICENSES.txt', 'build/dashboard/LICENSES.txt'];
/** Builds over what is there, as `npm run package` does, and tells what stands in the checkout meanwhile. */
const PACKAGE = `
const { mkdirSync, readdirSync, writeFileSync } = require('node:fs');
for (const file of ${JSON.stringify(LICENSES)}) {
  mkdirSync(file.replace(/\\/[^/]*$/, ''), { recursive: true });
  writeFileSync(file, 'x\\nMIT');
}
writeFileSync('dist/main.js', 'new');
writeFileSync('release/furze', 'new');
process.stdout.write('meanwhile ' + readdirSync('../release').join());
if (process.env.FAILS) process.exit(1);
`;

/** A checkout of a package of that name, built and released before, of which a service may run. */
function checkout(): string {
  const root = mkdtempSync(join(tmpdir(), 'furze-release-'));
  afterTest(() => rmSync(root, { recursive: true }));
  const manifest = { name: 'furze', version: '9.9.9', devDependencies: { x: '1.0.0' } };
  const packages = { '': manifest, 'node_modules/x': { version: '1.0.0', dev: true } };
  const lock = { name: 'furze', version: '9.9.9', lockfileVersion: 3, packages };
  const more = { files: ['dist'], type: 'module', scripts: { package: 'node package.cjs' } };
  mkdirSync(join(root, 'scripts/package'), { recursive: true });
  for (const file of ['scripts/release.ts', 'scripts/package/sbom.ts'])
    cpSync(join(ROOT, file), join(root, file));
  writeFileSync(join(root, 'package.json'), JSON.stringify({ ...manifest, ...more }));
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify(lock));
  writeFileSync(join(root, 'package.cjs'), PACKAGE);
  writeFileSync(join(root, '.gitignore'), 'dist\nrelease*\nnode_modules\n');
  for (const name of ['dist/main.js', 'release/furze', 'node_modules/x/index.js']) {
    mkdirSync(join(root, name, '..'), { recursive: true });
    writeFileSync(join(root, name), 'old');
  }
  execFileSync('git', ['init', '--quiet'], { cwd: root });
  execFileSync('git', ['add', '.'], { cwd: root });
  return root;
}

const release = (root: string, env = {}) =>
  execFileSync(process.execPath, [TSX, join(root, 'scripts/release.ts')], {
    cwd: root,
    encoding: 'utf8',
    stdio: 'pipe',
    env: { ...process.env, ...env },
  });

it('builds a release aside and moves it into place as a whole', () => {
  const root = checkout();
  const file = (name: string) => {
    const { ino, mtimeMs } = statSync(join(root, name));
    return [readFileSync(join(root, name), 'utf8'), ino, mtimeMs];
  };
  const before = ['dist/main.js', 'node_modules/x/index.js'].map(file);
  expect(release(root)).toContain('meanwhile furze');
  expect(['dist/main.js', 'node_modules/x/index.js'].map(file)).toEqual(before);
  expect(existsSync(join(root, 'release.partial'))).toBe(false);
  const names = ['SHA256SUMS', 'furze', 'furze-9.9.9.cdx.json', 'furze-9.9.9.tgz'];
  expect(readdirSync(join(root, 'release')).sort()).toEqual(names);
  const sums = readFileSync(join(root, 'release/SHA256SUMS'), 'utf8');
  expect(
    sums
      .trim()
      .split('\n')
      .map((line) => line.split('  ')[1]),
  ).toEqual(names.slice(1));
});

it('leaves the release before where one fails', () => {
  const root = checkout();
  expect(() => release(root, { FAILS: '1' })).toThrow();
  expect(readFileSync(join(root, 'release/furze'), 'utf8')).toBe('old');
  expect(existsSync(join(root, 'release.partial'))).toBe(false);
});
