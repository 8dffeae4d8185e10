import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Repeats work that may fail, a pause after it has ended.
 * @param pauseMs before each time, the first one too
 * @returns what ends it, and resolves once what is under way is over
 */
export function repeated(pauseMs: number, work: () => Promise<void>): () => Promise<void> {
  const ending = new AbortController();
  const { signal } = ending;
  const run = async () => {
    while (!signal.aborted)
      await sleep(pauseMs, undefined, { ref: false, signal })
        .then(work)
        .catch(() => {});
  };
  const over = run();
  return () => {
    ending.abort();
    return over;
  };
}
