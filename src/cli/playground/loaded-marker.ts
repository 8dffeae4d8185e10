import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Taste } from './tour-user.ts';

/** Beside the stores: says that the sample is loaded and trained, and whom the tour is about. */
const FILE = 'playground.json';

/** The mark of the last finished load, or undefined when there is none. */
export function readLoaded(folder: string): Taste | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, FILE), 'utf8')) as Taste;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Notes it, whole or not at all. */
export function writeLoaded(folder: string, taste: Taste): void {
  const path = join(folder, FILE);
  writeFileSync(`${path}.new`, `${JSON.stringify(taste, undefined, 2)}\n`);
  renameSync(`${path}.new`, path);
}
