import { existsSync, readdirSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Config } from '../../config/config.ts';
import { OperatorError } from '../../domain/operator-error.ts';
import { parseDsn } from '../../store/dsn.ts';
import { FolderLockedError } from '../../store/lock/folder-lock.ts';
import { orSay, type Prompt } from './prompt.ts';

/** The folder of a configuration's data; undefined where a database has the data. */
export function dataFolderOf(config: Config): string | undefined {
  const dsn = parseDsn(config.database.data_store);
  return dsn.engine === 'lmdb' ? dsn.path : undefined;
}

/** True when a service has kept data in a folder, be it none any more. */
export async function hasStore(folder: string): Promise<boolean> {
  // Loaded here, since it brings the engine.
  const { inspectFile } = await import('../../store/open/open-store.ts');
  return inspectFile(folder).kind !== 'absent';
}

/**
 * Asks for another folder where the one that is meant holds data, so that two sets are not mixed unasked.
 * @param holdsData whether there are records in a folder that has a store
 * @param prompt undefined where nobody is asked
 * @returns the folder to import into
 * @throws OperatorError when it holds data and nobody is asked, or is a file
 */
export async function findFolder(
  folder: string,
  holdsData: (folder: string) => Promise<boolean>,
  prompt: Prompt | undefined,
): Promise<string> {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false)
    throw new OperatorError(`${folder} cannot be a folder, since it is a file; name another with --data`);
  if (!(await hasStore(folder)) || !(await holdsData(folder))) return folder;
  if (prompt === undefined) {
    throw new OperatorError(
      `${folder} holds data already, with which init would mix the new: name another folder with --data, or delete this one (furze import adds to it)`,
    );
  }
  prompt.say(`${folder} holds data already.`);
  const question = 'A new folder for the data of these files (or the same again, to add to it):';
  const answer = await prompt.ask(question, nextFree(folder));
  if (answer === folder) return folder;
  return (
    (await orSay(prompt, () => findFolder(answer, holdsData, prompt))) ??
    findFolder(folder, holdsData, prompt)
  );
}

function nextFree(folder: string): string {
  for (let number = 2; ; number++) {
    const name = `${folder.replace(/\/+$/, '')}-${number}`;
    if (!existsSync(name)) return name;
  }
}

/** A folder as it was before anything was put into it. */
export interface FolderBefore {
  /**
   * Takes out what was put in since; where it held something before, or another process has come meanwhile, nothing.
   * @param error what failed
   * @returns whether it is as before
   */
  restore(error: unknown): boolean;
}

/** @param folder undefined where a database has the data */
export function rememberFolder(folder: string | undefined): FolderBefore {
  const missing = folder === undefined ? [] : missingFolders(folder);
  const isOurs = folder !== undefined && (missing.length > 0 || readdirSync(folder).length === 0);
  return {
    restore(error) {
      if (!isOurs || error instanceof FolderLockedError) return false;
      for (const name of existsSync(folder) ? readdirSync(folder) : [])
        rmSync(join(folder, name), { recursive: true, force: true, maxRetries: 3 });
      for (const path of missing) if (existsSync(path) && readdirSync(path).length === 0) rmdirSync(path);
      return true;
    },
  };
}

/** A folder and those around it that are not there, from the inmost on. */
function missingFolders(folder: string): string[] {
  const missing: string[] = [];
  for (let path = resolve(folder); !existsSync(path); path = dirname(path)) missing.push(path);
  return missing;
}
