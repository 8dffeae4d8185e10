import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../../domain/operator-error.ts';
import { lockFolders } from '../folder-lock.ts';
import { openDataTables } from './data-tables.ts';
import { DATA_FILE, LOCK_FILE } from './engine.ts';

/** Folders in which a copy is made start with this. */
const COPY_PREFIX = 'compact-';

/**
 * Rewrites a data folder without its free space.
 * @param lockWaitMs how long to wait for a process that has the folder, at most
 * @returns bytes of the data file before and after
 * @throws OperatorError when there is no store, or a process has the folder
 * @throws OperatorError when a newer version wrote the folder
 */
export async function compactStore(
  dataPath: string,
  lockWaitMs = 0,
): Promise<{ bytesBefore: number; bytesAfter: number }> {
  if (!existsSync(join(dataPath, DATA_FILE)))
    throw new OperatorError(`There is no data store in ${dataPath}.`);
  const [lock] = await lockFolders([dataPath], lockWaitMs);
  try {
    removeCopies(dataPath);
    return await compactLocked(dataPath);
  } finally {
    lock!.release();
  }
}

/** Removes what a compaction that was killed has left behind. The folder must be locked. */
export function removeCopies(dataPath: string): void {
  for (const entry of readdirSync(dataPath, { withFileTypes: true })) {
    if (!entry.isDirectory() || !entry.name.startsWith(COPY_PREFIX)) continue;
    rmSync(join(dataPath, entry.name), { recursive: true, force: true });
  }
}

async function compactLocked(dataPath: string): Promise<{ bytesBefore: number; bytesAfter: number }> {
  const { engine } = openDataTables(dataPath);
  const copyPath = mkdtempSync(join(dataPath, COPY_PREFIX));
  try {
    try {
      await engine.copyCompact(copyPath);
    } finally {
      await engine.close();
    }
    const file = join(dataPath, DATA_FILE);
    const copy = join(copyPath, DATA_FILE);
    const bytesBefore = statSync(file).size;
    syncToDisk(copy);
    renameSync(copy, file);
    syncToDisk(dataPath);
    // The lock file knows the pages of the file that is gone; LMDB makes a new one.
    rmSync(join(dataPath, LOCK_FILE), { force: true });
    return { bytesBefore, bytesAfter: statSync(file).size };
  } finally {
    rmSync(copyPath, { recursive: true, force: true });
  }
}

function syncToDisk(path: string): void {
  const file = openSync(path, 'r');
  fsyncSync(file);
  closeSync(file);
}
