// npm run stage -- --out FOLDER: the built furze with what it needs at run time, for this platform and Node.js alone.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { stagedFiles } from './stage.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const { values } = parseArgs({ options: { out: { type: 'string' } } });
if (values.out === undefined) throw new Error('npm run stage -- --out FOLDER');
const out = resolve(values.out);
const files = stagedFiles(ROOT, {
  platform: process.platform,
  arch: process.arch,
  abi: process.versions.modules,
});
for (const { path, content, isExecutable } of files) {
  const target = join(out, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, content);
  if (isExecutable) chmodSync(target, 0o755);
}
const bytes = files.reduce((sum, { content }) => sum + content.byteLength, 0);
console.log(`${out}: ${files.length} files of ${(bytes / 1e6).toFixed(1)} MB`);
