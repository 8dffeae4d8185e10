/**
 * The memory of a BPR training that threads share without races. Users stand in fixed blocks of about as many entries
 * each, and in every epoch the items are dealt anew, at random, into as many blocks:
 *
 *                 items 0   items 1   items 2        turn 0: the threads work on (0,0) (1,1) (2,2)
 *     users 0    │   A    │    B    │    C   │       turn 1:                      (0,1) (1,2) (2,0)
 *     users 1    │   C    │    A    │    B   │       turn 2:                      (0,2) (1,0) (2,1)
 *     users 2    │   B    │    C    │    A   │
 *
 * In one turn no two cells share a user or an item, so whichever thread takes a cell, the result is the same
 * (Gemulla, Nijkamp, Haas, Sismanis 2011, stratified stochastic gradient descent).
 */
import type { Interactions } from '../../../src/dataset/interactions.ts';
import { createRandom } from '../../../src/domain/random.ts';
import { paddedFactors } from '../../../src/kernel/scratch-sizes.ts';
import { ARENA_START, Arena, alignedBytes } from '../../../src/memory/arena.ts';
import {
  type ElementType,
  elementCount,
  LayoutBuilder,
  type MemoryLayout,
  viewOf,
} from '../../../src/memory/layout-builder.ts';
import { createSharedMemory } from '../../../src/memory/shared-memory.ts';
import type { BprSettings } from './settings.ts';

/** Most blocks, which is also the most threads that have something to do. */
const BLOCKS_MAX = 8;
/** A block of fewer users or items leaves too little to draw from. */
const BLOCK_ROWS_MIN = 256;
/** Standard deviation of the initial factors, before division by the root of their number. */
const INITIAL_DEVIATION = 0.1;

/** All that a thread needs to take part in a training; plain data but for the memory, which is shared. */
export interface BprTask {
  readonly memory: WebAssembly.Memory;
  readonly layout: MemoryLayout;
  readonly settings: BprSettings;
  readonly userCount: number;
  readonly itemCount: number;
  readonly count: number;
  /** Blocks of users, and of items; depends on the shape alone. */
  readonly blocks: number;
}

/** Where the cell of a user block and an item block has its starts: for each user of the block and one more. */
export function cellStartsAt(userBlocks: Uint32Array, blocks: number, user: number, item: number): number {
  const first = userBlocks[user]!;
  const rows = userBlocks[user + 1]! - first + 1;
  return blocks * (first + user) + item * rows;
}

function arrayPlans({ userCount, itemCount, count, blocks, settings }: Omit<BprTask, 'memory' | 'layout'>) {
  const f = paddedFactors(settings.factors);
  const plans: [name: string, type: ElementType, shape: readonly number[]][] = [
    ['control', 'i32', [2]],
    ['random', 'u32', [blocks, 4]],
    ['userStarts', 'u32', [userCount + 1]],
    ['userColumns', 'u32', [count]],
    // First user of each block; the same of the items dealt.
    ['userBlocks', 'u32', [blocks + 1]],
    ['itemBlocks', 'u32', [blocks + 1]],
    // Block and place in it of each item, and the items block after block.
    ['blockOfItem', 'u8', [itemCount]],
    ['placeOfItem', 'u32', [itemCount]],
    ['dealtItems', 'u32', [itemCount]],
    // The entries cell by cell: users and items by their places in the blocks.
    ['cellStarts', 'u32', [blocks * (userCount + blocks)]],
    ['cellItems', 'u32', [count]],
    ['cellUsers', 'u32', [count]],
    ['userFactors', 'f32', [userCount, f]],
    ['itemFactors', 'f32', [itemCount, f]],
    ['dealtFactors', 'f32', [itemCount, f]],
  ];
  return plans;
}

/** Places a matrix and seeded initial factors in a new shared memory. @throws RangeError beyond 4 GiB */
export function placeBpr(interactions: Interactions, settings: BprSettings): BprTask {
  const { userCount, itemCount, count, byUser } = interactions;
  const fewest = Math.floor(Math.min(userCount, itemCount) / BLOCK_ROWS_MIN);
  const blocks = Math.max(1, Math.min(BLOCKS_MAX, fewest));
  const shape = { settings, userCount, itemCount, count, blocks };
  const plans = arrayPlans(shape);
  const bytes = plans.reduce(
    (sum, [, type, lengths]) => sum + alignedBytes(elementCount(lengths) * (type === 'u8' ? 1 : 4), 64),
    ARENA_START,
  );
  const memory = createSharedMemory(bytes);
  const builder = new LayoutBuilder(new Arena(memory));
  for (const [name, type, lengths] of plans) builder.add(name, type, lengths);
  const task: BprTask = { memory, layout: builder.finish(), ...shape };
  viewOf(memory, task.layout, 'userStarts', 'u32').set(byUser.indptr);
  viewOf(memory, task.layout, 'userColumns', 'u32').set(byUser.indices);
  viewOf(memory, task.layout, 'userBlocks', 'u32').set(evenBlocks(byUser.indptr, userCount, blocks));
  placeRandom(task);
  return task;
}

/** Rows in blocks of about as many entries each. @returns the first row of each, and the number of rows */
function evenBlocks(starts: Uint32Array, rowCount: number, blocks: number): Uint32Array {
  const firsts = new Uint32Array(blocks + 1);
  let row = 0;
  for (let block = 1; block < blocks; block++) {
    const goal = (starts[rowCount]! * block) / blocks;
    while (row < rowCount && starts[row]! < goal) row++;
    firsts[block] = row;
  }
  firsts[blocks] = rowCount;
  return firsts;
}

function placeRandom({ memory, layout, settings }: BprTask): void {
  const { factors, seed } = settings;
  const random = createRandom(seed);
  const states = viewOf(memory, layout, 'random', 'u32');
  for (let at = 0; at < states.length; at++) states[at] = random.uint32() | 1;
  const f = paddedFactors(factors);
  const deviation = INITIAL_DEVIATION / Math.sqrt(factors);
  for (const name of ['userFactors', 'itemFactors']) {
    const view = viewOf(memory, layout, name, 'f32');
    for (let at = 0; at < view.length; at++) if (at % f < factors) view[at] = deviation * random.normal();
  }
}
