import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { ArchivedFile } from './archive.ts';

/** The platform that an executable is made for. */
export interface Target {
  readonly platform: string;
  readonly arch: string;
  /** The number of Node.js' binary interface, as in `process.versions.modules`. */
  readonly abi: string;
}

const OWN = ['package.json', 'LICENSE', 'NOTICE', 'dist', 'build', 'data/movietweetings-100k'];
const START = "module.exports = (path) => import(require('node:url').pathToFileURL(path).href);\n";

/** Nothing of this is read by a running program. */
const USELESS = [
  /\.(map|[cm]?ts|c|cc|cpp|h|hpp|gypi?|tgz|bare)$/,
  /\.debug\.wasm$/,
  /^node_modules\/.*\.(md|markdown|txt|html)$/i,
  /^node_modules\/.*\/(tests?|specs|docs?|examples?|benchmarks?|\.[^/]+)\//,
  /^node_modules\/lmdb\/(dependencies|src|dict)\//,
  // The imitation of uWebSockets.js and what it needs; furze never loads it.
  /^node_modules\/(uws-node20\/dist|bufferutil|utf-8-validate|ws)\//,
];
const PLATFORMS = ['linux', 'darwin', 'win32', 'android', 'freebsd', 'ios', 'openharmony'];
const ARCHITECTURES = ['x64', 'arm64', 'arm', 'ia32', 'ppc64', 'riscv64', 's390x'];

/** The files of an installed furze with what it needs at run time, for one platform. */
export function stagedFiles(root: string, target: Target): ArchivedFile[] {
  const paths = [...OWN, ...productionPackages(root)].flatMap((path) => filesBelow(root, path));
  const kept = [...new Set(paths)].filter((path) => isNeeded(path, target)).sort();
  return [
    ...kept.map((path) => ({
      path,
      isExecutable: path.endsWith('.node'),
      content: readFileSync(join(root, path)),
    })),
    { path: 'start.cjs', isExecutable: false, content: Buffer.from(START) },
  ];
}

/** False for what no start on `target` reads: types, sources in C, notes, and binaries for other machines. */
export function isNeeded(path: string, { platform, arch, abi }: Target): boolean {
  if (/(^|\/)(licen[cs]e|notice|copying)[^/]*$/i.test(path)) return true;
  if (USELESS.some((pattern) => pattern.test(path))) return false;
  if (!path.endsWith('.node')) return true;
  // Names of binaries are made of these parts: prebuilds/linux-x64/x.node, uws_linux_x64_115.node, node.abi115.glibc.node
  const words = path.split(/[/_.-]+/);
  const differs = (known: readonly string[], own: string) =>
    words.some((word) => known.includes(word)) && !words.includes(own);
  if (differs(PLATFORMS, platform) || differs(ARCHITECTURES, arch) || words.includes('musl')) return false;
  const name = path.slice(path.lastIndexOf('/') + 1);
  const builtFor = name
    .split(/[_.-]+/)
    .map((word) => /^(?:abi)?(\d{2,3})$/.exec(word)?.[1])
    .find((number) => number);
  return builtFor === undefined || builtFor === abi;
}

function productionPackages(root: string): string[] {
  const list = execFileSync('npm', ['ls', '--omit=dev', '--all', '--parseable'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return list
    .split('\n')
    .map((path) => relative(root, path))
    .filter((path) => path.startsWith('node_modules'));
}

function filesBelow(root: string, path: string): string[] {
  if (!statSync(join(root, path)).isDirectory()) return [path];
  return readdirSync(join(root, path), { withFileTypes: true }).flatMap((entry) =>
    entry.isFile() || entry.isDirectory() ? filesBelow(root, `${path}/${entry.name}`) : [],
  );
}
