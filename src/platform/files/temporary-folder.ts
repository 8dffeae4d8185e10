import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { atExit } from '../process/exit-cleanup.ts';
import { isAlive } from '../process/is-alive.ts';
import { noteUnfinished } from '../process/supervisor-notes.ts';

/** No other folder has the same name. */
const RANDOM_BYTES = 8;
const OWNER_ONLY = 0o700;

/** A folder that is gone when the process ends, also by Ctrl-C or SIGTERM; any other signal leaves it. */
export interface TemporaryFolder {
  readonly path: string;
  /** Removes it with all that is in it. */
  remove(): void;
}

/**
 * Makes a folder for this process alone, such as `/tmp/furze-evaluate-host.4711.9f3a...`.
 * @param prefix what its name begins with
 * @param parent the folder that it is made in; when absent that of the system, out of which goes what processes of this
 *   host left that were killed
 */
export function temporaryFolder(prefix: string, parent?: string): TemporaryFolder {
  if (parent === undefined) removeLeftOver();
  const own = parent === undefined ? `${prefix}${hostname()}.${process.pid}.` : prefix;
  const path = join(parent ?? tmpdir(), own + randomBytes(RANDOM_BYTES).toString('hex'));
  const remove = () => rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  // Before it is there: a signal may come at once.
  const keep = goesWithProcess(path, remove);
  try {
    mkdirSync(path, { mode: OWNER_ONLY });
  } catch (error) {
    keep();
    throw error;
  }
  return {
    path,
    remove() {
      remove();
      keep();
    },
  };
}

/**
 * A file or folder in the making: it goes when the process ends, as a temporary folder does, and where another process
 * supervises this one also when damaged files end it by a signal.
 * @returns a function after which it stays
 */
export function goesWithProcess(
  path: string,
  remove = () => rmSync(path, { recursive: true, force: true }),
): () => void {
  const release = atExit(remove);
  const settle = noteUnfinished(path);
  return () => {
    settle();
    release();
  };
}

/** Which processes of another host, such as a container, are gone, nobody knows here. */
function removeLeftOver(): void {
  for (const name of readdirSync(tmpdir())) {
    const [, host, pid] = /^furze-[a-z]+-(.+)\.(\d+)\.[^.]+$/.exec(name) ?? [];
    if (host !== hostname() || isAlive(Number(pid))) continue;
    try {
      rmSync(join(tmpdir(), name), { recursive: true, force: true, maxRetries: 3 });
    } catch {
      // Another user's.
    }
  }
}
