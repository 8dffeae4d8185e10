import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** A folder of data tells what people do: the user of the service alone may read it. */
const OWNER_ONLY = 0o700;

/**
 * Makes a folder, and those above it that are missing, for the owner alone; does nothing when it is there. Each is asked for once: the
 * recursive form of Node's own call never returns where the folder above is there and the system says ENOENT, as /proc does.
 * @throws NodeJS.ErrnoException of the system: EACCES, EROFS, ENOENT, or EEXIST and ENOTDIR when a file is in the way
 */
export function makeFolder(path: string): void {
  const folder = resolve(path);
  if (isFolder(folder)) return;
  const above = dirname(folder);
  if (!existsSync(above)) makeFolder(above);
  try {
    mkdirSync(folder, { mode: OWNER_ONLY });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!isFolder(folder)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
