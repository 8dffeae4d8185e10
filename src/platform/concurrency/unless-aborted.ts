/**
 * Waits for work no longer than until a signal is aborted.
 * @throws the signal's reason once it is aborted, before the call or during it, whatever becomes of the work; or what the
 * work throws
 */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stopWaiting = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stopWaiting = () => reject(signal.reason);
    signal.addEventListener('abort', stopWaiting);
    if (signal.aborted) stopWaiting();
  });
  try {
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener('abort', stopWaiting);
  }
}

/**
 * Waits for work no longer than so long.
 * @throws Error once the time is over, whatever becomes of the work; or what the work throws
 */
export function withinTime<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Error(`no answer within ${ms} ms`));
    // One turn more, since this thread may have been busy itself while the answer came.
    const timer = setTimeout(() => setImmediate(fail), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
