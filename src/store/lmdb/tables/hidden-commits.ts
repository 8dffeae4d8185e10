import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ownThread } from '../../../platform/program/thread-entry.ts';

/** Try again, as the engine says it. */
const EAGAIN = 11;

/**
 * Brings the last commit of a file back into sight. LMDB keeps the number of the last commit in the lock file. A process
 * that opens the folder reads the number in the data file and then writes it there. Whatever is committed in between is
 * hidden by that from all that read, and the next commit would take its place. The next process that opens the folder
 * while nothing is committed puts it right: this starts one, and waits for its end.
 */
export function showNewestCommit(path: string): void {
  const { url, execArgv } = ownThread('store/lmdb/tables/opening-child');
  spawnSync(process.execPath, [...execArgv, fileURLToPath(url), path], { stdio: 'ignore' });
}

/** For a commit that stays hidden: what would be written now would take its place. */
export function staysHidden(path: string): Error {
  const reason = `other processes open ${path} so often that its last commit stays hidden`;
  return Object.assign(new Error(reason), { code: EAGAIN });
}
