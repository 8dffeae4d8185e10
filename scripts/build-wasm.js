// Compiles assembly/ to build/*.wasm with asc, one file a target of asconfig.json, and skips what is up to date. A binary
// is renamed into its place once it is whole, since a process may load it at any time.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const config = JSON.parse(readFileSync(join(root, 'asconfig.json'), 'utf8'));
const sources = readdirSync(join(root, 'assembly'), { recursive: true }).map((name) =>
  join(root, 'assembly', String(name)),
);
const newest = Math.max(...[...sources, join(root, 'asconfig.json')].map((path) => statSync(path).mtimeMs));

mkdirSync(join(root, 'build'), { recursive: true });
// Beside one another: each takes one processor for ten seconds.
await Promise.all(
  Object.entries(config.targets).map(([target, { outFile }]) => compile(target, join(root, outFile))),
);

async function compile(target, out) {
  if (existsSync(out) && statSync(out).mtimeMs >= newest) return;
  const asc = join(root, 'node_modules', 'assemblyscript', 'bin', 'asc.js');
  const unfinished = out.replace(/\.wasm$/, `.${process.pid}.unfinished.wasm`);
  const args = [
    asc,
    '--config',
    'asconfig.json',
    '--target',
    target,
    '--outFile',
    relative(root, unfinished),
  ];
  const [status] = await once(spawn(process.execPath, args, { cwd: root, stdio: 'inherit' }), 'exit');
  if (status !== 0) process.exit(status ?? 1);
  renameSync(unfinished, out);
}
