import { execFile } from 'node:child_process';
import { mkdir, readdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import type { TestProject } from 'vitest/node';
import { bundleOptions } from '../../scripts/bundle-options.js';
import { isAlive } from '../../src/platform/process/is-alive.ts';
import { ENTRIES } from '../entries.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder with the entries of `src/` and `test/` as JavaScript, as they were when the run began. */
    compiled: string;
  }
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Inside `node_modules`, so that packages are found from there. */
const PARENT = join(ROOT, 'node_modules');
const PREFIX = '.compiled-for-tests-';
/** Files of `test/` that run as a thread or a process. */
const TEST_ENTRIES = /-(thread|writer|process)\.ts$/;
/** What the sources find beside their own folder. */
const BESIDE = ['build', 'data', 'docs', 'package.json'];

/**
 * Before the first test: the files of the API page and the dashboard, and the sources as JavaScript for what runs outside
 * of vitest, bundled as the build does it. A thread or a process that starts from TypeScript pays half a second each time
 * for the tool that reads it, and one that starts from a file for each source nearly as much for the files.
 */
export default async function compile(project: TestProject): Promise<() => Promise<void>> {
  await run(join(ROOT, 'scripts/build-apidocs.js'));
  await run(join(ROOT, 'scripts/build-dashboard.js'));
  await removeLeftOvers();
  const folder = join(PARENT, `${PREFIX}${process.pid}`);
  await mkdir(folder, { recursive: true });
  for (const name of BESIDE) await symlink(join(ROOT, name), join(folder, name));
  await emit(folder);
  project.onTestsRerun(() => emit(folder));
  project.provide('compiled', folder);
  return () => rm(folder, { recursive: true, force: true });
}

async function emit(folder: string): Promise<void> {
  const ofTests = (await readdir(join(ROOT, 'test'), { recursive: true })).filter((name) =>
    TEST_ENTRIES.test(name),
  );
  await build({
    ...bundleOptions(),
    entryPoints: [...ENTRIES, ...ofTests.map((name) => `test/${name}`)],
    outbase: ROOT,
    outdir: folder,
    // Below `src/`, where code looks for the entries beside it.
    chunkNames: 'src/chunks/[name]-[hash]',
  });
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
