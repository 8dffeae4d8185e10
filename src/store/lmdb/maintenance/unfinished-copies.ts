import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../../../domain/operator-error.ts';
import { type TemporaryFolder, temporaryFolder } from '../../../platform/files/temporary-folder.ts';
import { FOLDER_LOCK_FILE, FolderLockedError, lockFolder } from '../../lock/folder-lock.ts';
import { DATA_FILE, LOCK_FILE } from '../tables/engine.ts';

/** The beginning of the name of a folder in which a copy of a store is made. */
const UNFINISHED_PREFIX = 'partial-';
/** The same of one that is restored. */
export const RESTORE_PREFIX = `${UNFINISHED_PREFIX}restore-`;

/** Folders that are made for a copy until one is locked before a process that clears away has it; fewer after any other error. */
const [LOST_MAX, TRIES_MAX] = [1000, 10];

/** A folder beside a store for a copy in the making, locked; `removeUnfinished` clears it away should this process be killed. */
export function beginCopy(folder: string, prefix = UNFINISHED_PREFIX): TemporaryFolder {
  for (let tries = 1; ; tries++) {
    const partial = temporaryFolder(prefix, folder);
    try {
      const lock = lockFolder(partial.path);
      const remove = () => {
        lock.release();
        partial.remove();
      };
      if (existsSync(partial.path)) return { path: partial.path, remove };
      remove();
    } catch (error) {
      const isLost = error instanceof FolderLockedError || !existsSync(partial.path);
      partial.remove();
      if (tries >= (isLost ? LOST_MAX : TRIES_MAX) || !existsSync(folder)) throw error;
    }
  }
}

/** Removes what copies that were killed have left behind. @returns why one stays: it is being made */
export function removeUnfinished(folder: string): FolderLockedError | undefined {
  let locked: FolderLockedError | undefined;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (!entry.isDirectory() || !entry.name.startsWith(UNFINISHED_PREFIX)) continue;
    const path = join(folder, entry.name);
    try {
      while (!removeLocked(path));
    } catch (error) {
      if (!(error instanceof FolderLockedError)) throw error;
      locked = error;
    }
  }
  return locked;
}

/**
 * Removes a folder that nobody has locked.
 * @returns false where another process took it once the lock's file was gone, of which this lock says nothing
 * @throws FolderLockedError
 */
function removeLocked(path: string): boolean {
  const lock = lockFolder(path);
  try {
    const isLock = (name: string) => Number(name.startsWith(FOLDER_LOCK_FILE));
    // Once the lock's file is gone, what has these names may be another process's.
    for (const name of readdirSync(path).sort((a, b) => isLock(a) - isLock(b)))
      rmSync(join(path, name), { recursive: true, force: true });
    rmdirSync(path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Who made it may have removed it.
    if (code === 'ENOENT') return true;
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false;
    throw error;
  } finally {
    lock.release();
  }
}

/** @throws OperatorError where a restore into a folder without a store was cut off: one that begins there would look like all there is */
export function refuseCutOffRestore(folder: string): void {
  if (existsSync(join(folder, DATA_FILE))) return;
  const left = readdirSync(folder).find((name) => name.startsWith(RESTORE_PREFIX));
  if (left === undefined) return;
  const remedy = `run it again, or remove ${join(folder, left)} to begin without data`;
  throw new OperatorError(`A restore into ${folder} was cut off: ${remedy}.`);
}

/** Waits until a file, or the names in a folder, are on the disk. */
export function syncToDisk(path: string): void {
  const file = openSync(path, 'r');
  fsyncSync(file);
  closeSync(file);
}

/** Puts the store in the folder `copy`, which nobody has open, in the place of one that nobody has open: now or never. */
export function takePlace(copy: string, dataPath: string): void {
  const file = join(copy, DATA_FILE);
  syncToDisk(file);
  renameSync(file, join(dataPath, DATA_FILE));
  syncToDisk(dataPath);
  // The lock file knows the pages of the file that is gone; LMDB makes a new one.
  rmSync(join(dataPath, LOCK_FILE), { force: true });
}
