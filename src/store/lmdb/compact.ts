import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../../domain/operator-error.ts';
import { lockFolders } from '../folder-lock.ts';
import { openDataTables } from './data-tables.ts';
import { DATA_FILE, describeTables, LOCK_FILE } from './engine.ts';
import { makePartial, removePartial, syncToDisk } from './partial.ts';

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
    removePartial(dataPath);
    return await compactLocked(dataPath);
  } finally {
    lock!.release();
  }
}

/** Above these, a store is compacted when it is opened: so much of its file is free, and so much is to be copied at most. */
export interface SpaceRule {
  readonly freeShareMin: number;
  readonly freeBytesMin: number;
  readonly usedBytesMax: number;
}

const SPACE_RULE: SpaceRule = { freeShareMin: 0.5, freeBytesMin: 64 * 2 ** 20, usedBytesMax: 2 ** 30 };

/** What became of a store with much free space. */
export interface SpaceOutcome {
  readonly freeBytes: number;
  /** False when there is so much to copy that a start must not wait for it. */
  readonly isCompacted: boolean;
}

/**
 * Rewrites a data store of which much is free before it is opened to serve, where that takes a second or two.
 * The folder must be locked. A copy that cannot be made (no room) leaves everything as it is.
 * @returns undefined when there is little to gain
 */
export async function compactSpacious(
  dataPath: string,
  rule = SPACE_RULE,
): Promise<SpaceOutcome | undefined> {
  const bytes = statSync(join(dataPath, DATA_FILE), { throwIfNoEntry: false })?.size ?? 0;
  if (bytes < rule.freeBytesMin) return undefined;
  const { engine, ...tables } = openDataTables(dataPath);
  const usedBytes = describeTables(tables).reduce((sum, table) => sum + table.bytes, 0);
  await engine.close();
  const freeBytes = bytes - usedBytes;
  if (freeBytes < rule.freeBytesMin || freeBytes < bytes * rule.freeShareMin) return undefined;
  if (usedBytes > rule.usedBytesMax) return { freeBytes, isCompacted: false };
  try {
    removePartial(dataPath);
    await compactLocked(dataPath);
    return { freeBytes, isCompacted: true };
  } catch {
    return { freeBytes, isCompacted: false };
  }
}

async function compactLocked(dataPath: string): Promise<{ bytesBefore: number; bytesAfter: number }> {
  const { engine } = openDataTables(dataPath);
  const copyPath = makePartial(dataPath);
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
