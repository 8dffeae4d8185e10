/** Work that any number of threads share: each takes chunks of rows from one atomic counter until none is left. */
import type { Progress } from './als/train.ts';

/** Places in the shared array. */
const NEXT_CHUNK = 0;
const ROWS_DONE = 1;
const CANCELLED = 2;

/** The counter as plain shared memory. */
export type ChunkCounter = Int32Array<SharedArrayBuffer>;

export function createChunkCounter(): ChunkCounter {
  return new Int32Array(new SharedArrayBuffer(12));
}

/** Begins again at the first chunk; called while no thread takes any. */
export function restartChunks(counter: ChunkCounter): void {
  Atomics.store(counter, NEXT_CHUNK, 0);
  Atomics.store(counter, ROWS_DONE, 0);
}

/** Makes every thread stop after the chunk it is at; may be called from any thread at any time. */
export function cancelChunks(counter: ChunkCounter): void {
  Atomics.store(counter, CANCELLED, 1);
}

/** How many rows are done. */
export function chunkProgress(counter: ChunkCounter, rowCount: number): Progress {
  return { done: Atomics.load(counter, ROWS_DONE), total: rowCount };
}

/**
 * Takes chunks until none is left, handing rows [first, end) of each to `work`.
 * @returns false when the work was cancelled
 */
export function takeChunks(
  counter: ChunkCounter,
  rowCount: number,
  chunkRows: number,
  work: (firstRow: number, endRow: number) => void,
): boolean {
  for (;;) {
    if (Atomics.load(counter, CANCELLED) !== 0) return false;
    const first = Atomics.add(counter, NEXT_CHUNK, 1) * chunkRows;
    if (first >= rowCount) return true;
    const end = Math.min(rowCount, first + chunkRows);
    work(first, end);
    Atomics.add(counter, ROWS_DONE, end - first);
  }
}
