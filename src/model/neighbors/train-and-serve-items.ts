import type { Interactions } from '../../dataset/interactions.ts';
import type { LabelsOf, TrainingData, TrainingReads } from '../../dataset/training-data.ts';
import type { NeighborType } from '../../domain/neighbor-type.ts';
import { placeOf } from '../../memory/binary-search.ts';
import { filled, sharedU32 } from '../../memory/shared-arrays.ts';
import type { SharedTask } from '../part/chunks-for-threads.ts';
import type { LearnedPart, PartTools, StageRoom } from '../part/learned-part.ts';
import {
  ADDITIONS_MAX,
  planSample,
  type SampleLimits,
  type SamplePlan,
  sampleUsers,
} from '../part/sample-users-to-fit-memory.ts';
import type { WithServedItems } from '../part/served-items.ts';
import { type ComparedRows, comparedRows } from './compared-rows.ts';
import {
  finishTasks,
  type NeighborTask,
  policyTasks,
  rowsToCompare,
  runNeighborTask,
} from './fill-neighbor-table.ts';
import { type Incidence, incidenceOfLabels, itemsByUsers, orderRows } from './incidence.ts';
import { planIndex } from './index-plan.ts';
import { countLabels, policyBytes } from './memory-estimate.ts';
import { placeSimilarity, rowsWithin } from './memory-layout.ts';
import {
  draftBytes,
  type NeighborTable,
  spreadTable,
  tableModelsBytes,
  tableSaving,
} from './neighbor-table.ts';
import { type NeighborLists, openLists } from './summed-lists.ts';

/** Neighbors kept of an item at most, and of all items together: 8 bytes each. */
const TABLE_NEIGHBORS_MAX = 100;
const TABLE_ENTRIES_MAX = 32_000_000;
/** So many are kept at least of an item that has them: a shorter list is complete. */
export const NEIGHBORS_MIN = 10;

export interface ItemNeighborsOptions {
  readonly policy: NeighborType;
  readonly enableIndex: boolean;
  readonly indexRecall: number;
  readonly seed: number;
  /** Additions that comparing may take; `ADDITIONS_MAX` of the exact search or of the index when absent. */
  readonly additionsMax?: number;
}

/** The comparisons that fill one table, one after the other. */
export interface ItemNeighborsTask extends SharedTask, WithServedItems {
  readonly tasks: readonly NeighborTask[];
  /** The row among the served items of each row compared: those that more people like are compared first. */
  readonly order: Uint32Array<SharedArrayBuffer>;
}

/** The neighbors of every item; see `fill-neighbor-table.ts`. A phase is the number of a comparison. */
export const itemNeighborsPart: LearnedPart<
  ItemNeighborsOptions,
  ItemNeighborsTask,
  number,
  undefined,
  NeighborTable,
  NeighborTable,
  NeighborLists
> = {
  title: 'item neighbors',
  stage: 'Computing item similarities',
  saving: tableSaving('item-neighbors'),
  memory(data, options, slots, _serving, reads, room) {
    const { rows } = comparedItems(data, options.policy, reads);
    return planOf(data, rows, options, reads, slots, room).memory;
  },
  prepare(data, options, slots, tools) {
    const compared = comparedItems(data, options.policy, tools.reads);
    const order = popularFirst(data, compared.rows);
    const { share } = planOf(data, compared.rows, options, tools.reads, slots, tools.room);
    const interactions = sampleUsers(data.interactions, share);
    const tasks = placeTasks(interactions, compared, order, options, slots, tools);
    const served = { rows: compared.rows, rowCount: data.itemRowCount };
    return { tasks, served, order, counter: tasks[0]!.counter, leftOut: leftOutRows(tasks) };
  },
  *course({ tasks }) {
    const rows = tasks.map(rowsToCompare);
    const total = rows.reduce((sum, more) => sum + more, 0);
    let before = 0;
    for (const [phase, more] of rows.entries()) {
      yield { kind: 'phase', phase, rows: more, before, total };
      before += more;
    }
    return undefined;
  },
  run({ tasks }, phase, slot, { instantiate }) {
    const task = tasks[phase]!;
    return runNeighborTask(task, instantiate(task.similarity.memory), slot);
  },
  model: ({ tasks, served, order }, _outcome, fingerprint) =>
    spreadTable(finishTasks(tasks, fingerprint, order), served),
  serve: (table) => table,
  open: openLists,
  features: {},
  training: {
    options: ({ neighborType: policy, enableIndex, indexRecall, seed }) => ({
      ...{ policy, enableIndex, indexRecall, seed },
    }),
    isAlwaysWanted: true,
    isOnDemand: false,
  },
};

