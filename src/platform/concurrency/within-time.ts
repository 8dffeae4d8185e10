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
