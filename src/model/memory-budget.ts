/** The memory that a fit takes, worked out from shapes before it begins. */
import { paddedFactors } from '../kernel/scratch.ts';
import { MEMORY_BYTES_MAX } from '../memory/shared-memory.ts';
import { type AlsShape, alsMemoryBytes } from './als/memory.ts';
import { placedModelBytes } from './als/scorer.ts';

/** The part of the machine's memory that a fit may take where no limit is set. */
const SHARE = 0.7;
const MB = 2 ** 20;

/**
 * The most bytes that a fit may take.
 * @param maxMb as configured, in MiB; 0 for 70 % of the memory that the process may have
 * @param availableBytes the memory that the process may have
 */
export function memoryBudgetBytes(maxMb: number, availableBytes: number): number {
  return maxMb > 0 ? maxMb * MB : Math.floor(SHARE * availableBytes);
}

/** How a trained model will be placed; see `placeModel`. */
export interface ServingShape {
  readonly slots: number;
  readonly listLengthMax: number;
}

/** Bytes of a fit, by what takes them. */
export interface FitMemory {
  readonly training: number;
  /** The placed model, the one that serves meanwhile, and the copies made to save it. */
  readonly models: number;
}

/** Works out the memory of a fit. */
export function fitMemory(shape: AlsShape, serving: ServingShape): FitMemory {
  const { userCount, itemCount, factors } = shape;
  const placed = placedModelBytes({ userCount, itemCount, factors }, serving.slots, serving.listLengthMax);
  const factorBytes = (userCount + itemCount) * paddedFactors(factors) * 4;
  return { training: alsMemoryBytes(shape), models: 2 * (placed + factorBytes) };
}

/**
 * Refuses a fit that does not fit.
 * @throws RangeError with what it needs, what there is, and which configuration keys help
 */
export function checkFitMemory({ training, models }: FitMemory, budgetBytes: number): void {
  const help =
    'lower [recommend.collaborative] factors, or shorten positive_feedback_ttl in [recommend.data_source]';
  if (training > MEMORY_BYTES_MAX) {
    throw new RangeError(
      `a training needs ${inMb(training)} in one piece and there can be ${inMb(MEMORY_BYTES_MAX)}: ${help}`,
    );
  }
  if (training + models <= budgetBytes) return;
  throw new RangeError(
    `a fit needs ${inMb(training + models)} of memory (training ${inMb(training)}, models ${inMb(models)}) and may take ` +
      `${inMb(budgetBytes)}: raise [worker] memory_max_mb where the machine has more, ${help}`,
  );
}

/** The most factors, from a list in ascending order, with which a fit stays within the budget; undefined for none. */
export function largestFitting(
  choices: readonly number[],
  shape: AlsShape,
  serving: ServingShape,
  budgetBytes: number,
): number | undefined {
  return choices.findLast((factors) => {
    const { training, models } = fitMemory({ ...shape, factors }, serving);
    return training <= MEMORY_BYTES_MAX && training + models <= budgetBytes;
  });
}

function inMb(bytes: number): string {
  return `${Math.ceil(bytes / MB)} MiB`;
}
