// Bundles src/ to dist/: one file for each process or thread that begins, and what they share in dist/chunks/. A start
// then reads a dozen files in place of a thousand, most of which were those of the packages that are bundled: the
// packages for developers that src/ imports. Outside stay those that have binaries or files of their own to find.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { bundleOptions } from './bundle-options.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** Where a process or a thread begins, below src/. */
const ENTRIES = [
  'main',
  'threads/worker-entry',
  'store/lmdb/writer-thread',
  'store/postgres/replica-thread',
  'store/lmdb/check/check-child',
  'store/lmdb/tables/opening-child',
  'evaluate/evaluation-process-entry',
];

/** @param {string} to the folder to write into; whatever else is in it goes */
async function buildService(to) {
  const { metafile } = await build({
    ...bundleOptions(),
    entryPoints: ENTRIES.map((entry) => ({ in: `src/${entry}.ts`, out: entry })),
    outdir: to,
    chunkNames: 'chunks/[name]-[hash]',
    sourcemap: 'linked',
    legalComments: 'none',
    metafile: true,
  });
  const written = new Set(Object.keys(metafile.outputs).map((path) => resolve(root, path)));
  written.add(writeLicenses(Object.keys(metafile.inputs), to));
  removeOthers(to, written);
  // What Node.js has compiled of an earlier build.
  rmSync(join(root, '.compiled'), { recursive: true, force: true });
}

/** What an earlier build left. */
function removeOthers(folder, written) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath ?? entry.path, entry.name);
    if (entry.isFile() && !written.has(path)) rmSync(path);
  }
}

/** Beside the bundle, the licenses of the packages in it. Returns the file's path. */
function writeLicenses(inputs, to) {
  const folders = new Set(
    inputs.map((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]).filter((path) => path),
  );
  const texts = [...folders].sort().map((folder) => {
    const file = readdirSync(join(root, folder)).find((name) => /^licen[cs]e/i.test(name));
    if (file === undefined) throw new Error(`${folder} has no license to carry along`);
    return `${relative('node_modules', folder)}\n\n${readFileSync(join(root, folder, file), 'utf8')}\n`;
  });
  const path = join(to, 'LICENSES.txt');
  writeFileSync(path, texts.join('\n----\n\n'));
  return path;
}

await buildService(process.argv[2] ?? join(root, 'dist'));
