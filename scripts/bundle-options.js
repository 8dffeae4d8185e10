// How src/ becomes JavaScript, for the build and for what tests start as threads and processes.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** What some of the bundled packages, written before modules, find Node's own modules by. */
const REQUIRE =
  "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);";

/** @returns options for esbuild; packages that are installed with furze stay outside */
export function bundleOptions() {
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return {
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.11',
    banner: { js: REQUIRE },
    external: Object.keys({ ...dependencies, ...optionalDependencies }),
    logLevel: 'warning',
  };
}
