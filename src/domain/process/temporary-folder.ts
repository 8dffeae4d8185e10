import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEnd } from './at-end.ts';

/** A folder that is gone when the process ends, also by Ctrl-C or SIGTERM; any other signal leaves it. */
export interface TemporaryFolder {
  readonly path: string;
  /** Removes it with all that is in it. */
  remove(): void;
}

/**
 * Makes a folder for this process alone, such as `/tmp/furze-evaluate-Xy3z9Q`.
 * @param prefix what its name begins with
 * @param parent the folder that it is made in
 */
export function temporaryFolder(prefix: string, parent = tmpdir()): TemporaryFolder {
  const path = mkdtempSync(join(parent, prefix));
  const remove = () => rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  const release = atEnd(remove);
  return {
    path,
    remove() {
      remove();
      release();
    },
  };
}
