/** Tells a job, in memory that it shares with whoever asked, that nobody waits for it any more: not 0 from then on. */
export type CancelFlag = Int32Array<SharedArrayBuffer>;

/** A job that can be told so. */
export interface Cancellable {
  readonly cancelled: CancelFlag;
}

/** Does work by a job whose flag is raised once the signal is aborted. */
export async function cancelledBy<T>(
  signal: AbortSignal | undefined,
  work: (cancelled: CancelFlag) => Promise<T>,
): Promise<T> {
  const cancelled = new Int32Array(new SharedArrayBuffer(4));
  const cancel = () => void Atomics.store(cancelled, 0, 1);
  if (signal?.aborted) cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    return await work(cancelled);
  } finally {
    signal?.removeEventListener('abort', cancel);
  }
}

/** To be called now and then by a job. @throws Error once nobody waits for it any more */
export function throwIfCancelled({ cancelled }: Cancellable): void {
  if (Atomics.load(cancelled, 0) !== 0) throw new Error('nobody waits for this any more');
}
