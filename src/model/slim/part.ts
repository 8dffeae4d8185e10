import type { TrainingData } from '../../dataset/training-data.ts';
import type { LearnedPart, StageRoom } from '../learned-part.ts';
import {
  type NeighborTable,
  spreadTable,
  tableModelsBytes,
  tableSaving,
} from '../neighbors/neighbor-table.ts';
import { servedItems, type WithServedItems } from '../served-items.ts';
import {
  leftOutOf,
  type SampleLimits,
  sampledShape,
  sampledSlots,
  sampleUsers,
  shareWithin,
} from '../user-sample.ts';
import {
  keptWeights,
  placeSlim,
  type SlimTask,
  SOLVED_ITEMS_MAX,
  slimMemoryBytes,
  slimPieceBytes,
} from './memory.ts';
import { type SlimSettings, slimSettings } from './settings.ts';
import { SLIM_PHASES, type SlimPhase, SlimSolver } from './solver.ts';
import { slimTable } from './table.ts';

function slimBytes(
  { itemRowCount }: TrainingData,
  settings: SlimSettings,
  slots: number,
): SampleLimits['bytesOf'] {
  return (shape) => ({
    piece: slimPieceBytes({ ...shape, slots, settings }),
    training: slimMemoryBytes({ ...shape, slots, settings }),
    models: tableModelsBytes(shape.itemCount, keptWeights(settings)) + 8 * itemRowCount,
  });
}

function shareOf(
  data: TrainingData,
  settings: SlimSettings,
  slots: number,
  { sampleBytes: roomBytes }: StageRoom,
): number {
  const bytesOf = slimBytes(data, settings, sampledSlots(slots));
  return shareWithin(data.interactions, { bytesOf, roomBytes });
}

/** The sparse linear item-item model; see `solver.ts`. */
export const slimPart: LearnedPart<
  Partial<SlimSettings>,
  SlimTask & WithServedItems,
  SlimPhase,
  undefined,
  NeighborTable,
  NeighborTable
> = {
  title: 'SLIM model',
  stage: 'Training SLIM',
  saving: tableSaving('item-weights'),
  memory(data, options, slots, _serving, _reads, room) {
    const settings = slimSettings(options);
    const share = shareOf(data, settings, slots, room);
    const { training, models } = slimBytes(data, settings, slots)(sampledShape(data.interactions, share));
    const { itemCount } = data.interactions;
    const leftOut = [
      leftOutOf(share),
      itemCount > SOLVED_ITEMS_MAX
        ? `learned for the ${SOLVED_ITEMS_MAX} most popular of ${itemCount} items`
        : undefined,
    ].filter((text) => text !== undefined);
    return {
      training,
      models,
      ...(leftOut.length > 0 && { leftOut: leftOut.join(' and ') }),
    };
  },
  prepare(data, options, slots, { allocate, room }) {
    const settings = slimSettings(options);
    const sample = sampleUsers(data.interactions, shareOf(data, settings, slots, room));
    return { ...placeSlim(sample, settings, slots, undefined, allocate), served: servedItems(data) };
  },
  *course({ similarity }) {
    for (const phase of SLIM_PHASES) {
      yield { kind: 'phase', phase, ...(phase === 'solve' && { rows: similarity.rowCount }) };
    }
    return undefined;
  },
  run: (task, phase, slot, { instantiate }) => new SlimSolver(task, instantiate, slot).runPhase(phase),
  model: (task, _outcome, fingerprint) => spreadTable(slimTable(task, fingerprint), task.served),
  serve: (table) => table,
};
