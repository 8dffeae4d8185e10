import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Compacted } from '../../data-store.ts';
import { lockFolders } from '../../lock/folder-lock.ts';
import { refuseUnsound } from '../check/damaged-files.ts';
import { openDataTables } from '../tables/data-tables.ts';
import { DATA_FILE } from '../tables/engine.ts';
import { beginCopy, removeUnfinished, takePlace } from './unfinished-copies.ts';

/**
 * Rewrites a data folder without its free space.
 * @param lockWaitMs how long to wait for a process that has the folder, at most
 * @returns bytes of the data file before and after
 * @throws OperatorError when there is no store, it is damaged, a process has the folder, or a newer version wrote the folder
 */
export async function compactStore(dataPath: string, lockWaitMs = 0): Promise<Compacted> {
  await refuseUnsound(dataPath);
  const [lock] = await lockFolders([dataPath], lockWaitMs);
  try {
    removeUnfinished(dataPath);
    return await compactLocked(dataPath);
  } finally {
    lock!.release();
  }
}

async function compactLocked(dataPath: string): Promise<Compacted> {
  const { engine } = openDataTables(dataPath);
  const partial = beginCopy(dataPath);
  try {
    try {
      await engine.copyCompact(partial.path);
    } finally {
      await engine.close();
    }
    const file = join(dataPath, DATA_FILE);
    const bytesBefore = statSync(file).size;
    takePlace(partial.path, dataPath);
    return { bytesBefore, bytesAfter: statSync(file).size };
  } finally {
    partial.remove();
  }
}
