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
