/**
 * The memory in which an ALS training runs: the matrix in both orientations, the factors of both sides,
 * partial Gramians, what was held out, and scratch for each thread. Its layout is plain data, sent to workers beside
 * the memory.
 */

import type { CompressedMatrix, Interactions } from '../../dataset/interactions.ts';
import type { HeldOutPairs } from '../../dataset/training-data.ts';
import { createRandom } from '../../domain/random.ts';
import {
  alsScratchBytes,
  eigenScratchBytes,
  paddedFactors,
  panelBytes,
  rotateScratchBytes,
  topKScratchBytes,
} from '../../kernel/scratch-sizes.ts';
import { type ArrayPlan, placeArrays, plannedBytes, viewOf } from '../../memory/memory-layout.ts';
import type { AllocateMemory } from '../../memory/reuse-memory.ts';
import { createSharedMemory } from '../../memory/shared-memory.ts';
import { createChunkCounter } from '../part/chunks-for-threads.ts';
import {
  type HeldOutShape,
  heldOutShape,
  JUDGE_CHUNK_USERS,
  JUDGED_LENGTH,
  judgedCount,
  NOTHING_HELD_OUT,
  placeHeldOut,
} from './held-out-validation.ts';
import { type AlsSettings, rowRegularization } from './settings.ts';
import { chosenSolver, sizedFactors, sizedSettings } from './settings-by-size.ts';
import { allocateShards, type Sharding, shardBytes, stagePlans } from './sharding.ts';
import type { AlsTask, Side } from './training-task.ts';
import { UserFactors } from './user-factors.ts';

export type { AlsTask, Side } from './training-task.ts';

/** Rows of factors whose Gramian is taken at a time; fixed, so that sums do not depend on the threads. */
export const GRAMIAN_CHUNK_ROWS = 2048;
/** Source rows gathered for one conjugate-gradient solve; keeps 64 factors within a core's second-level cache. */
const GATHER_ROWS = 2048;
/** Standard deviation of the initial factors, before division by the root of their number (Rendle et al. 2021). */
const INITIAL_DEVIATION = 0.1;

/** The shape of a training, from which its memory is worked out before it starts. */
export interface AlsShape {
  readonly userCount: number;
  readonly itemCount: number;
  /** Rows of items that the model will serve, those of the store; as many as are trained on when absent. */
  readonly itemRows?: number;
  /** Distinct pairs. */
  readonly count: number;
  readonly weighted: boolean;
  readonly factors: number;
  readonly slots: number;
  /** Held-out records; none when absent. */
  readonly heldOut?: HeldOutShape;
  /** Division of the users; with the items in one memory when absent. */
  readonly sharding?: Sharding;
}

/** Number of chunks of fixed size of a side's rows for the Gramian. */
export function gramianChunks(rowCount: number): number {
  return Math.max(1, Math.ceil(rowCount / GRAMIAN_CHUNK_ROWS));
}

function arrayPlans(shape: AlsShape): ArrayPlan[] {
  const { userCount, itemCount, count, weighted, slots } = shape;
  const f = paddedFactors(shape.factors);
  const chunks = Math.max(gramianChunks(userCount), gramianChunks(itemCount));
  const scratchBytes = Math.max(
    alsScratchBytes(f, GATHER_ROWS),
    topKScratchBytes(f),
    eigenScratchBytes(f),
    rotateScratchBytes(f),
  );
  const plans: ArrayPlan[] = [
    ['gramianParts', 'f32', [chunks, f * f]],
    ['gramians', 'f32', [slots, f * f]],
    ['basis', 'f32', [f, f]],
    ['spectrum', 'f32', [f]],
    ['scratch', 'f32', [slots, Math.ceil(scratchBytes / 64) * 16]],
  ];
  if (shape.sharding === undefined) {
    plans.push(...sidePlans('user', userCount, f), ...matrixPlans('user', userCount, count, weighted));
    plans.push(...sidePlans('item', itemCount, f), ...matrixPlans('item', itemCount, count, weighted));
  } else {
    plans.push(...sidePlans('item', itemCount, f), ...stagePlans(shape.sharding, slots, f, weighted));
  }
  return (shape.heldOut?.users ?? 0) === 0 ? plans : plans.concat(heldOutPlans(shape, f));
}

