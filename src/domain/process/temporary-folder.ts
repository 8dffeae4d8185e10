import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { atExit } from './exit-cleanup.ts';
import { isAlive } from './is-alive.ts';

/** A folder that is gone when the process ends, also by Ctrl-C or SIGTERM; any other signal leaves it. */
export interface TemporaryFolder {
  readonly path: string;
  /** Removes it with all that is in it. */
  remove(): void;
}

/**
 * Makes a folder for this process alone, such as `/tmp/furze-evaluate-host.4711.Xy3z9Q`.
 * @param prefix what its name begins with
 * @param parent the folder that it is made in; when absent that of the system, out of which goes what processes of this
 *   host left that were killed
 */
export function temporaryFolder(prefix: string, parent?: string): TemporaryFolder {
  if (parent === undefined) removeLeftOver();
  const own = parent === undefined ? `${prefix}${hostname()}.${process.pid}.` : prefix;
  const path = mkdtempSync(join(parent ?? tmpdir(), own));
  const remove = () => rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  const release = atExit(remove);
  return {
    path,
    remove() {
      remove();
      release();
    },
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
