// npm run package -- [--out FILE]: makes one executable of furze, its dependencies and this Node.js, for this platform.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { inject } from 'postject';
import { packArchive } from './archive.ts';
import { stagedFiles } from './stage.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What Node.js looks for in its own file to know that something was put into it. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
/** Small and quickly unpacked; a higher one takes minutes for little. */
const QUALITY = 9;

const { platform, arch, versions } = process;
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
const { values } = parseArgs({ options: { out: { type: 'string' } } });
const out = resolve(values.out ?? join(ROOT, 'release', `furze-${version}-${platform}-${arch}`));

mkdirSync(dirname(out), { recursive: true });
const work = mkdtempSync(`${out}.unfinished-`);
try {
  const files = stagedFiles(ROOT, { platform, arch, abi: versions.modules });
  const archive = packArchive(files, QUALITY);
  const lmdb = files.find(({ path }) => /^node_modules\/@lmdb\/.*\.node$/.test(path));
  if (lmdb === undefined) throw new Error('no binary of lmdb for this platform is installed');
  const sha = createHash('sha256').update(archive).digest('hex').slice(0, 16);
  writeFileSync(join(work, 'archive'), archive);
  writeFileSync(join(work, 'build.json'), JSON.stringify({ sha, tryOut: lmdb.path }));
  await build({
    entryPoints: [join(ROOT, 'scripts/package/launcher.ts')],
    outfile: join(work, 'launcher.cjs'),
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
  });
  const config = {
    main: 'launcher.cjs',
    output: 'blob',
    disableExperimentalSEAWarning: true,
    assets: { archive: 'archive', 'build.json': 'build.json' },
  };
  writeFileSync(join(work, 'sea.json'), JSON.stringify(config));
  execFileSync(process.execPath, ['--experimental-sea-config', 'sea.json'], { cwd: work });
  const executable = join(work, 'furze');
  copyFileSync(process.execPath, executable);
  chmodSync(executable, 0o755);
  const blob = readFileSync(join(work, 'blob'));
  await inject(executable, 'NODE_SEA_BLOB', blob, {
    sentinelFuse: FUSE,
    ...(platform === 'darwin' && { machoSegmentName: 'NODE_SEA' }),
  });
  renameSync(executable, out);
  const mb = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
  const contents = files.reduce((sum, { content }) => sum + content.byteLength, 0);
  console.log(
    `${out}: ${mb(readFileSync(out).byteLength)} with Node.js ${versions.node}; ${files.length} files of ${mb(contents)}, packed ${mb(archive.byteLength)}`,
  );
} finally {
  rmSync(work, { recursive: true, force: true });
}
