import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../../domain/furze-error.ts';

/** The environment of an `Engine`, as far as it is needed here. */
export interface Environment {
  resetReadTxn(): void;
  getStats(): unknown;
  batch(action: () => void): Promise<unknown>;
}

/** Time between two looks whether what is queued will ever be written, milliseconds. */
const LOOK_MS = 1000;

/** LMDB reads and writes nothing any more in a process in which the page that tells of a commit could not be written. */
export function isGivenUp(error: unknown): boolean {
  return messageOf(error).includes('MDB_PANIC');
}

/** See `isGivenUp`. */
export class GivenUpError extends Error {
  override readonly name = 'GivenUpError';
  /** As the engine tells it. */
  readonly code = -30_795;

  /** @param path folder of the environment */
  constructor(path: string) {
    super(
      `${path} is neither read nor written any more by this process (MDB_PANIC), since its disk failed amid a commit: check the disk and restart the service`,
    );
  }
}

/** @throws GivenUpError where it is so with this environment, in the folder `path` */
export function refuseGivenUp(root: Environment, path: string): void {
  root.resetReadTxn();
  try {
    root.getStats();
  } catch (error) {
    throw isGivenUp(error) ? new GivenUpError(path) : error;
  }
}

/**
 * As `root.batch(action)`, whose promise is never settled where LMDB has given up the environment before it begins.
 * @throws GivenUpError, too; where the commit failed, what it failed for, with a property `commitError`
 */
export async function batchUnlessGivenUp(root: Environment, path: string, action: () => void): Promise<void> {
  refuseGivenUp(root, path);
  const queued = root.batch(action).catch(throwCause);
  let timer: NodeJS.Timeout | undefined;
  const givenUp = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      try {
        refuseGivenUp(root, path);
      } catch (error) {
        reject(error);
      }
    }, LOOK_MS);
  });
  try {
    await Promise.race([queued, givenUp]);
  } finally {
    clearInterval(timer);
  }
}

/** lmdb-js rejects with what a commit failed for apart, a moment later. */
async function throwCause(error: Error & { readonly commitError?: Promise<unknown> }): Promise<never> {
  const { commitError } = error;
  if (commitError === undefined) throw error;
  const cause = commitError.then(
    () => error,
    (reason) => reason,
  );
  throw Object.assign(await Promise.race([cause, sleep(LOOK_MS, error, { ref: false })]), { commitError });
}
