/**
 * The memory in which an ALS training runs: the matrix in both orientations, the factors of both sides,
 * partial Gramians, what was held out, and scratch for each thread. Its layout is plain data, sent to workers beside
 * the memory.
 */

import type { CompressedMatrix, Interactions } from '../../dataset/interactions.ts';
import type { HeldOutPairs } from '../../dataset/leave-out.ts';
import { createRandom } from '../../domain/random.ts';
import {
  alsScratchBytes,
  eigenScratchBytes,
  paddedFactors,
  panelBytes,
  rotateScratchBytes,
  rowRegularization,
  topKScratchBytes,
} from '../../kernel/scratch.ts';
import { type ArrayPlan, layOut, plannedBytes, viewOf } from '../../memory/layout.ts';
import type { AllocateMemory } from '../../memory/reuse.ts';
import { createSharedMemory } from '../../memory/shared-memory.ts';
import { createChunkCounter } from '../shared-task.ts';
import {
  type HeldOutShape,
  heldOutShape,
  JUDGE_CHUNK_USERS,
  JUDGED_LENGTH,
  judgedCount,
  NOTHING_HELD_OUT,
  placeHeldOut,
} from './held-out.ts';
import { type AlsSettings, chosenSolver, sizedFactors, sizedSettings } from './settings.ts';
import type { AlsTask, Side } from './task.ts';

export type { AlsTask, Side } from './task.ts';

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
  /** Distinct pairs. */
  readonly count: number;
  readonly weighted: boolean;
  readonly factors: number;
  readonly slots: number;
  /** What is held out; nothing when absent. */
  readonly heldOut?: HeldOutShape;
}

/** How many chunks of fixed size a side's rows fall into for the Gramian. */
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
  for (const [side, rows] of [
    ['user', userCount],
    ['item', itemCount],
  ] as const) {
    plans.push([`${side}Factors`, 'f32', [rows, f]], [`${side}Regularizations`, 'f32', [rows]]);
    plans.push([`${side}Starts`, 'u32', [rows + 1]], [`${side}Columns`, 'u32', [count]]);
    if (weighted) plans.push([`${side}Weights`, 'f32', [count]]);
  }
  return (shape.heldOut?.users ?? 0) === 0 ? plans : plans.concat(heldOutPlans(shape, f));
}

/** See `als-held-out.ts` for what they hold. */
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

/** Bytes of shared memory that a training of this shape takes. */
export function alsMemoryBytes(shape: AlsShape): number {
  return plannedBytes(arrayPlans(shape));
}

/** What a training may be given beside its matrix. */
export interface AlsStart {
  /** Pairs that the matrix does not hold; with them the training is judged and stopped in time. */
  readonly heldOut?: HeldOutPairs;
  /** Item factors of an earlier model of as many factors, padded, fewer rows or as many; new rows start at random. */
  readonly itemFactors?: Float32Array;
}

/** The shape that a training on this matrix has. */
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
 * Places a matrix and seeded initial factors in a new shared memory.
 * @param slots threads that may take part, at least 1
 * @throws RangeError when the training does not fit in one memory (4 GiB)
 */
export function placeAls(
  interactions: Interactions,
  settings: AlsSettings,
  slots = 1,
  start: AlsStart = {},
  allocate: AllocateMemory = createSharedMemory,
): AlsTask {
  const { userCount, itemCount, count, byUser, byItem } = interactions;
  const shape = alsShape(interactions, settings, slots, start.heldOut);
  const plans = arrayPlans(shape);
  const memory = allocate(plannedBytes(plans));
  const layout = layOut(memory, plans);
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
  };
  placeSide(task, 'user', byUser);
  placeSide(task, 'item', byItem);
  if (start.heldOut !== undefined && heldOut > 0) placeHeldOut(task, byUser, start.heldOut);
  if (start.itemFactors !== undefined) {
    viewOf(memory, layout, 'itemFactors', 'f32').set(start.itemFactors);
    clearEmptyRows(task, byItem);
  }
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

/** An item may have lost all its feedback since the earlier model. */
function clearEmptyRows({ memory, layout, settings }: AlsTask, byItem: CompressedMatrix): void {
  const factors = viewOf(memory, layout, 'itemFactors', 'f32');
  const f = paddedFactors(settings.factors);
  for (let row = 0; row < byItem.rowCount; row++) {
    if (byItem.indptr[row] === byItem.indptr[row + 1]) factors.fill(0, row * f, (row + 1) * f);
  }
}
