import { execFile } from 'node:child_process';
import { copyFile, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build, type Plugin } from 'esbuild';
import type { TestProject } from 'vitest/node';
import { bundleOptions } from '../../scripts/bundle-options.js';
import { isAlive } from '../../src/platform/process/is-alive.ts';
import { ENTRIES } from '../entries.ts';
import { V8_FLAGS } from '../v8-flags.ts';
import { ALL_SOURCES, COMPILED, PARENT, PREFIX, ROOT, sourcesForTests } from './sources.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder with the entries of `src/` and `test/` as JavaScript, as they were when the run began. */
    compiled: string;
  }
}

/** Files of `test/` that run as a thread or a process. */
const TEST_ENTRIES = /-(thread|writer|process)\.ts$/;
/** Entries of `src/` that run as a thread. */
const THREADS = ENTRIES.filter((name) => /-thread\.ts$|worker-entry/.test(name));
/** What runs the scripts, where the sources look for what is beside them. */
const RUN_SCRIPT = join(COMPILED, 'src/run-script.js');
/** What the sources find beside their own folder. */
const BESIDE = ['build', 'data', 'docs', 'package.json'];

/**
 * Before the first test: the files of the API page and the dashboard, and the sources as JavaScript, bundled as the build
 * does it, both for tests and for what runs outside of vitest. A thread or a process that starts from TypeScript pays half a
 * second each time for the tool that reads it, and one that starts from a file for each source nearly as much for the files.
 */
export default async function compile(project: TestProject): Promise<() => Promise<void>> {
  await run(join(ROOT, 'scripts/build-apidocs.js'));
  await run(join(ROOT, 'scripts/build-dashboard.js'));
  await removeLeftOvers();
  await mkdir(COMPILED, { recursive: true });
  for (const name of BESIDE) await symlink(join(ROOT, name), join(COMPILED, name));
  await emit();
  project.onTestsRerun(emit);
  project.provide('compiled', COMPILED);
  return () => rm(COMPILED, { recursive: true, force: true });
}

async function emit(): Promise<void> {
  const ofTests = (await readdir(join(ROOT, 'test'), { recursive: true })).filter((name) =>
    TEST_ENTRIES.test(name),
  );
  await build({
    ...bundleOptions(),
    entryPoints: [
      ...ENTRIES.filter((name) => !THREADS.includes(name)),
      ...ofTests.map((name) => `test/${name}`),
    ],
    outbase: ROOT,
    outdir: COMPILED,
    // Below `src/`, where code looks for the entries beside it.
    chunkNames: 'src/chunks/[name]-[hash]',
  });
  await copyFile(new URL('./run-script.js', import.meta.url), RUN_SCRIPT);
  await Promise.all([emitSources(), ...THREADS.map(emitThread)]);
}

/** All sources as one script. What starts a service is kept compiled. */
async function emitSources(): Promise<void> {
  const names = await sourcesForTests();
  const lines = names.map((name) => `${JSON.stringify(name)}: () => import(${JSON.stringify(`./${name}`)}),`);
  const contents = `export const sources = {\n${lines.join('\n')}\n};`;
  const script = await emitScript('src/all-sources', contents);
  // Has a build for modules, which the service runs on, and another one, which `require` would find.
  await writeFile(
    join(COMPILED, ALL_SOURCES),
    `import * as lmdb from 'lmdb';
import { runScript } from ${JSON.stringify(RUN_SCRIPT)};
export const { sources, keep } = runScript(${JSON.stringify(script)}, { lmdb });
if (process.argv[2] === 'keep') {
  // What has run is compiled, and all that starts a service has run then.
  await sources['src/service/service.ts']();
  keep();
}`,
  );
  await run(...V8_FLAGS, join(COMPILED, ALL_SOURCES), 'keep');
}

/** A thread's entry as a script with LMDB's package in it, of which all is kept compiled. */
async function emitThread(entry: string): Promise<void> {
  const name = entry.replace(/\.ts$/, '');
  const script = await emitScript(name, `export * as entry from './${entry}';`, ['lmdb']);
  await run(...V8_FLAGS, RUN_SCRIPT, script);
  await writeFile(
    join(COMPILED, `${name}.js`),
    `import { runScript } from ${JSON.stringify(RUN_SCRIPT)};
export default runScript(${JSON.stringify(script)}).entry.default;`,
  );
}

/**
 * @param inside packages that become part of it
 * @returns the path of a script that gives what `contents` exports
 */
async function emitScript(name: string, contents: string, inside: readonly string[] = []): Promise<string> {
  const { banner: _, external = [], ...options } = bundleOptions();
  const path = join(COMPILED, `${name}.cjs`);
  const { outputFiles } = await build({
    ...options,
    external: external.filter((outside) => !inside.includes(outside)),
    plugins: [inPlace],
    splitting: false,
    write: false,
    format: 'cjs',
    define: { 'import.meta.url': 'sourcesUrl' },
    // A script of `node:vm` has no import.
    supported: { 'dynamic-import': false },
    stdin: { contents, resolveDir: ROOT },
    outfile: path,
  });
  // One byte a character is read faster; what is left of others is in regular expressions.
  const code = outputFiles[0]!.text.replace(/[^\0-\x7f]/g, escaped);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `(function (module, exports, require, sourcesUrl) {${code}\n})`);
  return path;
}

/** Has a package find its files where they are. */
const inPlace: Plugin = {
  name: 'in-place',
  setup({ onLoad }) {
    onLoad({ filter: /node_modules\/(lmdb|msgpackr)\/[^/]+\.js$/ }, async ({ path }) => {
      const url = JSON.stringify(pathToFileURL(path).href);
      return { contents: (await readFile(path, 'utf8')).replaceAll('import.meta.url', url) };
    });
  },
};

/** A unit of UTF-16 as strings and regular expressions have it in ASCII. */
function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

async function run(...args: string[]): Promise<void> {
  await promisify(execFile)(process.execPath, args);
}

/** Folders of runs that were killed. */
async function removeLeftOvers(): Promise<void> {
  for (const name of await readdir(PARENT)) {
    if (name.startsWith(PREFIX) && !isAlive(Number(name.slice(PREFIX.length))))
      await rm(join(PARENT, name), { recursive: true, force: true });
  }
}
