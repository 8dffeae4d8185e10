import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { OperatorError } from '../../../domain/operator-error.ts';
import { makeFolder } from '../../../platform/files/make-folder.ts';
import { refuseDevice } from '../../../platform/files/refuse-device.ts';
import { lockFolders } from '../../lock/folder-lock.ts';
import { checkStore } from '../check/check-store.ts';
import { inspectFile } from '../check/file-head.ts';
import { compareChecksum, hashed } from '../tables/backup-checksum.ts';
import { DATA_FILE } from '../tables/engine.ts';
import { type Backup, fillFolder, giveIdentity, refuseExisting } from './backup.ts';
import { RESTORE_PREFIX } from './unfinished-copies.ts';

export interface RestoreOptions {
  /** The folder of a backup, its file, or the bytes of one. */
  readonly source: string | Readable;
  /** The folder to restore into; it must hold no store. */
  readonly dataPath: string;
  /** Longest wait for another process that has the folder. */
  readonly lockWaitMs: number;
}

/**
 * Puts a backup in place: the copy is checked as a whole and on the disk before it gets its name. It also gets a new
 * identity, so that a cache of what was there before is not taken for its own.
 * @throws OperatorError when the folder has a store, the backup is not sound, or has another format
 */
export async function restoreStore({ source, dataPath, lockWaitMs }: RestoreOptions): Promise<Backup> {
  refuseExisting(dataPath);
  const file = typeof source === 'string' ? fileOf(source) : undefined;
  makeFolder(dataPath);
  const [lock] = await lockFolders([dataPath], lockWaitMs);
  try {
    const fill = async (partial: string) => {
      const bytes = file === undefined ? (source as Readable) : createReadStream(file);
      const hash = createHash('sha256');
      await pipeline(hashed(bytes, hash), createWriteStream(join(partial, DATA_FILE)));
      refuseBroken(partial);
      if (file !== undefined) compareChecksum(file, hash);
      await makeSound(partial);
    };
    return await fillFolder(dataPath, fill, RESTORE_PREFIX);
  } finally {
    lock!.release();
  }
}

/** @throws OperatorError for a copy that is no whole file of a store */
function refuseBroken(folder: string): void {
  const state = inspectFile(folder);
  if (state.kind === 'absent') throw new OperatorError('The backup is empty.');
  if (state.kind === 'short')
    throw new OperatorError(
      `The backup is cut short: it has ${state.bytes} bytes of ${state.expectedBytes}.`,
    );
  if (state.kind === 'damaged') throw new OperatorError(`The backup is damaged: ${state.reason}.`);
}

/** Checks the copy and gives it an identity of its own. */
async function makeSound(folder: string): Promise<void> {
  const report = await checkStore('data', folder);
  if (report !== undefined && report.faultCount > 0)
    throw new OperatorError(`The backup is not sound: ${report.faults[0]}`);
  await giveIdentity(folder);
}

function fileOf(source: string): string {
  const file = existsSync(source) && statSync(source).isDirectory() ? join(source, DATA_FILE) : source;
  if (!existsSync(file) || statSync(file).isDirectory())
    throw new OperatorError(`There is no backup in ${source}.`);
  refuseDevice(file);
  return file;
}
