import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/log.ts';
import { viewOf } from '../memory/layout.ts';
import { alsShape } from '../model/als/memory.ts';
import type { PlacedModel } from '../model/als/scorer.ts';
import { type AlsSettings, alsSettings } from '../model/als/settings.ts';
import { qualityOf } from '../model/als/train.ts';
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

/** A model that was trained without what is held out, to be judged by that. Not saved. */
export interface JudgedModel {
  readonly gathered: Gathered;
  readonly settings: AlsSettings;
  readonly placed: PlacedModel;
  /** See `qualityOf`. */
  readonly quality: Readonly<Record<string, number>>;
}

/** What a fit begins with. */
export type TrainingStart =
  | { readonly kind: 'judged'; readonly judged: JudgedModel }
  /** Feedback and settings are still those of the model that serves. */
  | { readonly kind: 'unchanged'; readonly model: LoadedModel; readonly positives: number };

/** A model that has learnt from everything and is saved. */
export interface FinishedModel extends LoadedModel {
  readonly gathered: Gathered;
}

/** Epochs in which a judged model learns what had been held out; it starts from where judging left it. */
const FINISHING_EPOCHS = 3;

/**
 * Trains the collaborative model, spread over the pool: first without what is held out, which tells when to stop and
 * how good the model is, then some epochs with everything.
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

  /** Places the model saved last, undefined when there is none that can be read. */
  async load(): Promise<LoadedModel | undefined> {
    const { cachePath } = this.options;
    this.last = await this.pool.run<'load'>({ kind: 'load', cachePath, ...this.servingShape() });
    return this.last;
  }

  /**
   * Trains without what is held out.
   * @param evenUnchanged trains where there is nothing new to learn, too
   * @returns undefined when there is no positive feedback yet, or `stop` was called meanwhile
   * @throws RangeError when it would take more memory than it may, Error when the training diverged
   */
  async judge(
    onProgress: OnProgress = () => {},
    { evenUnchanged = false } = {},
  ): Promise<TrainingStart | undefined> {
    onProgress('loading feedback', 0, 1);
    const gathered = await this.gather();
    onProgress('loading feedback', 1, 1);
    if (gathered === undefined || this.abort.signal.aborted) return undefined;
    const settings = await this.settings();
    const total = settings.epochs;
    if (
      !evenUnchanged &&
      this.last !== undefined &&
      (await this.isUnchanged(this.last, gathered, settings))
    ) {
      onProgress('training', total, total);
      return { kind: 'unchanged', model: this.last, positives: gathered.positives };
    }
    const report = (done: number) => onProgress('training', done, total);
    report(0);
    const run = await this.train(gathered, settings, report);
    if (run === undefined) return undefined;
    report(settings.epochs);
    const quality = qualityOf(run.outcome);
    const placed = await this.publish(run, gathered, settings, quality);
    return { kind: 'judged', judged: { gathered, settings, placed, quality } };
  }

  /**
   * Lets a judged model learn from everything there is now, and saves it as generation `generation`.
   * @returns undefined when `stop` was called meanwhile
   */
  async finish(judged: JudgedModel, generation: number): Promise<FinishedModel | undefined> {
    const { settings, quality, placed: start } = judged;
    const gathered = await this.gather(false);
    if (gathered === undefined || this.abort.signal.aborted) return undefined;
    const { regularization } = start.header;
    const run = await runAls(this.pool, gathered, {
      settings: { ...settings, regularization, epochs: FINISHING_EPOCHS },
      signal: this.abort.signal,
      itemFactors: viewOf(start.memory, start.layout, 'itemFactors', 'f32'),
    });
    if (run === undefined) return undefined;
    const placed = await this.publish(run, judged.gathered, settings, quality, generation);
    this.last = { placed, generation };
    return { placed, generation, gathered };
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

  /**
   * Reads what there is to train on and to judge by; undefined when there is no positive feedback.
   * @param leavesOut whether what is to be judged by is left out of the rest
   */
  gather(leavesOut = true): Promise<Gathered | undefined> {
    const { dataPath, settings, positiveTypes, clock, clockErrorMs, positiveTtlMs } = this.options;
    return this.pool.run<'gather'>({
      kind: 'gather',
      dataPath,
      positiveTypes,
      sinceMs: clock() - positiveTtlMs,
      untilMs: clock() + clockErrorMs,
      seed: alsSettings(settings).seed,
      leavesOut,
    });
  }

  /** @param generation saves the model under this number; not at all when absent */
  private publish(
    { task }: AlsRun,
    { fingerprint }: Gathered,
    settings: AlsSettings,
    quality: Readonly<Record<string, number>>,
    generation?: number,
  ): Promise<PlacedModel> {
    const { cachePath } = this.options;
    return this.pool.run<'publish'>({
      kind: 'publish',
      task,
      fingerprint,
      quality,
      save: generation === undefined ? undefined : { cachePath, generation, settings },
      ...this.servingShape(),
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
    report: (epochs: number) => void,
  ): Promise<AlsRun | undefined> {
    const first = await this.attempt(gathered, settings, report);
    if (first?.outcome.divergence === undefined) return first;
    const regularization = settings.regularization * STRONGER;
    const { divergence } = first.outcome;
    this.options.log.warn({ divergence, settings, regularization }, 'the training diverged; trying again');
    const second = await this.attempt(gathered, { ...settings, regularization }, report);
    if (second?.outcome.divergence === undefined) return second;
    throw new Error(`the training diverged twice: ${second.outcome.divergence}`);
  }

  private async attempt(
    gathered: Gathered,
    settings: AlsSettings,
    report: (epochs: number) => void,
  ): Promise<AlsRun | undefined> {
    const { memoryBytesMax, warmStart, cachePath } = this.options;
    const shape = alsShape(gathered.interactions, settings, this.pool.trainingSlots, gathered.heldOut);
    checkFitMemory(fitMemory(shape, this.servingShape()), memoryBytesMax);
    return runAls(this.pool, gathered, {
      settings,
      signal: this.abort.signal,
      warmStartFrom: warmStart ? cachePath : undefined,
      onEpoch: ({ done }) => report(done),
    });
  }

  private servingShape(): ServingShape {
    return { slots: this.pool.slots, listLengthMax: this.options.listLengthMax };
  }
}
