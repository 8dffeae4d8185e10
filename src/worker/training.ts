import type { Clock } from '../domain/clock.ts';
import { type AlsPhase, driveAls } from '../model/als.ts';
import type { AlsSettings } from '../model/als-settings.ts';
import type { LoadedModel, PlacedTask } from './messages.ts';
import type { WorkerPool } from './pool.ts';
import type { OnProgress } from './progress.ts';

export interface TrainingOptions {
  readonly dataPath: string;
  readonly cachePath: string;
  readonly settings: Partial<AlsSettings>;
  readonly positiveTypes: readonly string[];
  /** Positive feedback older than this does not count, milliseconds; Infinity for all. */
  readonly positiveTtlMs: number;
  readonly clockErrorMs: number;
  /** The longest list that the model will be asked for. */
  readonly listLengthMax: number;
  readonly clock: Clock;
}

export interface TrainedModel extends LoadedModel {
  readonly positives: number;
}

/**
 * Trains the collaborative model, spread over the pool. The model's memory has one slot of scratch more than there are
 * training slots: the last is the main thread's.
 */
export class Training {
  private readonly pool: WorkerPool;
  private readonly options: TrainingOptions;

  constructor(pool: WorkerPool, options: TrainingOptions) {
    this.pool = pool;
    this.options = options;
  }

  /** The slot of a placed model that serving uses. */
  get servingSlot(): number {
    return this.pool.trainingSlots;
  }

  /** Places the model saved last, undefined when there is none that can be read. */
  load(): Promise<LoadedModel | undefined> {
    const { cachePath, listLengthMax } = this.options;
    return this.pool.run<'load'>({ kind: 'load', cachePath, slots: this.servingSlot + 1, listLengthMax });
  }

  /** Trains and saves generation `generation`; undefined when there is no positive feedback yet. */
  async run(generation: number, onProgress: OnProgress = () => {}): Promise<TrainedModel | undefined> {
    onProgress('loading feedback', 0, 1);
    const placedTask = await this.place();
    onProgress('loading feedback', 1, 1);
    if (placedTask === undefined) return undefined;
    await this.train(placedTask, onProgress);
    const { cachePath, listLengthMax } = this.options;
    const { task, fingerprint, positives } = placedTask;
    const slots = this.servingSlot + 1;
    const placed = await this.pool.run<'publish'>({
      kind: 'publish',
      task,
      fingerprint,
      cachePath,
      generation,
      slots,
      listLengthMax,
    });
    return { placed, generation, positives };
  }

  private place(): Promise<PlacedTask | undefined> {
    const { dataPath, settings, positiveTypes, clock, clockErrorMs, positiveTtlMs } = this.options;
    return this.pool.run<'place'>({
      kind: 'place',
      dataPath,
      settings,
      positiveTypes,
      sinceMs: clock() - positiveTtlMs,
      untilMs: clock() + clockErrorMs,
      slots: this.pool.trainingSlots,
    });
  }

  private async train({ task }: PlacedTask, onProgress: OnProgress): Promise<void> {
    const slots = Array.from({ length: task.slots }, (_, slot) => slot);
    const runPhase = async (phase: AlsPhase) => {
      await Promise.all(slots.map((slot) => this.pool.run<'phase'>({ kind: 'phase', task, phase, slot })));
    };
    onProgress('training', 0, task.settings.epochs);
    for await (const { done, total } of driveAls(task, runPhase)) onProgress('training', done, total);
  }
}
