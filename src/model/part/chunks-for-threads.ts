/** Work that any number of threads share: each takes chunks of rows from one atomic counter until none is left. */

/** Places in the shared array. */
const NEXT_CHUNK = 0;
const ROWS_DONE = 1;
const CANCELLED = 2;
const FAULTY = 3;
const PLACES = 4;

/** The counter as plain shared memory. */
export type ChunkCounter = Int32Array<SharedArrayBuffer>;

/** Fields of every task: plain data and shared memory, sent to each thread that takes part. */
export interface SharedTask {
  readonly counter: ChunkCounter;
  /** Data that the task leaves out to stay within bounds of work, for people; none when absent. */
  readonly leftOut?: string | undefined;
}

export function createChunkCounter(): ChunkCounter {
  return new Int32Array(new SharedArrayBuffer(PLACES * 4));
}

/** Begins a phase at its first chunk; called by the one that drives, while no thread takes any. */
export function beginPhase({ counter }: SharedTask): void {
  Atomics.store(counter, NEXT_CHUNK, 0);
  Atomics.store(counter, ROWS_DONE, 0);
}

/** Makes every thread stop after the chunk it is at; may be called from any thread at any time. */
export function cancelTask({ counter }: SharedTask): void {
  Atomics.store(counter, CANCELLED, 1);
}

export function isCancelled({ counter }: SharedTask): boolean {
  return Atomics.load(counter, CANCELLED) !== 0;
}

/** Rows of the phase that are done. */
export function rowsDone({ counter }: SharedTask): number {
  return Atomics.load(counter, ROWS_DONE);
}

/** Says how many rows of the phase are done, where a thread does not take chunks. */
export function setRowsDone({ counter }: SharedTask, rows: number): void {
  Atomics.store(counter, ROWS_DONE, rows);
}

/** Notes that what was computed is of no use, such as factors that are not finite; holds for the whole task. */
export function markFaulty({ counter }: SharedTask): void {
  Atomics.store(counter, FAULTY, 1);
}

export function isFaulty({ counter }: SharedTask): boolean {
  return Atomics.load(counter, FAULTY) !== 0;
}

/**
 * Takes chunks until none is left, handing rows [first, end) of each to `work`, which may answer how many of them there was
 * anything to do for.
 * @returns false when the task was cancelled
 */
export function takeChunks(
  task: SharedTask,
  rowCount: number,
  chunkRows: number,
  work: (firstRow: number, endRow: number) => number | undefined,
): boolean {
  for (;;) {
    if (isCancelled(task)) return false;
    const first = Atomics.add(task.counter, NEXT_CHUNK, 1) * chunkRows;
    if (first >= rowCount) return true;
    const end = Math.min(rowCount, first + chunkRows);
    const rows = work(first, end) ?? end - first;
    Atomics.add(task.counter, ROWS_DONE, rows);
  }
}
