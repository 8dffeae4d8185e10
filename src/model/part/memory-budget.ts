/** The memory that a fit may take, and what each of its stages needs, worked out before the stage begins. */
import { MEMORY_BYTES_MAX } from '../../memory/shared-memory.ts';

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

/** Bytes of a stage of a fit, by what takes them. */
export interface StageMemory {
  /** The largest piece that must be in one. */
  readonly piece?: number;
  readonly training: number;
  /** The model that is placed at the end, the one that serves meanwhile, and the copies made to save it. */
  readonly models: number;
  /** Models of earlier stages, and others that serve. */
  readonly held?: number;
  /** Data that is left out to stay within bounds of memory and work, for people; none when absent. */
  readonly leftOut?: string;
}

/** All that a stage takes at most. */
export function stageBytes({ training, models, held = 0 }: StageMemory): number {
  return training + models + held;
}

/**
 * Refuses a stage that does not fit.
 * @param stage what it does, such as `Training ALS`
 * @throws RangeError with what it needs, what there is, and which configuration keys help
 */
export function checkStageMemory(stage: string, memory: StageMemory, budgetBytes: number): void {
  const { piece = 0, training, models, held = 0 } = memory;
  const help =
    'lower [recommend.collaborative] factors, or shorten positive_feedback_ttl in [recommend.data_source]';
  if (piece > MEMORY_BYTES_MAX) {
    throw new RangeError(
      `${stage} needs ${inMb(piece)} in one piece and there can be ${inMb(MEMORY_BYTES_MAX)}: ${help}`,
    );
  }
  const total = stageBytes(memory);
  if (total <= budgetBytes) return;
  throw new RangeError(
    `${stage} needs ${inMb(total)} of memory (training ${inMb(training)}, models ${inMb(models)}, held meanwhile ` +
      `${inMb(held)}) and a fit may take ${inMb(budgetBytes)}: raise [worker] memory_max_mb where the machine has ` +
      `more, ${help}`,
  );
}

function inMb(bytes: number): string {
  return `${Math.ceil(bytes / MB)} MiB`;
}
