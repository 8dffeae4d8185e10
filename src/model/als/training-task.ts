import type { MemoryLayout } from '../../memory/memory-layout.ts';
import type { SharedTask } from '../part/chunks-for-threads.ts';
import type { AlsSettings, ConcreteSolver } from './settings.ts';
import type { UserShards } from './sharding.ts';

/** One of the two sides of the matrix. */
export type Side = 'user' | 'item';

/** All that a thread needs to take part in a training; plain data but for the memory, which is shared. */
export interface AlsTask extends SharedTask {
  readonly memory: WebAssembly.Memory;
  readonly layout: MemoryLayout;
  readonly settings: AlsSettings;
  /** Conjugate-gradient steps of the settings' solver. */
  readonly solver: ConcreteSolver;
  readonly userCount: number;
  readonly itemCount: number;
  /** Distinct pairs trained on. */
  readonly count: number;
  readonly weighted: boolean;
  /** Number of threads with scratch; a thread's slot is a number below. */
  readonly slots: number;
  /** Source rows that fit in a thread's scratch. */
  readonly gatherRows: number;
  /** Users of whom a record was held out; 0 when the training is not judged. */
  readonly heldOut: number;
  /** The first so many of them are judged. */
  readonly judged: number;
  /** True when the item factors at the start are an earlier model's. */
  readonly hasItemFactors: boolean;
  /** The users, where they are divided; with the items in one memory when absent. */
  readonly shards?: UserShards;
}

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
