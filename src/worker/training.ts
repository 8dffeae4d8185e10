import { isDeepStrictEqual } from 'node:util';
import type { HeldOutPairs } from '../dataset/leave-out.ts';
import type { Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/log.ts';
import { qualityOf } from '../model/als.ts';
import { alsShape } from '../model/als-memory.ts';
import { type AlsSettings, alsSettings } from '../model/als-settings.ts';
import { checkFitMemory, fitMemory, type ServingShape } from '../model/memory-budget.ts';
import { type AlsRun, runAls } from './als-run.ts';
import type { Gathered, LoadedModel } from './messages.ts';
import { MODEL_NAME, type ModelMark } from './model-mark.ts';
import type { WorkerPool } from './pool.ts';
import type { OnProgress } from './progress.ts';
import { adoptSettings, type Marks, settingsInUse } from './search-marks.ts';

/** How much stronger the penalty is when a training that diverged is tried again. */
const STRONGER = 10;

export interface TrainingOptions {
  readonly dataPath: string;
  readonly cachePath: string;
  /** As configured. */
  readonly settings: Partial<AlsSettings>;
  /** Start from the items of the last generation. The model then depends on those before it. */
  readonly warmStart: boolean;
  readonly positiveTypes: readonly string[];
  /** Positive feedback older than this does not count, milliseconds; Infinity for all. */
  readonly positiveTtlMs: number;
  readonly clockErrorMs: number;
  /** The longest list that the model will be asked for. */
  readonly listLengthMax: number;
  /** The most that a fit may take. */
  readonly memoryBytesMax: number;
  readonly marks: Marks;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface TrainedModel extends LoadedModel {
  readonly positives: number;
  /** What the model was not trained on. */
  readonly heldOut: HeldOutPairs;
  /** True when feedback and settings are still those of the model that serves, which therefore stays. */
  readonly unchanged: boolean;
}

/**
 * Trains the collaborative model, spread over the pool. The model's memory has one slot of scratch more than there are
 * training slots: the last is the main thread's.
 */
export class Training {
  private readonly pool: WorkerPool;
  private readonly options: TrainingOptions;
  private readonly abort = new AbortController();
  private last: LoadedModel | undefined;

  constructor(pool: WorkerPool, options: TrainingOptions) {
    this.pool = pool;
    this.options = options;
  }

  /** The slot of a placed model that serving uses. */
  get servingSlot(): number {
    return this.pool.trainingSlots;
  }

  /** Places the model saved last, undefined when there is none that can be read. */
  async load(): Promise<LoadedModel | undefined> {
    const { cachePath } = this.options;
    this.last = await this.pool.run<'load'>({ kind: 'load', cachePath, ...this.servingShape() });
    return this.last;
  }

  /**
   * Trains and saves generation `generation`.
   * @returns undefined when there is no positive feedback yet, or `stop` was called meanwhile
   * @throws RangeError when it would take more memory than it may, Error when the training diverged
   */
  async run(generation: number, onProgress: OnProgress = () => {}): Promise<TrainedModel | undefined> {
    onProgress('loading feedback', 0, 1);
    const gathered = await this.gather();
    onProgress('loading feedback', 1, 1);
    if (gathered === undefined || this.abort.signal.aborted) return undefined;
    const settings = await this.settings();
    const { positives, heldOut, fingerprint } = gathered;
    if (this.last !== undefined && (await this.isUnchanged(this.last, gathered, settings))) {
      onProgress('training', settings.epochs, settings.epochs);
      return { ...this.last, positives, heldOut, unchanged: true };
    }
    const run = await this.train(gathered, settings, onProgress);
    if (run === undefined) return undefined;
    const { task, outcome } = run;
    const placed = await this.pool.run<'publish'>({
      kind: 'publish',
      task,
      fingerprint,
      settings,
      quality: qualityOf(outcome),
      cachePath: this.options.cachePath,
      generation,
      ...this.servingShape(),
    });
    this.last = { placed, generation };
    return { placed, generation, positives, heldOut, unchanged: false };
  }

  /** Ends a training that runs within one chunk of its work, and trains no more. */
  stop(): void {
    this.abort.abort();
  }

  /** The settings of the next fit: those that a search has found, or the configured ones. */
  settings(): Promise<AlsSettings> {
    return settingsInUse(this.options.marks, this.options.settings);
  }

  /** Uses settings from the next fit on, until the configured ones are changed. */
  adopt(settings: AlsSettings): Promise<void> {
    return adoptSettings(this.options.marks, this.options.settings, settings);
  }

  get marks(): Marks {
    return this.options.marks;
  }

  /** How a model will be placed, and the bytes that a fit may take. */
  memoryLimits(): [serving: ServingShape, budgetBytes: number] {
    return [this.servingShape(), this.options.memoryBytesMax];
  }

  /** Reads what there is to train on and to judge by; undefined when there is no positive feedback. */
  gather(): Promise<Gathered | undefined> {
    const { dataPath, settings, positiveTypes, clock, clockErrorMs, positiveTtlMs } = this.options;
    return this.pool.run<'gather'>({
      kind: 'gather',
      dataPath,
      positiveTypes,
      sinceMs: clock() - positiveTtlMs,
      untilMs: clock() + clockErrorMs,
      seed: alsSettings(settings).seed,
    });
  }

  private async isUnchanged(
    { generation }: LoadedModel,
    { fingerprint }: Gathered,
    settings: AlsSettings,
  ): Promise<boolean> {
    const mark = (await this.options.marks.getMark(MODEL_NAME)) as ModelMark | undefined;
    return (
      mark?.generation === generation &&
      mark.fingerprint === fingerprint &&
      isDeepStrictEqual(mark.settings, settings)
    );
  }

  /** A training that diverges is tried once more with a stronger penalty. */
  private async train(
    gathered: Gathered,
    settings: AlsSettings,
    onProgress: OnProgress,
  ): Promise<AlsRun | undefined> {
    const first = await this.attempt(gathered, settings, onProgress);
    if (first?.outcome.divergence === undefined) return first;
    const regularization = settings.regularization * STRONGER;
    const { divergence } = first.outcome;
    this.options.log.warn({ divergence, settings, regularization }, 'the training diverged; trying again');
    const second = await this.attempt(gathered, { ...settings, regularization }, onProgress);
    if (second?.outcome.divergence === undefined) return second;
    throw new Error(`the training diverged twice: ${second.outcome.divergence}`);
  }

  private async attempt(
    gathered: Gathered,
    settings: AlsSettings,
    onProgress: OnProgress,
  ): Promise<AlsRun | undefined> {
    const { memoryBytesMax, warmStart, cachePath } = this.options;
    const shape = alsShape(gathered.interactions, settings, this.pool.trainingSlots, gathered.heldOut);
    checkFitMemory(fitMemory(shape, this.servingShape()), memoryBytesMax);
    onProgress('training', 0, settings.epochs);
    const run = await runAls(this.pool, gathered, {
      settings,
      signal: this.abort.signal,
      warmStartFrom: warmStart ? cachePath : undefined,
      onEpoch: ({ done, total }) => onProgress('training', done, total),
    });
    if (run !== undefined) onProgress('training', settings.epochs, settings.epochs);
    return run;
  }

  private servingShape(): ServingShape {
    return { slots: this.servingSlot + 1, listLengthMax: this.options.listLengthMax };
  }
}
