/** Bytes of one WebAssembly page. */
export const PAGE_BYTES = 65_536;
/** A 32-bit WebAssembly memory ends here: 65,536 pages, 4 GiB. */
export const MEMORY_BYTES_MAX = 65_536 * PAGE_BYTES;

/**
 * Makes a shared memory of a fixed size, at least `bytes` (rounded up to whole pages). It never grows, because
 * views made before a `grow` would not see the new pages; the system commits a page only when it is touched.
 * @param bytes from 1 to 4 GiB; anything else throws a RangeError.
 */
export function createSharedMemory(bytes: number): WebAssembly.Memory {
  if (!(bytes >= 1 && bytes <= MEMORY_BYTES_MAX)) {
    throw new RangeError(`a shared memory holds 1 to ${MEMORY_BYTES_MAX} bytes, not ${bytes}`);
  }
  const pages = Math.ceil(bytes / PAGE_BYTES);
  return new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
}

/** A view of `count` float32 that starts at byte `offset` (a multiple of 4). */
export function f32(
  memory: WebAssembly.Memory,
  offset: number,
  count: number,
): Float32Array<SharedArrayBuffer> {
  return new Float32Array(memory.buffer, offset, count);
}

/** A view of `count` float64 that starts at byte `offset` (a multiple of 8). */
export function f64(
  memory: WebAssembly.Memory,
  offset: number,
  count: number,
): Float64Array<SharedArrayBuffer> {
  return new Float64Array(memory.buffer, offset, count);
}

/** A view of `count` uint32 that starts at byte `offset` (a multiple of 4). */
export function u32(
  memory: WebAssembly.Memory,
  offset: number,
  count: number,
): Uint32Array<SharedArrayBuffer> {
  return new Uint32Array(memory.buffer, offset, count);
}

/** A view of `count` int32 that starts at byte `offset` (a multiple of 4); for atomics. */
export function i32(
  memory: WebAssembly.Memory,
  offset: number,
  count: number,
): Int32Array<SharedArrayBuffer> {
  return new Int32Array(memory.buffer, offset, count);
}

/** A view of `count` bytes that starts at byte `offset`. */
export function u8(memory: WebAssembly.Memory, offset: number, count: number): Uint8Array<SharedArrayBuffer> {
  return new Uint8Array(memory.buffer, offset, count);
}
