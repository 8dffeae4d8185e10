/**
 * The memory in which a sparse linear model is learned: the similarity by common users, which also holds the matrix in
 * both orientations, and beside it what the users weigh, how often popular items go together, and a regression for each
 * thread.
 */
import type { Interactions } from '../../dataset/interactions.ts';
import {
  type ArrayPlan,
  type MemoryLayout,
  placeArrays,
  plannedBytes,
  viewOf,
} from '../../memory/memory-layout.ts';
import type { AllocateMemory } from '../../memory/reuse-memory.ts';
import { itemsByUsers } from '../neighbors/incidence.ts';
import { type PlacedSimilarity, placeSimilarity, similarityMemoryBytes } from '../neighbors/memory-layout.ts';
import { createDraft, draftBytes, type NeighborDraft } from '../neighbors/neighbor-table.ts';
import { createChunkCounter, type SharedTask } from '../part/chunks-for-threads.ts';
import type { SlimSettings } from './settings.ts';

/** The most popular items, whose pairs are counted once for all: 32 MiB for all pairs of these. */
export const COUNTED_ITEMS_MAX = 4096;
/** The rank of an item that is not among them. */
export const UNCOUNTED = 0xffffffff;

/** All that a thread needs to take part; plain data and shared memory. */
export interface SlimTask extends SharedTask {
  readonly settings: SlimSettings;
  readonly similarity: PlacedSimilarity;
  readonly memory: WebAssembly.Memory;
  readonly layout: MemoryLayout;
  readonly countedItems: number;
  /** Number of items with weights: `SlimViews.solvedRows`. */
  readonly solvedItems: number;
  /** Row j holds the items that the item `solvedRows[j]` is predicted from, and their weights. */
  readonly draft: NeighborDraft;
}

/** Views of what a task's threads read and write. */
export interface SlimViews {
  readonly userWeights: Float32Array;
  /** G_ii. */
  readonly diagonal: Float32Array;
  /** Each item's place among the counted ones, or `UNCOUNTED`. */
  readonly ranks: Uint32Array;
  /** The item of each rank. */
  readonly countedRows: Uint32Array;
  /** The items that weights are learned for, ascending. */
  readonly solvedRows: Uint32Array;
  /** Each user's counted items by rank, ascending: CSR. */
  readonly countedStarts: Uint32Array;
  readonly countedRanks: Uint32Array;
  /** The lower triangle of G over the counted items, by rank; see `pairAt`. */
  readonly pairs: Float32Array;
  readonly itemStarts: Uint32Array;
  readonly itemUsers: Uint32Array;
  readonly userStarts: Uint32Array;
  readonly userItems: Uint32Array;
}

export function slimViews({
  memory,
  layout,
  similarity,
}: Pick<SlimTask, 'memory' | 'layout' | 'similarity'>): SlimViews {
  const matrix = (name: string) => viewOf(similarity.memory, similarity.layout, name, 'u32');
  return {
    userWeights: viewOf(memory, layout, 'userWeights', 'f32'),
    diagonal: viewOf(memory, layout, 'diagonal', 'f32'),
    ranks: viewOf(memory, layout, 'ranks', 'u32'),
    countedRows: viewOf(memory, layout, 'countedRows', 'u32'),
    solvedRows: viewOf(memory, layout, 'solvedRows', 'u32'),
    countedStarts: viewOf(memory, layout, 'countedStarts', 'u32'),
    countedRanks: viewOf(memory, layout, 'countedRanks', 'u32'),
    pairs: viewOf(memory, layout, 'pairs', 'f32'),
    itemStarts: matrix('starts'),
    itemUsers: matrix('columns'),
    userStarts: matrix('elementStarts'),
    userItems: matrix('elementRows'),
  };
}

/** Where the pair of two ranks stands. */
export function pairAt(rank: number, other: number): number {
  return rank > other ? (rank * (rank + 1)) / 2 + other : (other * (other + 1)) / 2 + rank;
}

/** Numbers in a row of a regression: the neighborhood rounded up to what the kernels take. */
export function regressionSize({ neighborhood }: SlimSettings): number {
  return Math.ceil(neighborhood / 4) * 4;
}

/** The shape of a learning, from which its memory is worked out before it starts. */
export interface SlimShape {
  readonly userCount: number;
  readonly itemCount: number;
  /** Distinct pairs. */
  readonly count: number;
  readonly slots: number;
  readonly settings: SlimSettings;
  readonly countedItems?: number;
  /** Items that weights are learned for; all when absent. */
  readonly solvedItems?: number;
}

function arrayPlans(shape: SlimShape): ArrayPlan[] {
  const { userCount, itemCount, count, slots, settings } = shape;
  const { countedItems: counted = Math.min(itemCount, COUNTED_ITEMS_MAX), solvedItems = itemCount } = shape;
  const size = regressionSize(settings);
  return [
    ['userWeights', 'f32', [userCount]],
    ['diagonal', 'f32', [itemCount]],
    ['ranks', 'u32', [itemCount]],
    ['countedRows', 'u32', [counted]],
    ['solvedRows', 'u32', [solvedItems]],
    ['countedStarts', 'u32', [userCount + 1]],
    ['countedRanks', 'u32', [count]],
    ['pairs', 'f32', [(counted * (counted + 1)) / 2]],
    ['matrices', 'f32', [slots, size * size]],
    ['targets', 'f32', [slots, size]],
  ];
}

