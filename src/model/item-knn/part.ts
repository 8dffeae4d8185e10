import { fingerprint, type Interactions } from '../../dataset/interactions.ts';
import type { InstantiateKernels } from '../../kernel/scratch.ts';
import type { AllocateMemory } from '../../memory/reuse.ts';
import type { LearnedPart } from '../learned-part.ts';
import { itemsByUsers } from '../neighbors/incidence.ts';
import { neighborsKept } from '../neighbors/items-part.ts';
import { placeSimilarity, similarityMemoryBytes } from '../neighbors/memory.ts';
import {
  createDraft,
  decodeNeighborTable,
  draftBytes,
  encodeNeighborTable,
  type NeighborTable,
  tableModelsBytes,
} from '../neighbors/neighbor-table.ts';
import { createNeighborTask, finishTasks, type NeighborTask, runNeighborTask } from '../neighbors/task.ts';
import { ITEM_KNN_WEIGHTING } from './settings.ts';

/**
 * For each item those that the same users like, to be summed over what a user likes (item-based collaborative filtering,
 * Sarwar et al. 2001). Not what `/api/item/{item-id}/neighbors` shows, which knows labels and prefers the specific.
 */
export const itemKnnPart: LearnedPart<
  object,
  NeighborTask,
  'compare',
  undefined,
  NeighborTable,
  NeighborTable
> = {
  stage: 'Comparing items by common users',
  saving: { name: 'item-knn', encode: encodeNeighborTable, decode: decodeNeighborTable },
  memory({ interactions: { userCount, itemCount, count } }, _options, slots) {
    const k = neighborsKept(itemCount);
    const shape = {
      rowCount: itemCount,
      elementCount: userCount,
      entryCount: count,
      slots,
      listLengthMax: k,
    };
    const training = similarityMemoryBytes({ ...shape, hasIndexRoom: false }) + draftBytes(itemCount, k);
    return { training, models: tableModelsBytes(itemCount, k) };
  },
  place: ({ interactions }, _options, slots, { allocate }) => placeItemKnn(interactions, slots, allocate),
  *course({ similarity }) {
    yield { kind: 'phase', phase: 'compare', rows: similarity.rowCount };
    return undefined;
  },
  run: (task, _phase, slot, { instantiate }) =>
    runNeighborTask(task, instantiate(task.similarity.memory), slot),
  model: (task, _outcome, fingerprint) => finishTasks([task], fingerprint),
  serve: (table) => table,
};

/** Compares all items in this thread. */
export function fitItemKnn(interactions: Interactions, instantiate: InstantiateKernels): NeighborTable {
  const task = placeItemKnn(interactions, 1);
  runNeighborTask(task, instantiate(task.similarity.memory), 0);
  return finishTasks([task], fingerprint(interactions));
}

function placeItemKnn(interactions: Interactions, slots: number, allocate?: AllocateMemory): NeighborTask {
  const k = neighborsKept(interactions.itemCount);
  const options = { shrink: 0, weighting: ITEM_KNN_WEIGHTING, listLengthMax: k };
  const similarity = placeSimilarity(itemsByUsers(interactions), options, slots, allocate);
  return createNeighborTask(similarity, createDraft(interactions.itemCount, k));
}
