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

/** A member that the typings leave out. */
interface Growable {
  grow(pages: number): number;
}

/** Adds pages at the end of a growing memory. @throws RangeError where the system has none */
export function growMemory(memory: WebAssembly.Memory, pages: number): void {
  (memory as unknown as Growable).grow(pages);
}

/**
 * Makes a shared memory that grows, by `growMemory`, up to 4 GiB. Views are made anew after each growth, from `buffer`; older
 * ones show what they have shown.
 * @param bytes at first
 */
export function createGrowingMemory(bytes: number): WebAssembly.Memory {
  const maximum = MEMORY_BYTES_MAX / PAGE_BYTES;
  return new WebAssembly.Memory({ initial: Math.ceil(bytes / PAGE_BYTES), maximum, shared: true });
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
