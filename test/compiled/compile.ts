import { execFile } from 'node:child_process';
import { copyFile, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import type { TestProject } from 'vitest/node';
import { bundleOptions } from '../../scripts/bundle-options.js';
import { isAlive } from '../../src/platform/process/is-alive.ts';
import { ENTRIES } from '../entries.ts';
import { ALL_SOURCES, COMPILED, PARENT, PREFIX, ROOT, SCRIPT, sourcesForTests } from './sources.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder with the entries of `src/` and `test/` as JavaScript, as they were when the run began. */
    compiled: string;
  }
}

/** Files of `test/` that run as a thread or a process. */
const TEST_ENTRIES = /-(thread|writer|process)\.ts$/;
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
    entryPoints: [...ENTRIES, ...ofTests.map((name) => `test/${name}`)],
    outbase: ROOT,
    outdir: COMPILED,
    // Below `src/`, where code looks for the entries beside it.
    chunkNames: 'src/chunks/[name]-[hash]',
  });
  await emitSources();
}

/** All sources as one script beside what loads it, with the code that Node.js made of it: it is compiled once a run. */
async function emitSources(): Promise<void> {
  const names = await sourcesForTests();
  const lines = names.map((name) => `${JSON.stringify(name)}: () => import(${JSON.stringify(`./${name}`)}),`);
  const { banner: _, ...options } = bundleOptions();
  const { outputFiles } = await build({
    ...options,
    splitting: false,
    write: false,
    format: 'cjs',
    define: { 'import.meta.url': 'sourcesUrl' },
    // A script of `node:vm` has no import.
    supported: { 'dynamic-import': false },
    stdin: { contents: `export const sources = {\n${lines.join('\n')}\n};\n`, resolveDir: ROOT },
    outfile: join(COMPILED, SCRIPT),
  });
  // One byte a character is read faster; what is left of others is in regular expressions.
  const code = outputFiles[0]!.text.replace(/[^\0-\x7f]/g, escaped);
  await writeFile(join(COMPILED, SCRIPT), code);
  await copyFile(new URL('./load-sources.js', import.meta.url), join(COMPILED, ALL_SOURCES));
  await run(join(COMPILED, ALL_SOURCES), 'keep');
}

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
