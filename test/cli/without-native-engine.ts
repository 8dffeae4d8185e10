import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @param folder where a file for it is written
 * @returns environment of a program in which no build of uWebSockets.js loads, as where the package is gone or the C library too old
 */
export function withoutNativeEngine(folder: string): { readonly NODE_OPTIONS: string } {
  const hook = join(folder, 'no-native.cjs');
  writeFileSync(
    hook,
    `const { _extensions } = require('node:module');
const load = _extensions['.node'];
_extensions['.node'] = (module, file) => {
  if (/uws_/.test(file)) throw new Error('gone');
  load(module, file);
};
`,
  );
  return { NODE_OPTIONS: `--require ${hook}` };
}
