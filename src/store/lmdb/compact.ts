import { closeSync, fsyncSync, mkdtempSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openDataTables } from './data-tables.ts';
import { DATA_FILE, LOCK_FILE } from './engine.ts';

/**
 * Rewrites a data folder without its free space. No process may have the folder open.
 * @returns bytes of the data file before and after
 * @throws FurzeError STORE_UNAVAILABLE when a newer version wrote the folder
 */
export async function compactStore(dataPath: string): Promise<{ bytesBefore: number; bytesAfter: number }> {
  const { engine } = openDataTables(dataPath);
  const copyPath = mkdtempSync(join(dataPath, 'compact-'));
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
