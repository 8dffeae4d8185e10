// Gives the sources that `compile.ts` made one script of, by their paths. `keep` as argument keeps what Node.js compiled.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';
// Has a build for modules, which the service runs on, and another one, which `require` would find.
import * as lmdb from 'lmdb';

const path = fileURLToPath(new URL('all-sources.cjs', import.meta.url));
const keptPath = `${path}.compiled`;
const require = createRequire(import.meta.url);
const module = { exports: {} };

const code = readFileSync(path, 'latin1');
const script = new vm.Script(`(function (module, exports, require, sourcesUrl) {${code}\n})`, {
  filename: path,
  cachedData: read(keptPath),
});
script.runInThisContext()(
  module,
  module.exports,
  (name) => (name === 'lmdb' ? lmdb : require(name)),
  import.meta.url,
);
export const { sources } = module.exports;

if (process.argv[2] === 'keep') {
  // What has run is compiled, and all that starts a service has run then.
  await sources['src/service/service.ts']();
  writeFileSync(keptPath, script.createCachedData());
}

function read(file) {
  try {
    return readFileSync(file);
  } catch {
    // The first time.
  }
}
