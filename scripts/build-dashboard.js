// Bundles src/dashboard/ to build/dashboard/: a page, one script and one style sheet whose names change with what they
// hold, compressed, and the licenses of what is in them. The service reads these files at its start and nothing else.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { writeChanged } from './write-changed.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const source = join(root, 'src', 'dashboard');
const BUNDLED = [
  'preact',
  '@preact/signals',
  '@preact/signals-core',
  'uplot',
  '@picocss/pico',
  'papaparse',
  'entities',
];
const TYPES = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' };
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#1f7a4d"/>' +
  '<path d="M9 25V8h14v4H13.5v4.5H21v4h-7.500V25z" fill="#fff"/></svg>';

/** @param {string} to the folder to write into */
export async function buildDashboard(to = join(root, 'build', 'dashboard')) {
  const { outputFiles } = await build({
    entryPoints: { app: join(source, 'main.tsx') },
    bundle: true,
    minify: true,
    write: false,
    outdir: to,
    target: ['es2022'],
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'warning',
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const files = [];
  const add = (name, contents) => files.push({ path: join(to, name), contents: Buffer.from(contents) });
  const names = {};
  const manifest = {};
  for (const { path, contents } of outputFiles) {
    const kind = path.endsWith('.css') ? 'css' : 'js';
    const hash = createHash('sha256').update(contents).digest('hex').slice(0, 12);
    names[kind] = `app-${hash}.${kind}`;
    manifest[names[kind]] = TYPES[kind];
    add(`${names[kind]}.gz`, gzipSync(contents, { level: 9 }));
  }
  const page = readFileSync(join(source, 'index.html'), 'utf8')
    .replace('{{js}}', names.js)
    .replace('{{css}}', names.css)
    .replace('{{icon}}', `data:image/svg+xml;base64,${Buffer.from(ICON).toString('base64')}`);
  add('index.html', page);
  add('manifest.json', `${JSON.stringify(manifest, undefined, 2)}\n`);
  add('LICENSES.txt', licenses());
  writeChanged(to, files);
}

function licenses() {
  const require = createRequire(import.meta.url);
  return BUNDLED.map((name) => {
    const folder = packageFolder(require, name);
    const file = ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'license'].find((each) =>
      existsSync(join(folder, each)),
    );
    return `${name}\n\n${file === undefined ? 'See its package.' : readFileSync(join(folder, file), 'utf8')}\n`;
  }).join('\n----\n\n');
}

function packageFolder(require, name) {
  for (const base of require.resolve.paths(name) ?? [])
    if (existsSync(join(base, name))) return join(base, name);
  throw new Error(`${name} is not installed`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildDashboard();