/** Bytes of shared memory that a learning of this shape takes: the similarity, the counts, and the weights. */
export function slimMemoryBytes(shape: SlimShape): number {
  const { settings, solvedItems = shape.itemCount } = shape;
  return (
    similarityBytes(shape) + plannedBytes(arrayPlans(shape)) + draftBytes(solvedItems, keptWeights(settings))
  );
}

/** Bytes of the largest piece of it. */
export function slimPieceBytes(shape: SlimShape): number {
  return Math.max(similarityBytes(shape), plannedBytes(arrayPlans(shape)));
}

function similarityBytes({ userCount, itemCount, count, slots, settings }: SlimShape): number {
  return similarityMemoryBytes({
    rowCount: itemCount,
    elementCount: userCount,
    entryCount: count,
    slots,
    listLengthMax: settings.neighborhood,
    hasIndexRoom: false,
  });
}

/** Weights kept of an item. */
export function keptWeights({ neighbors, neighborhood }: SlimSettings): number {
  return Math.min(neighbors, neighborhood);
}

/**
 * Places a matrix for learning.
 * @param slots threads that may take part, at least 1
 * @param countedItemsMax how many of the most popular items have their pairs counted beforehand; their square costs
 * memory, the others cost time
 * @param solvedItemsMax how many of the most popular items get weights; the others cost time
 * @throws RangeError when it does not fit in memory
 */
export function placeSlim(
  interactions: Interactions,
  settings: SlimSettings,
  slots = 1,
  countedItemsMax = COUNTED_ITEMS_MAX,
  allocate?: AllocateMemory,
  solvedItemsMax = interactions.itemCount,
): SlimTask {
  const { userCount, itemCount, count, byUser, byItem } = interactions;
  const similarity = placeSimilarity(
    itemsByUsers(interactions),
    { listLengthMax: settings.neighborhood },
    slots,
    allocate,
  );
  const countedItems = Math.min(itemCount, countedItemsMax);
  const order = byPopularity(byItem.indptr, itemCount);
  const solvedItems = Math.min(itemCount, solvedItemsMax);
  const plans = arrayPlans({ userCount, itemCount, count, slots, settings, countedItems, solvedItems });
  const { memory, layout } = placeArrays(plans, allocate);
  const views = slimViews({ memory, layout, similarity });
  views.ranks.fill(UNCOUNTED);
  order.subarray(0, countedItems).forEach((row, rank) => {
    views.ranks[row] = rank;
  });
  placeUsers(views.userWeights, interactions, settings.userExponent);
  placeDiagonal(views, interactions);
  placeCounted(views, byUser.indptr, byUser.indices, countedItems);
  const draft = createDraft(solvedItems, keptWeights(settings));
  views.solvedRows.set(order.slice(0, solvedItems).sort());
  return {
    settings,
    similarity,
    memory,
    layout,
    countedItems,
    solvedItems,
    draft,
    counter: createChunkCounter(),
  };
}

/** All items, the most popular first; of equals the lower row. */
function byPopularity(itemStarts: Uint32Array, itemCount: number): Uint32Array {
  const users = (row: number) => itemStarts[row + 1]! - itemStarts[row]!;
  return Uint32Array.from({ length: itemCount }, (_, row) => row).sort(
    (a, b) => users(b) - users(a) || a - b,
  );
}

function placeUsers(weights: Float32Array, { byUser }: Interactions, exponent: number): void {
  for (let user = 0; user < weights.length; user++) {
    const items = byUser.indptr[user + 1]! - byUser.indptr[user]!;
    weights[user] = items > 0 ? items ** -exponent : 0;
  }
}

function placeDiagonal({ userWeights: weights, diagonal }: SlimViews, { byItem }: Interactions): void {
  for (let item = 0; item < diagonal.length; item++) {
    let sum = 0;
    for (let at = byItem.indptr[item]!; at < byItem.indptr[item + 1]!; at++)
      sum += weights[byItem.indices[at]!]!;
    diagonal[item] = sum;
  }
}

/** Each user's counted items by rank, ascending, and the item of each rank. */
function placeCounted(
  { ranks, countedRows: rows, countedStarts: starts, countedRanks: counted }: SlimViews,
  userStarts: Uint32Array,
  userItems: Uint32Array,
  countedItems: number,
): void {
  ranks.forEach((rank, row) => {
    if (rank < countedItems) rows[rank] = row;
  });
  let next = 0;
  for (let user = 0; user + 1 < starts.length; user++) {
    starts[user] = next;
    for (let at = userStarts[user]!; at < userStarts[user + 1]!; at++) {
      const rank = ranks[userItems[at]!]!;
      if (rank < countedItems) counted[next++] = rank;
    }
    counted.subarray(starts[user], next).sort();
  }
  starts[starts.length - 1] = next;
}
