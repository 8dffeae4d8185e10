import type { LearnedPart } from '../learned-part.ts';
import {
  decodeNeighborTable,
  encodeNeighborTable,
  type NeighborTable,
  tableModelsBytes,
} from '../neighbors/neighbor-table.ts';
import { keptWeights, placeSlim, type SlimTask, slimMemoryBytes } from './memory.ts';
import { type SlimSettings, slimSettings } from './settings.ts';
import { SLIM_PHASES, type SlimPhase, SlimSolver } from './solver.ts';
import { slimTable } from './table.ts';

/** The sparse linear item-item model; see `solver.ts`. */
export const slimPart: LearnedPart<
  Partial<SlimSettings>,
  SlimTask,
  SlimPhase,
  undefined,
  NeighborTable,
  NeighborTable
> = {
  stage: 'Training SLIM',
  saving: { name: 'item-weights', encode: encodeNeighborTable, decode: decodeNeighborTable },
  memory({ interactions: { userCount, itemCount, count } }, options, slots) {
    const settings = slimSettings(options);
    const training = slimMemoryBytes({ userCount, itemCount, count, slots, settings });
    return { training, models: tableModelsBytes(itemCount, keptWeights(settings)) };
  },
  place: ({ interactions }, options, slots, { allocate }) =>
    placeSlim(interactions, slimSettings(options), slots, undefined, allocate),
  *course({ similarity }) {
    for (const phase of SLIM_PHASES) {
      yield { kind: 'phase', phase, ...(phase === 'solve' && { rows: similarity.rowCount }) };
    }
    return undefined;
  },
  run: (task, phase, slot, { instantiate }) => new SlimSolver(task, instantiate, slot).runPhase(phase),
  model: (task, _outcome, fingerprint) => slimTable(task, fingerprint),
  serve: (table) => table,
};
