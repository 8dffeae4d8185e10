import { ARENA_START, Arena, alignedBytes } from './arena.ts';
import type { AllocateMemory } from './reuse-memory.ts';
import { createSharedMemory, f32, f64, i32, u8, u32 } from './shared-memory.ts';

const ELEMENT_BYTES = { f32: 4, f64: 8, u32: 4, i32: 4, u8: 1 } as const;
const VIEWS = { f32, f64, u32, i32, u8 } as const;
/** Arrays begin at a cache line. */
const ALIGN = 64;
export type ElementType = keyof typeof ELEMENT_BYTES;

/** One array of a memory: its elements' type, the byte offset of the first, and its shape (rows first). */
export interface NamedArray {
  readonly type: ElementType;
  readonly offset: number;
  readonly shape: readonly number[];
}

/** Describes what lies in a memory. It is plain data: send `{ memory, layout }` to a worker. */
export interface MemoryLayout {
  readonly bytes: number;
  readonly arrays: Readonly<Record<string, NamedArray>>;
}

function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, length) => product * length, 1);
}

/** An array that is to be laid out: its name, the type of its elements, and its shape (rows first). */
export type ArrayPlan = readonly [name: string, type: ElementType, shape: readonly number[]];

/** Bytes that arrays take which are laid out together by `layOut`. */
export function plannedBytes(plans: readonly ArrayPlan[]): number {
  return plans.reduce(
    (sum, [, type, shape]) => sum + alignedBytes(elementCount(shape) * ELEMENT_BYTES[type], ALIGN),
    ARENA_START,
  );
}

/** Lays arrays out in a memory of at least `plannedBytes`. @throws RangeError when a name is taken or the memory full */
export function layOut(memory: WebAssembly.Memory, plans: readonly ArrayPlan[]): MemoryLayout {
  const arena = new Arena(memory);
  const arrays: Record<string, NamedArray> = Object.create(null);
  for (const [name, type, shape] of plans) {
    if (name in arrays) throw new RangeError(`the layout already has an array ${name}`);
    const offset = arena.alloc(elementCount(shape) * ELEMENT_BYTES[type], ALIGN);
    arrays[name] = { type, offset, shape: [...shape] };
  }
  return { bytes: arena.usedBytes, arrays: { ...arrays } };
}

/** Lays arrays out in a new memory that holds all of them. @throws RangeError as `layOut` does */
export function placeArrays(
  plans: readonly ArrayPlan[],
  allocate: AllocateMemory = createSharedMemory,
): { readonly memory: WebAssembly.Memory; readonly layout: MemoryLayout } {
  const memory = allocate(plannedBytes(plans));
  return { memory, layout: layOut(memory, plans) };
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
): ReturnType<(typeof VIEWS)[T]> {
  const array = arrayOf(layout, name);
  if (array.type !== type) throw new RangeError(`the array ${name} holds ${array.type}, not ${type}`);
  return VIEWS[type](memory, array.offset, elementCount(array.shape)) as ReturnType<(typeof VIEWS)[T]>;
}

/** The byte offset of one row of the array `name`: where the rows are threads' slots, of a thread's own part. */
export function rowOffset(layout: MemoryLayout, name: string, row: number): number {
  const { type, offset, shape } = arrayOf(layout, name);
  return offset + row * elementCount(shape.slice(1)) * ELEMENT_BYTES[type];
}

/** A view of one row of the array `name`, which must be of `type`; throws a RangeError when it is not. */
export function rowOf<T extends ElementType>(
  memory: WebAssembly.Memory,
  layout: MemoryLayout,
  name: string,
  row: number,
  type: T,
): ReturnType<(typeof VIEWS)[T]> {
  const length = elementCount(arrayOf(layout, name).shape.slice(1));
  return viewOf(memory, layout, name, type).subarray(row * length, (row + 1) * length) as ReturnType<
    (typeof VIEWS)[T]
  >;
}
