import { buffersOf } from './find-shared-buffers.ts';

/** The most that is counted for one buffer: enough for a collection, and too little for one in a single long pause. */
const COUNTED_BYTES_MAX = 2 ** 27;

const counted = new WeakMap<SharedArrayBuffer, ArrayBuffer>();
/** Bytes of the buffers at the side that are not collected yet. */
let besideBytes = 0;
const collected = new FinalizationRegistry((bytes: number) => {
  besideBytes -= bytes;
});

/**
 * Has the calling thread's collector count the shared memory that a value refers to. V8 counts none (a shared buffer has an
 * accounted length of 0 in every isolate), so a thread that makes little garbage of its own keeps the memory of one model
 * after the other. Each buffer gets an ordinary one of its size at its side, as long as it is reachable here: that one is
 * counted, and takes no memory, since nobody touches its pages (a resizable one has pages of its own, where another's may be
 * used ones that have to be cleared).
 * @param value plain data, shared buffers and memories
 */
export function countForCollection(value: unknown): void {
  for (const buffer of buffersOf(value)) {
    if (counted.has(buffer)) continue;
    const maxByteLength = Math.min(buffer.byteLength, COUNTED_BYTES_MAX);
    const beside = new ArrayBuffer(maxByteLength, { maxByteLength });
    counted.set(buffer, beside);
    collected.register(beside, maxByteLength);
    besideBytes += maxByteLength;
  }
}

/** Bytes outside the calling thread's heap that its collector knows of, without those that only count for others. */
export function externalBytes(): number {
  return Math.max(0, process.memoryUsage().external - besideBytes);
}
