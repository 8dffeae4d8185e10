import { paddedFactors } from '../../kernel/scratch.ts';
import { MEMORY_BYTES_MAX } from '../../memory/shared-memory.ts';
import type { ServingShape } from '../learned-part.ts';
import type { StageMemory } from '../memory-budget.ts';
import { type AlsShape, alsMemoryBytes } from './memory.ts';
import { placedModelBytes } from './scorer.ts';

/** The memory of a training, and of the model that comes of it. */
export function alsFitMemory(
  shape: AlsShape,
  serving: ServingShape,
): StageMemory & { readonly piece: number } {
  const { userCount, itemCount, factors } = shape;
  const placed = placedModelBytes({ userCount, itemCount, factors }, serving.slots, serving.listLengthMax);
  const factorBytes = (userCount + itemCount) * paddedFactors(factors) * 4;
  const training = alsMemoryBytes(shape);
  return { piece: training, training, models: 2 * (placed + factorBytes) };
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
