// Runs a script that `compile.ts` made, by what Node.js compiled of it before. As a program it compiles and keeps all of one.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import v8 from 'node:v8';
import vm from 'node:vm';

const require = createRequire(import.meta.url);

/**
 * @param path the script's file
 * @param packages modules that it is given as they are
 * @returns what it exports, and what keeps all of it that is compiled by then
 */
export function runScript(path, packages = {}) {
  const script = compiled(path, read(kept(path)));
  const module = { exports: {} };
  script.runInThisContext()(
    module,
    module.exports,
    (name) => packages[name] ?? require(name),
    import.meta.url,
  );
  return { ...module.exports, keep: () => writeFileSync(kept(path), script.createCachedData()) };
}

const kept = (path) => `${path}.kept`;

function compiled(filename, cachedData) {
  return new vm.Script(readFileSync(filename, 'latin1'), { filename, cachedData });
}

function read(file) {
  try {
    return readFileSync(file);
  } catch {
    // The first time.
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = process.argv[2];
  v8.setFlagsFromString('--no-lazy');
  const whole = compiled(path);
  // What is kept holds for the flags that it is kept with.
  v8.setFlagsFromString('--lazy');
  writeFileSync(kept(path), whole.createCachedData());
}
