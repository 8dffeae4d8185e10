import { createRandom, type Random } from '../../src/domain/random.ts';
import type { Kernels } from '../../src/kernel/kernels.ts';
import { chooseRelaxedSimd, loadKernels } from '../../src/kernel/load-kernels.ts';
import { paddedFactors } from '../../src/kernel/scratch-sizes.ts';
import { Arena } from '../../src/memory/arena.ts';
import { createSharedMemory } from '../../src/memory/shared-memory.ts';
import { instantiatePlainKernels } from '../plain-kernels/plain-kernels.ts';

chooseRelaxedSimd('auto');

export const IMPLEMENTATIONS = ['wasm', 'wasm-relaxed', 'wasm-debug', 'plain'] as const;

/** Lengths around every unrolling: 0 to 67. */
export const LENGTHS = Array.from({ length: 68 }, (_, n) => n);

export interface World {
  readonly memory: WebAssembly.Memory;
  readonly arena: Arena;
  readonly kernels: Kernels;
  readonly plain: Kernels;
  readonly random: Random;
}

/** A memory of a few megabytes with the kernels under test and their oracle over it. */
export function createWorld(name: (typeof IMPLEMENTATIONS)[number], seed = 1): World {
  const memory = createSharedMemory(1 << 23);
  return {
    memory,
    arena: new Arena(memory),
    kernels: name === 'plain' ? instantiatePlainKernels(memory) : loadKernels(memory, name),
    plain: instantiatePlainKernels(memory),
    random: createRandom(seed),
  };
}

/** Puts float32 values into the arena. @returns their byte offset */
export function putFloats(arena: Arena, values: ArrayLike<number>): number {
  const offset = arena.alloc(values.length * 4, 4);
  arena.f32(offset, values.length).set(values);
  return offset;
}

/** Puts uint32 values into the arena. @returns their byte offset */
export function putInts(arena: Arena, values: ArrayLike<number>): number {
  const offset = arena.alloc(values.length * 4, 4);
  arena.u32(offset, values.length).set(values);
  return offset;
}

export function normals(random: Random, n: number, scale = 1): number[] {
  return Array.from({ length: n }, () => random.normal() * scale);
}

/** Small whole numbers, whose products and sums float32 holds exactly: ties are real ties everywhere. */
export function wholes(random: Random, n: number, bound = 3): number[] {
  return Array.from({ length: n }, () => random.below(2 * bound + 1) - bound);
}

/** Rows of `f` drawn numbers, padded with zeros to what the kernels take. */
export function putFactors(world: World, rows: number, f: number, draw = normals, scale = 1): number {
  const padded = paddedFactors(f);
  const values = new Float32Array(rows * padded);
  for (let row = 0; row < rows; row++) values.set(draw(world.random, f, scale), row * padded);
  return putFloats(world.arena, values);
}

export interface Matrix {
  readonly starts: number;
  readonly columns: number;
  readonly entries: number;
  readonly rowLists: number[][];
}

/** A random sparse matrix in CSR; `density` of the pairs are entries. */
export function putMatrix(world: World, rows: number, columns: number, density: number): Matrix {
  const { random } = world;
  const rowLists = Array.from({ length: rows }, () =>
    Array.from({ length: columns }, (_, column) => column).filter(() => random.float() < density),
  );
  return putRows(world, rowLists);
}

export function putRows({ arena }: World, rowLists: number[][]): Matrix {
  const starts = [0];
  for (const list of rowLists) starts.push(starts.at(-1)! + list.length);
  return {
    starts: putInts(arena, starts),
    columns: putInts(arena, rowLists.flat()),
    entries: rowLists.flat().length,
    rowLists,
  };
}

/** The transpose of lists of columns. */
export function transpose(rowLists: number[][], columns: number): number[][] {
  const lists: number[][] = Array.from({ length: columns }, () => []);
  rowLists.forEach((list, row) => {
    for (const column of list) lists[column]!.push(row);
  });
  return lists;
}

/** The largest distance of two arrays, relative to the larger magnitude (at least 1). */
export function distance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let largest = 0;
  let scale = 1;
  for (let i = 0; i < a.length; i++) {
    largest = Math.max(largest, Math.abs(a[i]! - b[i]!));
    scale = Math.max(scale, Math.abs(a[i]!));
    if (Number.isNaN(a[i]!) !== Number.isNaN(b[i]!)) return Number.POSITIVE_INFINITY;
  }
  return largest / scale;
}
