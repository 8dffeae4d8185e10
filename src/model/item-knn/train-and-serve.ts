import type { Interactions } from '../../dataset/interactions.ts';
import type { TrainingData } from '../../dataset/training-data.ts';
import type { AllocateMemory } from '../../memory/reuse-memory.ts';
import {
  createNeighborTask,
  finishTasks,
  type NeighborTask,
  runNeighborTask,
} from '../neighbors/fill-neighbor-table.ts';
import { itemsByUsers } from '../neighbors/incidence.ts';
import { placeSimilarity, similarityMemoryBytes } from '../neighbors/memory-layout.ts';
import { createDraft, draftBytes, spreadTable } from '../neighbors/neighbor-table.ts';
import { placedSumsBytes } from '../neighbors/row-sums.ts';
import type { Weighting } from '../neighbors/similarity.ts';
import { type SummedPart, summedTable, sumOfLikes } from '../neighbors/summed-lists.ts';
import { neighborsKept } from '../neighbors/train-and-serve-items.ts';
import type { ServingShape, StageRoom } from '../part/learned-part.ts';
import {
  planSample,
  type SampleLimits,
  type SamplePlan,
  sampleUsers,
} from '../part/sample-users-to-fit-memory.ts';
import { servedItems } from '../part/served-items.ts';

/**
 * For each item those that the same users like, to be summed over what a user likes (item-based collaborative filtering,
 * Sarwar et al. 2001). Not what `/api/item/{item-id}/neighbors` shows, which knows labels and prefers the specific.
 */
export const itemKnnPart: SummedPart<object, NeighborTask, 'compare', 'item_knn'> = {
  title: 'items by common users',
  stage: 'Comparing items by common users',
  ...summedTable('item-knn'),
  memory: (data, _options, slots, serving, _reads, room) => planOf(data, slots, serving, room).memory,
  prepare(data, _options, slots, { allocate, room }, serving) {
    const sample = sampleUsers(data.interactions, planOf(data, slots, serving, room).share);
    return { ...placeItemKnn(sample, slots, allocate), served: servedItems(data) };
  },
  *course({ similarity }) {
    yield { kind: 'phase', phase: 'compare', rows: similarity.rowCount };
    return undefined;
  },
  run: (task, _phase, slot, { instantiate }) =>
    runNeighborTask(task, instantiate(task.similarity.memory), slot),
  model: (task, _outcome, fingerprint) => spreadTable(finishTasks([task], fingerprint), task.served),
  features: { item_knn: sumOfLikes('items that the same users like', true) },
  training: { options: () => ({}), isAlwaysWanted: false, isOnDemand: false },
};

function planOf(data: TrainingData, slots: number, serving: ServingShape, room: StageRoom): SamplePlan {
  return planSample(data, slots, room, (threads) => knnBytes(data, threads, serving));
}

function knnBytes(
  { itemRowCount: rowCount }: TrainingData,
  slots: number,
  { listLengthMax }: ServingShape,
): SampleLimits['bytesOf'] {
  return ({ userCount, itemCount, count }) => {
    const k = neighborsKept(itemCount);
    const similarity = similarityMemoryBytes({
      rowCount: itemCount,
      elementCount: userCount,
      entryCount: count,
      slots,
      listLengthMax: k,
      hasIndexRoom: false,
    });
    const table = { learnedItems: itemCount, entriesARow: k, rowCount };
    const placed = placedSumsBytes(table, slots, listLengthMax);
    const training = similarity + draftBytes(itemCount, k);
    return { ...placed, piece: Math.max(similarity, placed.piece), training };
  };
}

/** Lays out the comparison of all items. */
export function placeItemKnn(
  interactions: Interactions,
  slots: number,
  allocate?: AllocateMemory,
): NeighborTask {
  const k = neighborsKept(interactions.itemCount);
  const options = { shrink: 0, weighting: ITEM_KNN_WEIGHTING, listLengthMax: k };
  const similarity = placeSimilarity(itemsByUsers(interactions), options, slots, allocate);
  return createNeighborTask(similarity, createDraft(interactions.itemCount, k));
}

/**
 * Weights of the comparison of items by common users: a user of n items counts n ^ -0.5, so that those who like everything say less,
 * and an item's norm is the fourth root of what its users count. That is between a cosine, which ranks rare items above
 * what most like, and plain counts, which rank by popularity: the blend with other models needs neither once more.
 */
const ITEM_KNN_WEIGHTING: Weighting = { elementExponent: 0.5, rowExponent: 0.25 };
