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

/** The memories that plain data refers to, each once. */
export function memoriesOf(value: unknown): WebAssembly.Memory[] {
  return [...found(value).memories];
}

/** The shared buffers that plain data refers to, those of its memories among them, each once. */
export function buffersOf(value: unknown): ReadonlySet<SharedArrayBuffer> {
  return found(value).buffers;
}

/** Bytes of the shared memory that plain data refers to, each buffer counted once. */
export function sharedBytesOf(value: unknown): number {
  let sum = 0;
  for (const { byteLength } of buffersOf(value)) sum += byteLength;
  return sum;
}

interface Found {
  readonly buffers: Set<SharedArrayBuffer>;
  readonly memories: Set<WebAssembly.Memory>;
  readonly seen: Set<object>;
}

function found(value: unknown): Found {
  const all: Found = { buffers: new Set(), memories: new Set(), seen: new Set() };
  visit(value, all);
  return all;
}

function visit(value: unknown, all: Found): void {
  if (typeof value !== 'object' || value === null || all.seen.has(value)) return;
  all.seen.add(value);
  if (value instanceof SharedArrayBuffer) all.buffers.add(value);
  else if (ArrayBuffer.isView(value)) visit(value.buffer, all);
  else if (value instanceof WebAssembly.Memory) {
    all.memories.add(value);
    all.buffers.add(value.buffer);
  } else if (!(value instanceof ArrayBuffer)) for (const part of Object.values(value)) visit(part, all);
}
