import { readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../../domain/operator-error.ts';
import { checkStore } from './check/check-store.ts';
import { inspectFile } from './data-file.ts';
import { DATA_FILE, LOCK_FILE } from './engine.ts';

const DAMAGED_PREFIX = 'damaged-';

/**
 * Looks at both files before they are opened: a damaged one would end the process by a signal without a word.
 * A damaged cache is set aside, since all that it holds can be made again; the folders must be locked.
 * @param onTrouble told of a cache that was set aside
 * @throws OperatorError when the data store is damaged: what is wrong, and what to do
 */
export async function guardFiles(
  { dataPath, cachePath }: { readonly dataPath: string; readonly cachePath: string },
  onTrouble: (message: string) => void,
): Promise<void> {
  const fault = await faultOf(dataPath);
  if (fault !== undefined) {
    throw new OperatorError(
      `The data store in ${dataPath} is damaged: ${fault}. Restore a backup into an empty folder ("furze restore"); ` +
        `"furze check ${dataPath}" says more. The file is left as it is.`,
    );
  }
  const cache = inspectFile(cachePath);
  if (cache.kind !== 'damaged' && cache.kind !== 'short') return;
  const reason = cache.kind === 'short' ? 'it is cut off' : cache.reason;
  const name = setAside(cachePath);
  onTrouble(
    `The cache in ${cachePath} is damaged (${reason}). It is kept as ${name}; a new one is made while serving.`,
  );
}

/** What is wrong with the file of the data store. A short one is read to its end to know whether pages are missing. */
async function faultOf(dataPath: string): Promise<string | undefined> {
  const state = inspectFile(dataPath);
  if (state.kind === 'damaged') return state.reason;
  if (state.kind !== 'short') return undefined;
  const report = await checkStore('data', dataPath);
  if (report === undefined || report.faultCount === 0) return undefined;
  return `it has ${state.bytes} bytes of ${state.expectedBytes}`;
}

/** One damaged cache is kept, the last. */
function setAside(cachePath: string): string {
  for (const name of readdirSync(cachePath)) {
    if (name.startsWith(DAMAGED_PREFIX)) rmSync(join(cachePath, name), { force: true });
  }
  const name = `${DAMAGED_PREFIX}${new Date().toISOString().replaceAll(':', '-')}.mdb`;
  renameSync(join(cachePath, DATA_FILE), join(cachePath, name));
  rmSync(join(cachePath, LOCK_FILE), { force: true });
  return name;
}
