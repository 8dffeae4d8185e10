// Files that a build makes. What is as it was is not written again, and what is not is renamed into its place once it is
// whole, since processes may start from the folder at any time.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/**
 * Makes a folder hold these files and nothing else.
 * @param {string} folder
 * @param {readonly { readonly path: string, readonly contents: Uint8Array }[]} files with paths in the folder
 * @returns {boolean} true where something had to be written
 */
export function writeChanged(folder, files) {
  mkdirSync(folder, { recursive: true });
  const changed = files.filter(({ path, contents }) => !isWritten(path, contents));
  for (const { path, contents } of changed) {
    mkdirSync(dirname(path), { recursive: true });
    const unfinished = `${path}.${process.pid}.unfinished`;
    writeFileSync(unfinished, contents);
    renameSync(unfinished, path);
  }
  const made = new Set(files.map(({ path }) => resolve(path)));
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = resolve(join(entry.parentPath ?? entry.path, entry.name));
    if (entry.isFile() && !made.has(path) && !path.endsWith('.unfinished')) rmSync(path, { force: true });
  }
  return changed.length > 0;
}

function isWritten(path, contents) {
  try {
    return readFileSync(path).equals(contents);
  } catch {
    return false;
  }
}
