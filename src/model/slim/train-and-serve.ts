import type { TrainingData } from '../../dataset/training-data.ts';
import { type NeighborTable, spreadTable, tableSaving } from '../neighbors/neighbor-table.ts';
import { type PlacedSums, placedSumsBytes, placeSums } from '../neighbors/row-sums.ts';
import { openSummedLists, type SummedLists, sumOfLikes } from '../neighbors/summed-lists.ts';
import type { LearnedPart, ServingShape, StageRoom } from '../part/learned-part.ts';
import {
  planSample,
  type SampleLimits,
  type SamplePlan,
  sampleUsers,
} from '../part/sample-users-to-fit-memory.ts';
import { servedItems, type WithServedItems } from '../part/served-items.ts';
import { keptWeights, placeSlim, type SlimTask, slimMemoryBytes, slimPieceBytes } from './memory-layout.ts';
import { type SlimSettings, slimSettings } from './settings.ts';
import { SLIM_PHASES, type SlimPhase, SlimSolver } from './slim-solver.ts';
import { SOLVED_ITEMS_MAX, solvedItems } from './solved-items.ts';
import { slimTable } from './transpose-weights.ts';

function slimBytes(
  { itemRowCount: rowCount }: TrainingData,
  settings: SlimSettings,
  slots: number,
  { listLengthMax }: ServingShape,
): SampleLimits['bytesOf'] {
  return (matrix) => {
    const solvedItems = Math.min(matrix.itemCount, SOLVED_ITEMS_MAX);
    const shape = { ...matrix, slots, settings, solvedItems };
    const table = { learnedItems: solvedItems, entriesARow: keptWeights(settings), rowCount };
    const placed = placedSumsBytes(table, slots, listLengthMax);
    const piece = Math.max(slimPieceBytes(shape), placed.piece);
    return { ...placed, piece, training: slimMemoryBytes(shape) };
  };
}

function planOf(
  data: TrainingData,
  settings: SlimSettings,
  slots: number,
  serving: ServingShape,
  room: StageRoom,
): SamplePlan {
  return planSample(data, slots, room, (threads) => slimBytes(data, settings, threads, serving));
}

/** The sparse linear item-item model; see `slim-solver.ts`. */
export const slimPart: LearnedPart<
  Partial<SlimSettings>,
  SlimTask & WithServedItems,
  SlimPhase,
  undefined,
  NeighborTable,
  PlacedSums,
  SummedLists,
  'slim'
> = {
  title: 'SLIM model',
  stage: 'Training SLIM',
  saving: tableSaving('item-weights'),
  memory(data, options, slots, serving, _reads, room) {
    const settings = slimSettings(options);
    const { memory, share } = planOf(data, settings, slots, serving, room);
    const { itemCount } = data.interactions;
    const solved = solvedItems(data.interactions, settings, share);
    if (solved === itemCount) return memory;
    const ofItems = `learned for the ${solved} most popular of ${itemCount} items`;
    return {
      ...memory,
      leftOut: memory.leftOut === undefined ? ofItems : `${memory.leftOut} and ${ofItems}`,
    };
  },
  prepare(data, options, slots, { allocate, room }, serving) {
    const settings = slimSettings(options);
    const { share } = planOf(data, settings, slots, serving, room);
    const sample = sampleUsers(data.interactions, share);
    const solved = solvedItems(data.interactions, settings, share);
    return { ...placeSlim(sample, settings, slots, undefined, allocate, solved), served: servedItems(data) };
  },
  *course({ solvedItems }) {
    for (const phase of SLIM_PHASES) {
      yield { kind: 'phase', phase, ...(phase === 'solve' && { rows: solvedItems }) };
    }
    return undefined;
  },
  run: (task, phase, slot, { instantiate }) => new SlimSolver(task, instantiate, slot).runPhase(phase),
  model: (task, _outcome, fingerprint) => spreadTable(slimTable(task, fingerprint), task.served),
  serve: (table, shape, { allocate }) => placeSums(table, shape, {}, allocate),
  open: openSummedLists,
  features: {
    slim: sumOfLikes('SLIM: weights from item to item, learned so that they foretell what users have', false),
  },
  training: { options: () => ({}), isAlwaysWanted: false, isOnDemand: false },
};