function sidePlans(side: Side, rows: number, f: number): ArrayPlan[] {
  return [
    [`${side}Factors`, 'f32', [rows, f]],
    [`${side}Regularizations`, 'f32', [rows]],
  ];
}

function matrixPlans(side: Side, rows: number, count: number, weighted: boolean): ArrayPlan[] {
  return [
    [`${side}Starts`, 'u32', [rows + 1]],
    [`${side}Columns`, 'u32', [count]],
    [`${side}Weights`, 'f32', [weighted ? count : 0]],
  ];
}

/** See `held-out-validation.ts` for what they hold. */
function heldOutPlans(shape: AlsShape, f: number): ArrayPlan[] {
  const { itemCount, slots, weighted } = shape;
  const { users, goals, entries } = shape.heldOut ?? NOTHING_HELD_OUT;
  const listed = JUDGE_CHUNK_USERS * JUDGED_LENGTH;
  return [
    ['heldUsers', 'u32', [users]],
    ['heldGoalStarts', 'u32', [users + 1]],
    ['heldGoals', 'u32', [goals]],
    ['heldStarts', 'u32', [users + 1]],
    ['heldColumns', 'u32', [entries]],
    ['heldWeights', 'f32', [weighted ? entries : 0]],
    ['heldRegularizations', 'f32', [users]],
    ['heldFactors', 'f32', [users, f]],
    ['gains', 'f32', [judgedCount(users)]],
    ['bestGains', 'f32', [judgedCount(users)]],
    ['itemPanels', 'f32', [panelBytes(itemCount, f) / 4]],
    ['bestItemFactors', 'f32', [itemCount, f]],
    ['listedItems', 'u32', [slots, listed]],
    ['listedScores', 'f32', [slots, listed]],
    ['listedCounts', 'u32', [slots, JUDGE_CHUNK_USERS]],
  ];
}

/** Bytes of shared memory that a training of this shape takes, and of the largest piece of it. */
export function alsMemoryBytes(shape: AlsShape): { readonly all: number; readonly piece: number } {
  const piece = plannedBytes(arrayPlans(shape));
  const { sharding, userCount, factors } = shape;
  const shards = sharding === undefined ? 0 : shardBytes(userCount, sharding, paddedFactors(factors));
  return { all: piece + shards, piece };
}

/** Options of a training beside its matrix. */
export interface AlsStart {
  /** Pairs that the matrix does not hold; with them the training is judged and stopped in time. */
  readonly heldOut?: HeldOutPairs;
  /** Item factors of an earlier model of as many factors, padded. */
  readonly itemFactors?: Float32Array;
  /** The row of each item in them; the items' own rows when absent. Items that they do not have start at random. */
  readonly itemRows?: ArrayLike<number>;
}

export function alsShape(
  interactions: Interactions,
  settings: AlsSettings,
  slots: number,
  heldOut?: HeldOutPairs,
): AlsShape {
  const { userCount, itemCount, count, byUser } = interactions;
  const held = heldOut === undefined ? NOTHING_HELD_OUT : heldOutShape(byUser, heldOut);
  return {
    userCount,
    itemCount,
    count,
    weighted: byUser.weights !== null,
    factors: sizedFactors(settings, interactions),
    slots,
    heldOut: held,
  };
}

/**
 * Places a matrix and seeded initial factors in a new shared memory; the users in shards of their own where `sharding`
 * says so, and then the matrix is left where it lies.
 * @param slots threads that may take part, at least 1
 * @throws RangeError when what must be in one piece does not fit in one memory (4 GiB)
 */
