import type { WorkerPool } from './pool.ts';

/** How often progress is told and a stop is looked for. */
const TELL_MS = 200;

/** What goes along with a job that runs in every training slot. */
export interface Watch {
  readonly tell: () => void;
  readonly isStopped: () => boolean;
  /** Makes the job end soon. */
  readonly cancel: () => void;
}

/**
 * Runs a job once in every training slot of the pool.
 * @param jobIn the job of a slot; answers false when it was cancelled
 * @returns false when it was stopped
 */
export async function spread(
  pool: WorkerPool,
  jobIn: (slot: number) => Promise<boolean>,
  { tell, isStopped, cancel }: Watch,
): Promise<boolean> {
  const timer = setInterval(() => {
    if (isStopped()) cancel();
    else tell();
  }, TELL_MS);
  try {
    const parts = Array.from({ length: pool.trainingSlots }, (_, slot) => jobIn(slot));
    return (await Promise.all(parts)).every(Boolean) && !isStopped();
  } finally {
    clearInterval(timer);
  }
}
