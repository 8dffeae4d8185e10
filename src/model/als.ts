/**
 * Matrix factorisation for implicit feedback by alternating least squares (Hu, Koren, Volinsky 2008), in the
 * parametrisation of Rendle et al. 2021. Every row is solved by itself from the other side's factors, and
 * Gramians are summed in a fixed order, so the model is the same for any number of threads.
 *
 * A training is a sequence of phases; in each, any number of threads take chunks from one atomic counter.
 */
import type { Interactions } from '../dataset/interactions.ts';
import { fingerprint } from '../dataset/interactions.ts';
import type { AlsRows, Kernels } from '../kernel/kernels.ts';
import { type InstantiateKernels, paddedFactors } from '../kernel/scratch.ts';
import { arrayOf, viewOf } from '../memory/layout.ts';
import {
  type AlsTask,
  GATHER_ROWS,
  GRAMIAN_CHUNK_ROWS,
  gramianChunks,
  placeAls,
  type Side,
} from './als-memory.ts';
import { type AlsSettings, alsSettings } from './als-settings.ts';
import { assertFinite, type MatrixFactorization } from './mf-model.ts';

/** Rows that a thread takes at a time: a user's row is short, a popular item's long. */
const SOLVE_CHUNK_ROWS: Readonly<Record<Side, number>> = { user: 64, item: 8 };
/** Places in the control array. */
const NEXT_CHUNK = 0;
const CANCELLED = 1;

/** Partial Gramians of the other side, then this side's rows. All threads finish a phase before the next begins. */
export interface AlsPhase {
  readonly kind: 'gramian' | 'solve';
  /** The side that is solved. */
  readonly side: Side;
  /** From 0. */
  readonly epoch: number;
}

/** Items first and users last, so that users fit the items they are published with, as a fold-in does. */
export function* alsPhases(epochs: number): Generator<AlsPhase> {
  for (let epoch = 0; epoch < epochs; epoch++) {
    for (const side of ['item', 'user'] as const) {
      yield { kind: 'gramian', side, epoch };
      yield { kind: 'solve', side, epoch };
    }
  }
}

/** Lets the next phase begin at its first chunk. Called by the one that drives, while no thread runs a phase. */
export function beginPhase(task: AlsTask): void {
  Atomics.store(viewOf(task.memory, task.layout, 'control', 'i32'), NEXT_CHUNK, 0);
}

/** Makes every thread stop after the chunk it is at; may be called from any thread at any time. */
export function cancelAls(task: AlsTask): void {
  Atomics.store(viewOf(task.memory, task.layout, 'control', 'i32'), CANCELLED, 1);
}

/** One thread's part in a training. */
export class AlsSolver {
  readonly #task: AlsTask;
  readonly #kernels: Kernels;
  readonly #slot: number;
  readonly #f: number;
  readonly #control: Int32Array<SharedArrayBuffer>;

  /** @param slot this thread's number, below `task.slots`; no two threads share one */
  constructor(task: AlsTask, kernels: Kernels, slot: number) {
    if (!(slot >= 0 && slot < task.slots)) throw new RangeError(`slot ${slot} of ${task.slots}`);
    this.#task = task;
    this.#kernels = kernels;
    this.#slot = slot;
    this.#f = paddedFactors(task.settings.factors);
    this.#control = viewOf(task.memory, task.layout, 'control', 'i32');
  }