export function placeAls(
  interactions: Interactions,
  settings: AlsSettings,
  slots = 1,
  start: AlsStart = {},
  allocate: AllocateMemory = createSharedMemory,
  sharding?: Sharding,
): AlsTask {
  const { userCount, itemCount, count, byUser, byItem } = interactions;
  const shape = {
    ...alsShape(interactions, settings, slots, start.heldOut),
    ...(sharding !== undefined && { sharding }),
  };
  const { memory, layout } = placeArrays(arrayPlans(shape), allocate);
  const heldOut = shape.heldOut?.users ?? 0;
  const sized = { ...sizedSettings(settings, itemCount), factors: shape.factors };
  const task: AlsTask = {
    memory,
    layout,
    counter: createChunkCounter(),
    settings: sized,
    solver: chosenSolver(sized),
    userCount,
    itemCount,
    count,
    weighted: shape.weighted,
    slots,
    gatherRows: GATHER_ROWS,
    heldOut,
    judged: judgedCount(heldOut),
    hasItemFactors: start.itemFactors !== undefined,
    ...(sharding !== undefined && {
      shards: allocateShards(userCount, sharding, paddedFactors(shape.factors), { byUser, byItem }, allocate),
    }),
  };
  const users = new UserFactors(task);
  const items = viewOf(memory, layout, 'itemFactors', 'f32');
  const f = paddedFactors(shape.factors);
  placeFactors(task, 'user', byUser, (row) => users.row(row));
  placeFactors(task, 'item', byItem, (row) => items.subarray(row * f, (row + 1) * f));
  if (sharding === undefined) {
    placeMatrix(task, 'user', byUser);
    placeMatrix(task, 'item', byItem);
    placeRegularizations(task, 'user', byUser);
  } else {
    viewOf(memory, layout, 'everyRow', 'u32').forEach((_, row, rows) => {
      rows[row] = row;
    });
  }
  placeRegularizations(task, 'item', byItem);
  if (start.heldOut !== undefined && heldOut > 0) placeHeldOut(task, byUser, start.heldOut);
  if (start.itemFactors !== undefined) takeOver(task, byItem, start.itemFactors, start.itemRows);
  return task;
}

function placeMatrix({ memory, layout }: AlsTask, side: Side, matrix: CompressedMatrix): void {
  viewOf(memory, layout, `${side}Starts`, 'u32').set(matrix.indptr);
  viewOf(memory, layout, `${side}Columns`, 'u32').set(matrix.indices);
  if (matrix.weights !== null) viewOf(memory, layout, `${side}Weights`, 'f32').set(matrix.weights);
}

function placeRegularizations(
  { memory, layout, settings }: AlsTask,
  side: Side,
  matrix: CompressedMatrix,
): void {
  const regularizations = viewOf(memory, layout, `${side}Regularizations`, 'f32');
  for (let row = 0; row < matrix.rowCount; row++) {
    const count = matrix.indptr[row + 1]! - matrix.indptr[row]!;
    regularizations[row] = rowRegularization(settings, count, matrix.columnCount);
  }
}

/** A row without entries has the zero vector as its solution; starting there keeps it there. */
function placeFactors(
  { settings }: AlsTask,
  side: Side,
  matrix: CompressedMatrix,
  rowOf: (row: number) => Float32Array,
): void {
  const random = createRandom(side === 'user' ? settings.seed : ~settings.seed);
  const deviation = INITIAL_DEVIATION / Math.sqrt(settings.factors);
  for (let row = 0; row < matrix.rowCount; row++) {
    if (matrix.indptr[row] === matrix.indptr[row + 1]) continue;
    const factors = rowOf(row);
    for (let at = 0; at < settings.factors; at++) factors[at] = deviation * random.normal();
  }
}

/** Starts items from an earlier model; one that has no feedback any more keeps its zeros. */
function takeOver(
  { memory, layout, settings }: AlsTask,
  byItem: CompressedMatrix,
  earlier: Float32Array,
  rows?: ArrayLike<number>,
): void {
  const factors = viewOf(memory, layout, 'itemFactors', 'f32');
  const f = paddedFactors(settings.factors);
  for (let row = 0; row < byItem.rowCount; row++) {
    const from = (rows?.[row] ?? row) * f;
    if (byItem.indptr[row] === byItem.indptr[row + 1] || from >= earlier.length) continue;
    factors.set(earlier.subarray(from, from + f), row * f);
  }
}
