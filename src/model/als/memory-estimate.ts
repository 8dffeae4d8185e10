import { paddedFactors } from '../../kernel/scratch-sizes.ts';
import { MEMORY_BYTES_MAX } from '../../memory/shared-memory.ts';
import type { ServingShape } from '../part/learned-part.ts';
import type { StageMemory } from '../part/memory-budget.ts';
import type { Footprint } from '../part/sample-users-to-fit-memory.ts';
import { type AlsShape, alsMemoryBytes } from './memory-layout.ts';
import { placedModelBytes } from './mf-scorer.ts';
import type { AlsSettings } from './settings.ts';
import { FACTORS_MIN } from './settings-by-size.ts';
import { STAGE_ROWS_MAX, STAGE_ROWS_MIN } from './sharding.ts';

/** The memory of a training, and of the model that comes of it. */
export function alsFitMemory(
  shape: AlsShape,
  serving: ServingShape,
): StageMemory & { readonly piece: number } {
  const { factors, itemRows = shape.itemCount } = shape;
  const served = { factors, itemCount: itemRows, userVectors: 0 };
  const placed = placedModelBytes(served, serving.slots, serving.listLengthMax);
  const factorBytes = itemRows * paddedFactors(factors) * 4;
  const { all, piece } = alsMemoryBytes(shape);
  return { piece: Math.max(piece, placed), training: all, models: 2 * (placed + factorBytes) };
}

/** The most factors, from a list in ascending order, with which a fit stays within the budget; undefined for none. */
export function largestFitting(
  choices: readonly number[],
  shape: AlsShape,
  serving: ServingShape,
  budgetBytes: number,
): number | undefined {
  return choices.findLast((factors) => {
    const { piece, training, models } = alsFitMemory({ ...shape, factors }, serving);
    return piece <= MEMORY_BYTES_MAX && training + models <= budgetBytes;
  });
}

/** Bytes that feedback and a training of it take at least, by what they grow with; the users are divided then. */
export function leastFootprint(
  settings: Pick<AlsSettings, 'factors'>,
  weighted: boolean,
  slots: number,
  serving: ServingShape,
): Footprint {
  // Where the number goes by the data, much data has the fewest.
  const factors = settings.factors > 0 ? settings.factors : FACTORS_MIN;
  const shape = (itemCount: number): AlsShape => ({
    userCount: 0,
    itemCount,
    count: 0,
    weighted,
    factors,
    slots,
    sharding: { rowsPerShard: STAGE_ROWS_MIN, stageRows: STAGE_ROWS_MAX, chunkEntries: STAGE_ROWS_MAX },
  });
  const bytes = (itemCount: number) => {
    const { training, models } = alsFitMemory(shape(itemCount), serving);
    return training + models;
  };
  const some = 1_000_000;
  return {
    // Where each begins in the matrix, its row in the store, and counts while feedback is placed.
    user: paddedFactors(factors) * 4 + 24,
    item: Math.ceil((bytes(some) - bytes(0)) / some) + paddedFactors(factors) * 8 + 12,
    pair: weighted ? 16 : 8,
    base: bytes(0),
  };
}
