// Bundles src/ to dist/: one file for each process or thread that begins, and what they share in dist/chunks/. A start
// then reads a dozen files in place of a thousand, most of which were those of the packages that are bundled: the
// packages for developers that src/ imports. Outside stay those that have binaries or files of their own to find.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { bundleOptions } from './bundle-options.js';
import { writeChanged } from './write-changed.js';

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
  const { metafile, outputFiles } = await build({
    ...bundleOptions(),
    entryPoints: ENTRIES.map((entry) => ({ in: `src/${entry}.ts`, out: entry })),
    outdir: to,
    chunkNames: 'chunks/[name]-[hash]',
    sourcemap: 'linked',
    legalComments: 'none',
    metafile: true,
    write: false,
  });
  const licenses = { path: join(to, 'LICENSES.txt'), contents: licensesOf(Object.keys(metafile.inputs)) };
  // What Node.js has compiled of an earlier build.
  if (writeChanged(to, [...outputFiles, licenses]))
    rmSync(join(root, '.compiled'), { recursive: true, force: true });
}

/** The licenses of the packages in the bundle, which lie beside it. */
function licensesOf(inputs) {
  const folders = new Set(
    inputs.map((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]).filter((path) => path),
  );
  const texts = [...folders].sort().map((folder) => {
    // Some packages of an owner bring no file and name the license of the others.
    const isLike = (each) =>
      /@[^/]+$/.test(dirname(folder)) &&
      dirname(each) === dirname(folder) &&
      licenseNamed(each) === licenseNamed(folder);
    const file = [folder, ...[...folders].filter(isLike)].map(licenseFile).find(Boolean);
    if (file === undefined) throw new Error(`${folder} has no license to carry along`);
    return `${relative('node_modules', folder)}\n\n${readFileSync(file, 'utf8')}\n`;
  });
  return Buffer.from(texts.join('\n----\n\n'));
}

function licenseNamed(folder) {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')).license;
}

/** The path of a package's file; undefined where it has none. */
function licenseFile(folder) {
  const name = readdirSync(join(root, folder)).find((each) => /^licen[cs]e/i.test(each));
  return name && join(root, folder, name);
}

await buildService(process.argv[2] ?? join(root, 'dist'));
