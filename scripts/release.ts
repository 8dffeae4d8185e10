// npm run release: everything of a release in release/: the executable for this platform, the npm package, what both are
// made of (SBOM, CycloneDX) and SHA256SUMS over all of them. It is built in a copy of this checkout and moved here in the
// end, so that a service that runs out of this one keeps the files that it was started from.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Bom, bundledNames, shipped } from './package/sbom.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const COPY = join(ROOT, 'release.partial');
const RELEASE = join(COPY, 'release');
const SUMS = 'SHA256SUMS';

function npm(...args: string[]): string {
  const stdio: ('ignore' | 'pipe' | 'inherit')[] = ['ignore', 'pipe', 'inherit'];
  return execFileSync('npm', args, { cwd: COPY, encoding: 'utf8', stdio, maxBuffer: 1 << 26 });
}

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
rmSync(COPY, { recursive: true, force: true });
process.on('exit', () => rmSync(COPY, { recursive: true, force: true }));
// What is under version control, as it is here: neither package may carry what an earlier build left.
const listed = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 26 });
for (const file of listed.split('\0').filter((name) => name !== '')) {
  mkdirSync(dirname(join(COPY, file)), { recursive: true });
  cpSync(join(ROOT, file), join(COPY, file));
}
// Links to the same files: npm takes no folder that is elsewhere for installed.
for (const entry of readdirSync(join(ROOT, 'node_modules'), { recursive: true, withFileTypes: true })) {
  if (entry.isDirectory()) continue;
  const from = join(entry.parentPath, entry.name);
  const to = join(COPY, relative(ROOT, from));
  mkdirSync(dirname(to), { recursive: true });
  if (entry.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
  else linkSync(from, to);
}
mkdirSync(RELEASE);
process.stdout.write(npm('run', '--silent', 'package'));
npm('pack', '--pack-destination', RELEASE);
const locked = JSON.parse(
  npm('sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'),
) as Bom;
const bundled = ['dist/LICENSES.txt', 'build/dashboard/LICENSES.txt'].flatMap((file) =>
  bundledNames(readFileSync(join(COPY, file), 'utf8')),
);
const sbom = `${JSON.stringify(shipped(locked, bundled), undefined, 2)}\n`;
writeFileSync(join(RELEASE, `furze-${version}.cdx.json`), sbom);
const sums = readdirSync(RELEASE)
  .sort()
  .map(
    (name) =>
      `${createHash('sha256')
        .update(readFileSync(join(RELEASE, name)))
        .digest('hex')}  ${name}\n`,
  );
writeFileSync(join(RELEASE, SUMS), sums.join(''));
const place = join(ROOT, 'release');
rmSync(place, { recursive: true, force: true });
renameSync(RELEASE, place);
process.stdout.write(sums.join(''));
