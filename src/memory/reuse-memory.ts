import { createSharedMemory } from './shared-memory.ts';

/** Makes a memory of at least so many bytes, all zero. */
export type AllocateMemory = (bytes: number) => WebAssembly.Memory;

/**
 * Takes a memory that is free again where one is large enough, the smallest of them, and makes a new one otherwise. So
 * what is laid out one after the other takes the room of the largest and not of all together: a memory is given back to
 * the system only once no thread has collected it, which may be long after.
 * @param free memories that nobody uses; those taken are removed
 */
export function reuseMemory(free: WebAssembly.Memory[]): AllocateMemory {
  return (bytes) => {
    const fitting = free
      .filter(({ buffer }) => buffer.byteLength >= bytes)
      .sort((a, b) => a.buffer.byteLength - b.buffer.byteLength)[0];
    if (fitting === undefined) return createSharedMemory(bytes);
    free.splice(free.indexOf(fitting), 1);
    new Uint8Array(fitting.buffer, 0, bytes).fill(0);
    return fitting;
  };
}
