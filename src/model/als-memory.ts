/**
 * The memory in which an ALS training runs: the matrix in both orientations, the factors of both sides,
 * partial Gramians, and scratch for each thread. Its layout is plain data, sent to workers beside the memory.
 */
import type { CompressedMatrix, Interactions } from '../dataset/interactions.ts';
import { createRandom } from '../domain/random.ts';
import { alsScratchBytes, paddedFactors, rowRegularization } from '../kernel/scratch.ts';
import { ARENA_START, Arena, alignedBytes } from '../memory/arena.ts';
import {
  type ElementType,
  elementCount,
  LayoutBuilder,
  type MemoryLayout,
  viewOf,
} from '../memory/layout.ts';
import { createSharedMemory } from '../memory/shared-memory.ts';
import type { AlsSettings } from './als-settings.ts';

/** One of the two sides of the matrix. */
export type Side = 'user' | 'item';

/** Rows of factors whose Gramian is taken at a time; fixed, so that sums do not depend on the threads. */
export const GRAMIAN_CHUNK_ROWS = 2048;
/** Source rows gathered for one conjugate-gradient solve; keeps 64 factors within a core's second-level cache. */
export const GATHER_ROWS = 2048;
/** Standard deviation of the initial factors, before division by the root of their number (Rendle et al. 2021). */
const INITIAL_DEVIATION = 0.1;

/** All that a thread needs to take part in a training. */
export interface AlsTask {
  readonly memory: WebAssembly.Memory;
  readonly layout: MemoryLayout;
  readonly settings: AlsSettings;
  readonly userCount: number;
  readonly itemCount: number;
  readonly weighted: boolean;
  /** How many threads have scratch; a thread's slot is a number below. */
  readonly slots: number;
}

/** The shape of a training, from which its memory is worked out before it starts. */
export interface AlsShape {
  readonly userCount: number;
  readonly itemCount: number;
  /** Distinct pairs. */
  readonly count: number;
  readonly weighted: boolean;
  readonly factors: number;
  readonly slots: number;
}

/** How many chunks of fixed size a side's rows fall into for the Gramian. */
export function gramianChunks(rowCount: number): number {
  return Math.max(1, Math.ceil(rowCount / GRAMIAN_CHUNK_ROWS));
}

type ArrayPlan = readonly [name: string, type: ElementType, shape: readonly number[]];

function arrayPlans(shape: AlsShape): ArrayPlan[] {
  const { userCount, itemCount, count, weighted, slots } = shape;
  const f = paddedFactors(shape.factors);
  const chunks = Math.max(gramianChunks(userCount), gramianChunks(itemCount));
  const plans: ArrayPlan[] = [
    ['control', 'i32', [2]],
    ['gramianParts', 'f32', [chunks, f * f]],
    ['gramians', 'f32', [slots, f * f]],
    ['scratch', 'f32', [slots, Math.ceil(alsScratchBytes(f, GATHER_ROWS) / 64) * 16]],
  ];
  for (const [side, rows] of [
    ['user', userCount],
    ['item', itemCount],
  ] as const) {
    plans.push([`${side}Factors`, 'f32', [rows, f]], [`${side}Regularizations`, 'f32', [rows]]);
    plans.push([`${side}Starts`, 'u32', [rows + 1]], [`${side}Columns`, 'u32', [count]]);
    if (weighted) plans.push([`${side}Weights`, 'f32', [count]]);
  }
  return plans;
}

/** Bytes of shared memory that a training of this shape takes. */
export function alsMemoryBytes(shape: AlsShape): number {
  return arrayPlans(shape).reduce(
    (sum, [, , lengths]) => sum + alignedBytes(elementCount(lengths) * 4, 64),
    ARENA_START,
  );
}

/**
 * Places a matrix and seeded initial factors in a new shared memory.
 * @param slots threads that may take part, at least 1
 * @throws RangeError when the training does not fit in one memory (4 GiB)
 */
export function placeAls(interactions: Interactions, settings: AlsSettings, slots = 1): AlsTask {
  const { userCount, itemCount, count, byUser, byItem } = interactions;
  const weighted = byUser.weights !== null;
  const shape = { userCount, itemCount, count, weighted, factors: settings.factors, slots };
  const memory = createSharedMemory(alsMemoryBytes(shape));
  const builder = new LayoutBuilder(new Arena(memory));
  for (const [name, type, lengths] of arrayPlans(shape)) builder.add(name, type, lengths);
  const layout = builder.finish(settings.seed);
  const task: AlsTask = { memory, layout, settings, userCount, itemCount, weighted, slots };
  placeSide(task, 'user', byUser);
  placeSide(task, 'item', byItem);
  return task;
}

function placeSide(task: AlsTask, side: Side, matrix: CompressedMatrix): void {
  const { memory, layout, settings } = task;
  viewOf(memory, layout, `${side}Starts`, 'u32').set(matrix.indptr);
  viewOf(memory, layout, `${side}Columns`, 'u32').set(matrix.indices);
  if (matrix.weights !== null) viewOf(memory, layout, `${side}Weights`, 'f32').set(matrix.weights);
  const regularizations = viewOf(memory, layout, `${side}Regularizations`, 'f32');
  const random = createRandom(side === 'user' ? settings.seed : ~settings.seed);
  const factors = viewOf(memory, layout, `${side}Factors`, 'f32');
  const f = paddedFactors(settings.factors);
  const deviation = INITIAL_DEVIATION / Math.sqrt(settings.factors);
  for (let row = 0; row < matrix.rowCount; row++) {
    const entries = matrix.indptr[row + 1]! - matrix.indptr[row]!;
    regularizations[row] = rowRegularization(
      settings.regularization,
      entries,
      settings.unobservedWeight,
      matrix.columnCount,
      settings.regularizationExponent,
    );
    // A row without entries has the zero vector as its solution; starting there keeps it there.
    if (entries === 0) continue;
    for (let at = 0; at < settings.factors; at++) factors[row * f + at] = deviation * random.normal();
  }
}
