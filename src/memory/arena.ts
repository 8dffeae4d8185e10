import * as view from './shared-memory.ts';

/** The first address an arena over a whole memory hands out: one cache line up, because 0 means "none". */
export const ARENA_START = 64;

/** Bytes that an allocation of `bytes` may take with its alignment; for working out a memory's size beforehand. */
export function alignedBytes(bytes: number, align = 16): number {
  return Math.ceil(bytes / align) * align;
}

/**
 * Hands out byte ranges of a memory one after the other (a bump allocator); nothing is freed.
 */
export class Arena {
  readonly memory: WebAssembly.Memory;
  readonly endOffset: number;
  #next: number;

  /**
   * @param memory the memory to divide
   * @param start first byte to hand out
   * @param end one past the last byte to hand out; the memory's end unless told. Give each worker its own range.
   */
  constructor(memory: WebAssembly.Memory, start = ARENA_START, end = memory.buffer.byteLength) {
    this.memory = memory;
    this.endOffset = end;
    this.#next = start;
  }

  /** The offset of the next byte to be handed out. */
  get usedBytes(): number {
    return this.#next;
  }

  get freeBytes(): number {
    return this.endOffset - this.#next;
  }

  /**
   * @param bytes size, 0 or more
   * @param align a power of two
   * @returns the range's byte offset, a multiple of `align`
   * @throws RangeError when the memory has no room
   */
  alloc(bytes: number, align = 16): number {
    const offset = Math.ceil(this.#next / align) * align;
    if (!(bytes >= 0 && offset + bytes <= this.endOffset)) {
      throw new RangeError(`no room for ${bytes} bytes: ${Math.max(0, this.endOffset - offset)} are free`);
    }
    this.#next = offset + bytes;
    return offset;
  }

  f32(offset: number, count: number): Float32Array<SharedArrayBuffer> {
    return view.f32(this.memory, offset, count);
  }

  u32(offset: number, count: number): Uint32Array<SharedArrayBuffer> {
    return view.u32(this.memory, offset, count);
  }
}
