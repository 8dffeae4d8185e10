import { createReadStream, createWriteStream, openSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { OperatorError } from '../../../domain/operator-error.ts';
import { makeFolder } from '../../../platform/files/make-folder.ts';
import type { StoreStats } from '../../data-store.ts';
import { refuseUnsound } from '../check/damaged-files.ts';
import { inspectFile } from '../check/file-head.ts';
import { writeChecksum } from '../tables/backup-checksum.ts';
import { type DataTables, openDataTables } from '../tables/data-tables.ts';
import { DATA_FILE, type Engine } from '../tables/engine.ts';
import { readState, renewIdentity } from '../tables/meta-table.ts';
import { beginCopy, removeUnfinished, syncToDisk } from './unfinished-copies.ts';

/** A copy in a file, with what it holds. */
export interface Backup extends StoreStats {
  readonly file: string;
}

/** A copy to be read once. */
export interface BackupStream extends StoreStats {
  readonly stream: Readable;
}

/**
 * Copies a data store into a folder that has none: one consistent state, without free pages, whatever is written
 * meanwhile and by whichever process. The copy is complete on the disk before it gets its name, and the folder can be
 * served as it is.
 * @throws OperatorError when there is no store, it is damaged, has another format, or the folder has one already
 */
export async function backupStore(dataPath: string, target: string): Promise<Backup> {
  const tables = await openExisting(dataPath);
  try {
    return await checked(await copyStore(tables.engine, target));
  } finally {
    await tables.engine.close();
  }
}

/**
 * Makes a copy like `backupStore` and gives its bytes. The copy has no name any more when this resolves, so nothing is
 * left of it however the process ends; until then it takes room beside the store.
 */
export async function streamBackup(engine: Engine): Promise<BackupStream> {
  const partial = beginCopy(engine.path);
  try {
    const { file, ...copied } = await copyStore(engine, join(partial.path, 'copy'));
    const stream = createReadStream(file, { fd: openSync(file, 'r') });
    return { ...copied, stream };
  } finally {
    partial.remove();
  }
}

/** Makes a stream like `streamBackup` of a store that another process may have open. @throws OperatorError */
export async function streamStore(dataPath: string): Promise<BackupStream> {
  const tables = await openExisting(dataPath);
  try {
    return await streamBackup(tables.engine);
  } finally {
    await tables.engine.close();
  }
}

async function openExisting(dataPath: string): Promise<DataTables> {
  await refuseUnsound(dataPath);
  return openDataTables(dataPath, { readOnly: true });
}

/** Copies the store that this engine has open. @throws OperatorError when the folder has a store already */
function copyStore(engine: Engine, target: string): Promise<Backup> {
  return fillFolder(target, async (partial) => {
    await engine.copyCompact(partial);
    await giveIdentity(partial);
  });
}

/** Gives a copy an identity of its own, so that no cache of what was there before is taken for its. */
export async function giveIdentity(folder: string): Promise<void> {
  const tables = openDataTables(folder);
  renewIdentity(tables);
  await tables.engine.close();
}

/**
 * Takes the bytes of a copy that somebody else makes into a folder that has no store.
 * @throws OperatorError when the folder has one already, or the bytes are not all of a store
 */
export async function receiveBackup(source: Readable, target: string): Promise<Backup> {
  const copied = await fillFolder(target, async (partial) => {
    await pipeline(source, createWriteStream(join(partial, DATA_FILE)));
    const state = inspectFile(partial);
    if (state.kind !== 'sound') throw new OperatorError(`The copy is not whole: it is ${state.kind}.`);
  });
  return checked(copied);
}

/** Gives a copy its checksum, which `restoreStore` compares. */
async function checked(copied: Backup): Promise<Backup> {
  await writeChecksum(copied.file);
  return copied;
}

/** @throws OperatorError when the folder has a store already: nothing is ever written over */
export function refuseExisting(target: string): void {
  if (inspectFile(target).kind === 'absent') return;
  throw new OperatorError(
    `There is a data store in ${target} already. Nothing is written over it; name an empty folder.`,
  );
}

/**
 * Gives a store its name in a folder that has none, once all of it is on the disk.
 * @param fill makes it in the folder that it is given
 * @param prefix of that folder's name
 * @throws OperatorError when the folder has a store already, or somebody else is making one in it
 */
export async function fillFolder(
  target: string,
  fill: (partial: string) => Promise<void>,
  prefix?: string,
): Promise<Backup> {
  refuseExisting(target);
  makeFolder(target);
  const locked = removeUnfinished(target);
  if (locked !== undefined) throw locked;
  const partial = beginCopy(target, prefix);
  try {
    const copy = join(partial.path, DATA_FILE);
    await fill(partial.path);
    const counts = countsOf(partial.path);
    syncToDisk(copy);
    refuseExisting(target);
    const file = join(target, DATA_FILE);
    renameSync(copy, file);
    syncToDisk(target);
    return { file, bytes: statSync(file).size, ...counts };
  } finally {
    partial.remove();
  }
}

function countsOf(folder: string): Omit<StoreStats, 'bytes'> {
  const tables = openDataTables(folder, { readOnly: true });
  const state = readState(tables);
  void tables.engine.close();
  return { users: state.users, items: state.items, feedback: state.feedback };
}
