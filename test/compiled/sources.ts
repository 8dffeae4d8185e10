import { readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Plugin } from 'vitest/config';
import { ENTRIES } from '../entries.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');
/** Inside `node_modules`, so that packages are found from there. */
export const PARENT = join(ROOT, 'node_modules');
export const PREFIX = '.compiled-for-tests-';
/** The folder of this run. */
export const COMPILED = join(PARENT, `${PREFIX}${process.pid}`);
/** What gives all sources, below the run's folder. */
export const ALL_SOURCES = 'src/all-sources.js';
/** Paths of the sources that tests import, from the root, with slashes: no entries, and nothing of the dashboard. */
export async function sourcesForTests(): Promise<string[]> {
  const names = (await readdir(join(ROOT, 'src'), { recursive: true })).map(
    (name) => `src/${name.split(sep).join('/')}`,
  );
  return names.filter(
    (name) => name.endsWith('.ts') && !name.startsWith('src/dashboard/') && !ENTRIES.includes(name),
  );
}

/**
 * Gives tests each source out of the one file that `compile.ts` makes of all. A process that reads seven hundred sources
 * one by one pays two seconds of processor time before its first test, and a quarter of a second for one file.
 */
export function compiledSources(): Plugin {
  let exportsOf: Promise<ReadonlyMap<string, readonly string[]>> | undefined;
  return {
    name: 'compiled-sources',
    enforce: 'pre',
    watchChange() {
      exportsOf = undefined;
    },
    async load(id) {
      const path = relative(ROOT, id).split(sep).join('/');
      if (!path.startsWith('src/')) return;
      exportsOf ??= exportedNames();
      const names = (await exportsOf).get(path);
      if (names === undefined) return;
      const lines = [
        `import { sources } from ${JSON.stringify(join(COMPILED, ALL_SOURCES))};`,
        `const source = await sources[${JSON.stringify(path)}]();`,
        ...names.map((name, at) => `const own${at} = source[${JSON.stringify(name)}];`),
        `export { ${names.map((name, at) => `own${at} as ${name}`).join(', ')} };`,
      ];
      return lines.join('\n');
    },
  };
}

async function exportedNames(): Promise<ReadonlyMap<string, readonly string[]>> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: await sourcesForTests(),
    outdir: COMPILED,
    outbase: ROOT,
    format: 'esm',
    write: false,
    metafile: true,
  });
  return new Map(Object.values(metafile.outputs).map((output) => [output.entryPoint!, output.exports]));
}
