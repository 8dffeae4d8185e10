import { accessSync, constants, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../../../domain/operator-error.ts';
import { noteOpened, type OpenedFolder } from '../../../platform/process/supervisor-notes.ts';
import { DATA_FILE, LOCK_FILE } from '../tables/engine.ts';
import { checkStore, type StoreKind } from './check-store.ts';
import { inspectFile } from './file-head.ts';

const DAMAGED_PREFIX = 'damaged-';

export interface GuardedFolders {
  readonly dataPath: string;
  readonly cachePath: string;
  /** Stores that are read as a whole first, in a process of their own. */
  readonly toRead: readonly StoreKind[];
  /** The data is a copy of what another store holds, so that a damaged one can be made anew. */
  readonly isReplica?: boolean;
  /** Ends the reading when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Looks at both files before they are opened: a damaged one would end the process by a signal without a word.
 * A damaged cache or copy is set aside, since all that it holds can be made again; the folders must be locked.
 * @param onTrouble told of what was set aside
 * @throws OperatorError when the data store is damaged: what is wrong, and what to do
 */
export async function guardFiles(
  { dataPath, cachePath, toRead, isReplica = false, signal }: GuardedFolders,
  onTrouble: (message: string) => void,
): Promise<void> {
  noteOpened('data', dataPath);
  noteOpened('cache', cachePath);
  const fault = await faultOf('data', dataPath, toRead.includes('data'), signal);
  if (fault !== undefined && isReplica) {
    const name = setAside(dataPath);
    onTrouble(`The copy in ${dataPath} is damaged (${fault}). It is kept as ${name}; a new one is made.`);
  } else if (fault !== undefined) {
    throw damaged(dataPath, fault);
  }
  const reason = await faultOf('cache', cachePath, toRead.includes('cache'), signal);
  if (reason === undefined) return;
  const name = setAside(cachePath);
  onTrouble(
    `The cache in ${cachePath} is damaged (${reason}). It is kept as ${name}; a new one is made while serving.`,
  );
}

/**
 * Looks at the data file of a folder before it is opened to be read or copied: a damaged one would end the process by a signal
 * without a word, and LMDB reads without a lock where this user may not write the lock file, while a service writes.
 * @throws OperatorError when there is none, it is damaged or may not be locked: what is wrong, and what to do
 */
export async function refuseUnsound(dataPath: string): Promise<void> {
  if (inspectFile(dataPath).kind === 'absent')
    throw new OperatorError(`There is no data store in ${dataPath}.`);
  if (!mayLock(dataPath))
    throw new OperatorError(
      `This user may not write ${join(dataPath, LOCK_FILE)}, by which a service knows what is being read and leaves it ` +
        'as it is. Run the command as the user of the service, or ask the service with --url.',
    );
  noteOpened('data', dataPath);
  const fault = await faultOf('data', dataPath, false, undefined);
  if (fault !== undefined) throw damaged(dataPath, fault);
}

/**
 * Says what is wrong with the first of some stores that is damaged, and what to do about it, once reading them has failed or ended
 * a process by a signal: each is read as a whole in one more process.
 * @returns undefined where none is damaged, or nobody can tell
 */
export async function findDamage(opened: readonly OpenedFolder[]): Promise<string | undefined> {
  for (const { kind, path } of opened) {
    const fault = await faultOf(kind, path, true, undefined).catch(() => undefined);
    if (fault === undefined) continue;
    if (kind === 'data') return damaged(path, fault).message;
    return (
      `The cache in ${path} is damaged: ${fault}. Stop the service and remove that folder; all that it held is made again. ` +
      '"furze check" says more.'
    );
  }
  return undefined;
}

/** False where there is a lock file that this user may not write; a file system that is only read has no writers. */
function mayLock(dataPath: string): boolean {
  try {
    accessSync(join(dataPath, LOCK_FILE), constants.W_OK);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EACCES';
  }
}

function damaged(dataPath: string, fault: string): OperatorError {
  return new OperatorError(
    `The data store in ${dataPath} is damaged: ${fault}. Restore a backup into an empty folder ("furze restore"); ` +
      `"furze check ${dataPath}" says more. The file is left as it is.`,
  );
}

/**
 * Faults of the file of a store. Where the file of the data is short, it is read to its end to know whether pages
 * are missing; a cache is not worth that.
 */
async function faultOf(
  kind: StoreKind,
  path: string,
  readAll: boolean,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const state = inspectFile(path);
  if (state.kind === 'damaged') return state.reason;
  const short = state.kind === 'short' ? `it has ${state.bytes} bytes of ${state.expectedBytes}` : undefined;
  if (short !== undefined && kind === 'cache') return short;
  if (short === undefined && !readAll) return undefined;
  const report = await checkStore(kind, path, signal);
  if (report === undefined || report.faultCount === 0) return undefined;
  return short ?? report.faults[0]!.replace(/\.$/, '');
}

/** One damaged file is kept, the last. */
function setAside(folder: string): string {
  for (const name of readdirSync(folder)) {
    if (name.startsWith(DAMAGED_PREFIX)) rmSync(join(folder, name), { force: true });
  }
  const name = `${DAMAGED_PREFIX}${new Date().toISOString().replaceAll(':', '-')}.mdb`;
  renameSync(join(folder, DATA_FILE), join(folder, name));
  rmSync(join(folder, LOCK_FILE), { force: true });
  return name;
}