/** Memory by the number of threads and the shape of the likes; labels are counted once. */
function itemsBytes(
  { itemRowCount }: TrainingData,
  rows: Uint32Array,
  { policy, enableIndex: hasIndexRoom }: ItemNeighborsOptions,
  reads: TrainingReads,
): (slots: number) => SampleLimits['bytesOf'] {
  const listLengthMax = neighborsKept(rows.length);
  const labels = policy === 'related' ? undefined : countLabels(reads.itemLabels(), rows);
  const models = tableModelsBytes(rows.length, listLengthMax) + 8 * itemRowCount;
  return (slots) =>
    ({ userCount: elementCount, count }) => {
      const compared = { rowCount: rows.length, elementCount, count, labels };
      const { all, piece } = policyBytes(policy, compared, { slots, listLengthMax, hasIndexRoom });
      return { piece, training: all + draftBytes(rows.length, listLengthMax), models };
    };
}

/** The users by whom items are compared; the work of it is bounded by rows, see `ADDITIONS_MAX`. */
function planOf(
  data: TrainingData,
  rows: Uint32Array,
  options: ItemNeighborsOptions,
  reads: TrainingReads,
  slots: number,
  room: StageRoom,
): SamplePlan {
  const bytesAt = itemsBytes(data, rows, options, reads);
  return planSample(data, slots, room, bytesAt, Number.POSITIVE_INFINITY);
}

/** Items without neighbors, the least popular, for the log; theirs are looked for when they are asked for. */
function leftOutRows(tasks: readonly NeighborTask[]): string | undefined {
  const { rowCount } = tasks[0]!.similarity;
  const least = Math.min(...tasks.map(({ rowsEnd }) => rowsEnd));
  return least < rowCount ? `compared the ${least} most popular of ${rowCount} items with all` : undefined;
}

function comparedItems(
  { rows, itemRowCount }: TrainingData,
  policy: NeighborType,
  reads: TrainingReads,
): ComparedRows {
  return comparedRows(policy, rows.items, itemRowCount, () => reads.itemLabels());
}

/**
 * The order in which items are compared. Of equal scores the lower row of an incidence stands before the others, and items
 * of few and common labels have many neighbors with equal scores.
 * @param rows of the store
 * @returns places in `rows`, those that more users like first
 */
function popularFirst(
  { rows: { items }, interactions: { byItem } }: TrainingData,
  rows: Uint32Array,
): Uint32Array<SharedArrayBuffer> {
  const likes = rows.map((storeRow) => {
    const row = placeOf(items, storeRow);
    return row < 0 ? 0 : byItem.indptr[row + 1]! - byItem.indptr[row]!;
  });
  const places = sharedU32(rows.length).map((_, at) => at);
  return filled(
    sharedU32(rows.length),
    places.sort((a, b) => likes[b]! - likes[a]! || a - b),
  );
}

/** Entries of a row in a table over so many items. */
export function neighborsKept(itemCount: number): number {
  return Math.max(NEIGHBORS_MIN, Math.min(TABLE_NEIGHBORS_MAX, Math.floor(TABLE_ENTRIES_MAX / itemCount)));
}

function placeTasks(
  interactions: Interactions,
  { rows, spread }: ComparedRows,
  order: Uint32Array,
  { policy, ...index }: ItemNeighborsOptions,
  slots: number,
  { instantiate, allocate, reads }: PartTools,
): readonly NeighborTask[] {
  const k = neighborsKept(rows.length);
  const labelsAt: LabelsOf = policy === 'related' ? () => [] : reads.itemLabels();
  const labelsOf: LabelsOf = (row) => labelsAt(rows[order[row]!]!);
  const place = (incidence: Incidence, reserveIndex: boolean) => {
    // Rows that are gone say nothing of how rare a thing is.
    const options = { listLengthMax: k, reserveIndex, population: reads.itemCount };
    const similarity = placeSimilarity(incidence, options, slots, allocate);
    const plan = planIndex(similarity, instantiate(similarity.memory), { ...index, k });
    const rowsEnd = rowsWithin(similarity, index.additionsMax ?? ADDITIONS_MAX / plan.costShare);
    return { similarity, plan, rowsEnd };
  };
  const labels =
    policy === 'related' ? undefined : place(incidenceOfLabels(labelsOf, rows.length), index.enableIndex);
  const related =
    policy === 'similar' ? undefined : place(orderRows(spread(itemsByUsers(interactions)), order), false);
  return policyTasks(policy, { labels, related }, (row) => labelsOf(row).length > 0, k);
}
