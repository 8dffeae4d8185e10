// npm run release: everything of a release in release/: the executable for this platform, the npm package, what both are
// made of (SBOM, CycloneDX) and SHA256SUMS over all of them.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Bom, bundledNames, shipped } from './package/sbom.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const RELEASE = join(ROOT, 'release');
const SUMS = 'SHA256SUMS';

function npm(...args: string[]): string {
  const stdio: ('ignore' | 'pipe' | 'inherit')[] = ['ignore', 'pipe', 'inherit'];
  return execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', stdio, maxBuffer: 1 << 26 });
}

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
rmSync(RELEASE, { recursive: true, force: true });
mkdirSync(RELEASE);
// Neither package may carry what an earlier build left.
rmSync(join(ROOT, 'dist'), { recursive: true, force: true });
process.stdout.write(npm('run', '--silent', 'package'));
npm('pack', '--pack-destination', RELEASE);
const locked = JSON.parse(
  npm('sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'),
) as Bom;
const bundled = ['dist/LICENSES.txt', 'build/dashboard/LICENSES.txt'].flatMap((file) =>
  bundledNames(readFileSync(join(ROOT, file), 'utf8')),
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
process.stdout.write(sums.join(''));
