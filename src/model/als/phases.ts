/** A training is a sequence of phases; in each, any number of threads take chunks from one atomic counter. */
import type { Side } from './training-task.ts';

/**
 * Partial Gramians of the other side; for conjugate gradient the basis in which their sum is diagonal, to which all
 * factors are then turned; this side's rows. All threads finish a phase before the next begins.
 */
export interface SolvePhase {
  readonly kind: 'gramian' | 'basis' | 'turn' | 'solve';
  readonly side: Side;
  /** From 0. */
  readonly epoch: number;
}

/**
 * Phases of the held-out records: `pack` readies the items for scoring, `judge` measures, `keep` copies the
 * item factors aside and `restore` back, `fold` solves the users concerned with their whole history (after a Gramian
 * of the items).
 */
export interface HeldOutPhase {
  readonly kind: 'pack' | 'judge' | 'keep' | 'restore' | 'fold';
}

export type AlsPhase = SolvePhase | HeldOutPhase;

/** Items first and users last, so that users fit the items they are published with, as a fold-in does. */
export function* alsPhases(epochs: number): Generator<SolvePhase> {
  for (let epoch = 0; epoch < epochs; epoch++) {
    yield* sidePhases('item', epoch);
    yield* sidePhases('user', epoch);
  }
}

/** Solves one side. */
export function* sidePhases(side: Side, epoch: number): Generator<SolvePhase> {
  yield { kind: 'gramian', side, epoch };
  yield { kind: 'basis', side, epoch };
  yield { kind: 'turn', side, epoch };
  yield { kind: 'solve', side, epoch };
}
