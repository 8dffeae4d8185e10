import type { AlsTask } from '../model/als/memory.ts';
import type { AlsSettings } from '../model/als/settings.ts';
import { type AlsEpoch, type AlsOutcome, type AlsPhase, cancelAls, driveAls } from '../model/als/train.ts';
import type { Gathered } from './messages.ts';
import type { WorkerPool } from './pool.ts';

/** A training that came to its end. */
export interface AlsRun {
  readonly task: AlsTask;
  readonly outcome: AlsOutcome;
}

export interface AlsRunOptions {
  readonly settings: AlsSettings;
  readonly signal: AbortSignal;
  /** See `PlaceJob`. */
  readonly warmStartFrom?: string | undefined;
  /** Item factors to start from. */
  readonly itemFactors?: Float32Array;
  readonly onEpoch?: (epoch: AlsEpoch) => void;
}

/**
 * Trains once, spread over the pool.
 * @returns undefined when the signal cancelled it, which it does within one chunk
 */
export async function runAls(
  pool: WorkerPool,
  gathered: Gathered,
  { settings, signal, warmStartFrom, itemFactors, onEpoch }: AlsRunOptions,
): Promise<AlsRun | undefined> {
  const slots = pool.trainingSlots;
  const task = await pool.run<'place'>({
    kind: 'place',
    gathered,
    settings,
    slots,
    warmStartFrom,
    itemFactors,
  });
  const cancel = () => cancelAls(task);
  if (signal.aborted) return undefined;
  signal.addEventListener('abort', cancel);
  const slotNumbers = Array.from({ length: slots }, (_, slot) => slot);
  const runPhase = async (phase: AlsPhase) => {
    await Promise.all(slotNumbers.map((slot) => pool.run<'phase'>({ kind: 'phase', task, phase, slot })));
  };
  try {
    const course = driveAls(task, runPhase);
    for (;;) {
      const step = await course.next();
      if (step.done === true) return step.value && { task, outcome: step.value };
      onEpoch?.(step.value);
    }
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}
