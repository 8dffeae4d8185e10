/**
 * Waits for work no longer than until a signal is aborted.
 * @throws the signal's reason once it is aborted, before the call or during it, whatever becomes of the work; or what the
 * work throws
 */
export async function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  let stopWaiting = () => {};
  const aborted = new Promise<void>((resolve) => {
    stopWaiting = resolve;
    signal.addEventListener('abort', stopWaiting);
    if (signal.aborted) resolve();
  });
  try {
    await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stopWaiting);
  }
  signal.throwIfAborted();
}
