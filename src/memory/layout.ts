import type { Arena } from './arena.ts';
import { f32, f64, i32, u8, u32 } from './shared-memory.ts';

/** "FRZM", little-endian, in the first four bytes of a memory that has a layout. */
const MAGIC = 0x4d5a5246;
const VERSION = 1;

const ELEMENT_BYTES = { f32: 4, f64: 8, u32: 4, i32: 4, u8: 1 } as const;
const VIEWS = { f32, f64, u32, i32, u8 } as const;
export type ElementType = keyof typeof ELEMENT_BYTES;

/** One array of a memory: its elements' type, the byte offset of the first, and its shape (rows first). */
export interface NamedArray {
  readonly type: ElementType;
  readonly offset: number;
  readonly shape: readonly number[];
}

/** Describes what lies in a memory. It is plain data: send `{ memory, layout }` to a worker. */
export interface MemoryLayout {
  readonly magic: number;
  readonly version: number;
  /** Tells one memory's layout from another's; it also stands in the memory's header. */
  readonly id: number;
  readonly bytes: number;
  readonly arrays: Readonly<Record<string, NamedArray>>;
}

interface Views {
  f32: Float32Array<SharedArrayBuffer>;
  f64: Float64Array<SharedArrayBuffer>;
  u32: Uint32Array<SharedArrayBuffer>;
  i32: Int32Array<SharedArrayBuffer>;
  u8: Uint8Array<SharedArrayBuffer>;
}

/** How many elements a shape has. */
export function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, length) => product * length, 1);
}

/** Allocates named arrays from an arena and describes them; the arena must cover its memory from `ARENA_START`. */
export class LayoutBuilder {
  readonly #arena: Arena;
  readonly #arrays: Record<string, NamedArray> = Object.create(null);

  constructor(arena: Arena) {
    this.#arena = arena;
  }

  /** @returns the array's byte offset; throws when the name is taken or the memory full. */
  add(name: string, type: ElementType, shape: readonly number[], align = 64): number {
    if (name in this.#arrays) throw new RangeError(`the layout already has an array ${name}`);
    const offset = this.#arena.alloc(elementCount(shape) * ELEMENT_BYTES[type], align);
    this.#arrays[name] = { type, offset, shape: [...shape] };
    return offset;
  }

  /** Writes the memory's header and returns the layout. @param id a uint32, such as the generation's number */
  finish(id: number): MemoryLayout {
    const bytes = this.#arena.usedBytes;
    this.#arena.u32(0, 4).set([MAGIC, VERSION, id, bytes]);
    return { magic: MAGIC, version: VERSION, id: id >>> 0, bytes, arrays: { ...this.#arrays } };
  }
}

/** Refuses (RangeError) a layout of another version, one that leaves its memory, or one made for another memory. */
export function checkLayout(memory: WebAssembly.Memory, layout: MemoryLayout): void {
  if (layout.magic !== MAGIC || layout.version !== VERSION)
    throw new RangeError('not a memory layout of this version');
  const [magic, version, id, bytes] = u32(memory, 0, 4);
  if (magic !== MAGIC || version !== VERSION || id !== layout.id || bytes !== layout.bytes) {
    throw new RangeError('the layout was made for another memory');
  }
  for (const [name, { type, offset, shape }] of Object.entries(layout.arrays)) {
    const size = elementCount(shape) * ELEMENT_BYTES[type];
    if (!(offset >= 0 && offset % ELEMENT_BYTES[type] === 0 && offset + size <= layout.bytes)) {
      throw new RangeError(`the array ${name} does not lie inside its memory`);
    }
  }
}

/** The array `name` of a layout; throws a RangeError when it is not there. */
export function arrayOf(layout: MemoryLayout, name: string): NamedArray {
  const array = Object.hasOwn(layout.arrays, name) ? layout.arrays[name] : undefined;
  if (array === undefined) throw new RangeError(`the layout has no array ${name}`);
  return array;
}

/** A view of the array `name`, which must be of `type`; throws a RangeError when it is not. */
export function viewOf<T extends ElementType>(
  memory: WebAssembly.Memory,
  layout: MemoryLayout,
  name: string,
  type: T,
): Views[T] {
  const array = arrayOf(layout, name);
  if (array.type !== type) throw new RangeError(`the array ${name} holds ${array.type}, not ${type}`);
  return VIEWS[type](memory, array.offset, elementCount(array.shape)) as Views[T];
}