  /** Works on a phase until no chunk is left. @returns false when the training was cancelled */
  runPhase(phase: AlsPhase): boolean {
    const { kind, side } = phase;
    const rows = this.#rowCount(side);
    const chunkRows = SOLVE_CHUNK_ROWS[side];
    if (kind === 'solve') this.sumGramian(side);
    const chunks =
      kind === 'solve' ? Math.ceil(rows / chunkRows) : gramianChunks(this.#rowCount(other(side)));
    for (;;) {
      if (Atomics.load(this.#control, CANCELLED) !== 0) return false;
      const chunk = Atomics.add(this.#control, NEXT_CHUNK, 1);
      if (chunk >= chunks) return true;
      if (kind === 'gramian') this.gramianChunk(side, chunk);
      else this.solveRows(side, chunk * chunkRows, Math.min(rows, (chunk + 1) * chunkRows));
    }
  }

  /** The partial Gramian over one chunk of the side opposite to `side`. */
  gramianChunk(side: Side, chunk: number): void {
    const source = other(side);
    const first = chunk * GRAMIAN_CHUNK_ROWS;
    const rows = Math.min(GRAMIAN_CHUNK_ROWS, this.#rowCount(source) - first);
    const f = this.#f;
    this.#kernels.gramian(
      this.#offset(`${source}Factors`) + first * f * 4,
      rows,
      f,
      this.#offset('gramianParts') + chunk * f * f * 4,
    );
  }

  /** Sums the partial Gramians, in order, into this thread's own; before `solveRows`. */
  sumGramian(side: Side): void {
    const size = this.#f * this.#f;
    const sum = this.#offset('gramians') + this.#slot * size * 4;
    const parts = this.#offset('gramianParts');
    viewOf(this.#task.memory, this.#task.layout, 'gramians', 'f32').fill(
      0,
      this.#slot * size,
      (this.#slot + 1) * size,
    );
    const chunks = gramianChunks(this.#rowCount(other(side)));
    for (let chunk = 0; chunk < chunks; chunk++) {
      this.#kernels.addScaled(sum, parts + chunk * size * 4, 1, size);
    }
  }

  /** Solves rows [firstRow, endRow) of a side against the other side's factors. */
  solveRows(side: Side, firstRow: number, endRow: number): void {
    const { settings, layout, weighted } = this.#task;
    const f = this.#f;
    const job: AlsRows = {
      starts: this.#offset(`${side}Starts`),
      columns: this.#offset(`${side}Columns`),
      weights: weighted ? this.#offset(`${side}Weights`) : 0,
      firstRow,
      endRow,
      target: this.#offset(`${side}Factors`),
      source: this.#offset(`${other(side)}Factors`),
      gramian: this.#offset('gramians') + this.#slot * f * f * 4,
      f,
      unobservedWeight: settings.unobservedWeight,
      regularizations: this.#offset(`${side}Regularizations`),
      steps: settings.steps,
      scratch: this.#offset('scratch') + this.#slot * arrayOf(layout, 'scratch').shape[1]! * 4,
      gatherRows: GATHER_ROWS,
    };
    if (settings.solver === 'cholesky') this.#kernels.alsCholeskyRows(job);
    else this.#kernels.alsSolveRows(job);
  }

  #rowCount(side: Side): number {
    return side === 'user' ? this.#task.userCount : this.#task.itemCount;
  }

  #offset(name: string): number {
    return arrayOf(this.#task.layout, name).offset;
  }
}

function other(side: Side): Side {
  return side === 'user' ? 'item' : 'user';
}

/** How far a training is, in epochs. */
export interface Progress {
  readonly done: number;
  readonly total: number;
}

/**
 * Trains in this thread; the generator yields after each epoch, so the caller may show progress, measure, or
 * stop early by returning from it.
 * @returns the task, whose memory holds the factors
 */
export function* fitAls(
  interactions: Interactions,
  given: Partial<AlsSettings>,
  instantiate: InstantiateKernels,
): Generator<Progress, MatrixFactorization> {
  const settings = alsSettings(given);
  const task = placeAls(interactions, settings);
  const solver = new AlsSolver(task, instantiate(task.memory), 0);
  for (const phase of alsPhases(settings.epochs)) {
    beginPhase(task);
    solver.runPhase(phase);
    if (phase.kind === 'gramian' || phase.side === 'item') continue;
    yield { done: phase.epoch + 1, total: settings.epochs };
  }
  return trainedModel(task, fingerprint(interactions));
}

/**
 * Trains by whatever spreads a phase over threads: `runPhase` resolves once every thread has returned from
 * `AlsSolver.runPhase`, and rejects when one failed.
 */
export async function* driveAls(
  task: AlsTask,
  runPhase: (phase: AlsPhase) => Promise<void>,
): AsyncGenerator<Progress, void> {
  const { epochs } = task.settings;
  for (const phase of alsPhases(epochs)) {
    beginPhase(task);
    await runPhase(phase);
    if (phase.kind === 'solve' && phase.side === 'user') yield { done: phase.epoch + 1, total: epochs };
  }
}

/** Runs a generator to its end, telling of each value. */
export function finish<Value, Result>(
  run: Generator<Value, Result>,
  tell: (value: Value) => void = () => {},
): Result {
  for (;;) {
    const step = run.next();
    if (step.done === true) return step.value;
    tell(step.value);
  }
}

/**
 * Copies the factors out of a training's memory as a model.
 * @throws FurzeError INTERNAL when a factor is NaN or infinite, so that no such model is published
 */
export function trainedModel(
  task: AlsTask,
  dataFingerprint: number,
  quality: Readonly<Record<string, number>> = {},
): MatrixFactorization {
  const { memory, layout, settings, userCount, itemCount } = task;
  const model: MatrixFactorization = {
    factors: settings.factors,
    userCount,
    itemCount,
    regularization: settings.regularization,
    unobservedWeight: settings.unobservedWeight,
    regularizationExponent: settings.regularizationExponent,
    seed: settings.seed,
    fingerprint: dataFingerprint,
    quality,
    userFactors: new Float32Array(viewOf(memory, layout, 'userFactors', 'f32')),
    itemFactors: new Float32Array(viewOf(memory, layout, 'itemFactors', 'f32')),
  };
  assertFinite(model);
  return model;
}
