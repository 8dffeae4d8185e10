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

/** Makes views of `count` numbers of one type that start at byte `offset`, a multiple of a number's bytes. */
function viewer<View>(View: new (buffer: SharedArrayBuffer, offset: number, count: number) => View) {
  return (memory: WebAssembly.Memory, offset: number, count: number): View =>
    new View(memory.buffer, offset, count);
}

export const f32 = viewer<Float32Array<SharedArrayBuffer>>(Float32Array);
export const f64 = viewer<Float64Array<SharedArrayBuffer>>(Float64Array);
export const u32 = viewer<Uint32Array<SharedArrayBuffer>>(Uint32Array);
/** For atomics. */
export const i32 = viewer<Int32Array<SharedArrayBuffer>>(Int32Array);
export const u8 = viewer<Uint8Array<SharedArrayBuffer>>(Uint8Array);
