// Compiles assembly/ to build/*.wasm with asc, one file a target of asconfig.json, and skips what is up to date.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const config = JSON.parse(readFileSync(join(root, 'asconfig.json'), 'utf8'));
const sources = readdirSync(join(root, 'assembly'), { recursive: true }).map((name) =>
  join(root, 'assembly', String(name)),
);
const newest = Math.max(...[...sources, join(root, 'asconfig.json')].map((path) => statSync(path).mtimeMs));

mkdirSync(join(root, 'build'), { recursive: true });
for (const [target, options] of Object.entries(config.targets)) {
  const out = join(root, options.outFile);
  if (existsSync(out) && statSync(out).mtimeMs >= newest) continue;
  const asc = join(root, 'node_modules', 'assemblyscript', 'bin', 'asc.js');
  const { status } = spawnSync(process.execPath, [asc, '--config', 'asconfig.json', '--target', target], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
}
