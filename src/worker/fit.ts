import type { Clock } from '../domain/clock.ts';
import { type AlsPhase, driveAls } from '../model/als.ts';
import type { AlsSettings } from '../model/als-settings.ts';
import type { PlacedModel } from '../model/mf-scorer.ts';
import type { LoadedModel, PlacedTask } from './messages.ts';
import type { WorkerPool } from './pool.ts';

/** Users whose lists one job makes: some milliseconds of work, and one short transaction. */
const LIST_BLOCK_USERS = 512;

/** What a fit is doing; every stage ends with done = total. */
export type FitStage = 'loading feedback' | 'training' | 'making lists';
export type OnFitProgress = (stage: FitStage, done: number, total: number) => void;

export interface FitOptions {
  readonly dataPath: string;
  readonly cachePath: string;
  readonly settings: Partial<AlsSettings>;
  readonly positiveTypes: readonly string[];
  /** Positive feedback older than this does not count, milliseconds; Infinity for all. */
  readonly positiveTtlMs: number;
  readonly clockErrorMs: number;
  readonly cacheSize: number;
  /** The longest list that the model will be asked for. */
  readonly listLengthMax: number;
  readonly clock: Clock;
}

export interface FitSummary extends LoadedModel {
  readonly positives: number;
  readonly lists: number;
}

/**
 * Fits the collaborative model and makes every user's list, spread over the pool. The model's memory has one slot of
 * scratch more than there are training slots: the last is the main thread's.
 */
export class Fitter {
  private readonly pool: WorkerPool;
  private readonly options: FitOptions;

  constructor(pool: WorkerPool, options: FitOptions) {
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

  /**
   * Trains generation `generation`; undefined when there is no positive feedback yet. `publish` is called with the
   * model once it is saved and before lists are made from it.
   * @param listable bits of the items that may stand in a list
   */
  async fit(
    generation: number,
    listable: () => Uint32Array<SharedArrayBuffer>,
    publish: (model: LoadedModel) => void,
    onProgress: OnFitProgress = () => {},
  ): Promise<FitSummary | undefined> {
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
    publish({ placed, generation });
    const lists = await this.makeLists(placed, generation, listable(), onProgress);
    return { placed, generation, positives, lists };
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

  private async train({ task }: PlacedTask, onProgress: OnFitProgress): Promise<void> {
    const slots = Array.from({ length: task.slots }, (_, slot) => slot);
    const runPhase = async (phase: AlsPhase) => {
      await Promise.all(slots.map((slot) => this.pool.run<'phase'>({ kind: 'phase', task, phase, slot })));
    };
    onProgress('training', 0, task.settings.epochs);
    for await (const { done, total } of driveAls(task, runPhase)) onProgress('training', done, total);
  }

  private async makeLists(
    placed: PlacedModel,
    generation: number,
    listable: Uint32Array<SharedArrayBuffer>,
    onProgress: OnFitProgress,
  ): Promise<number> {
    const { dataPath, cachePath, positiveTypes, cacheSize, clock, clockErrorMs } = this.options;
    const { userCount } = placed.header;
    let next = 0;
    let done = 0;
    let lists = 0;
    onProgress('making lists', 0, userCount);
    const work = async (slot: number) => {
      for (;;) {
        const fromUserRow = next;
        if (fromUserRow >= userCount) return;
        const toUserRow = (next = Math.min(userCount, fromUserRow + LIST_BLOCK_USERS));
        lists += await this.pool.run<'lists'>({
          kind: 'lists',
          dataPath,
          cachePath,
          placed,
          slot,
          generation,
          fromUserRow,
          toUserRow,
          positiveTypes,
          cacheSize,
          madeMs: clock(),
          untilMs: clock() + clockErrorMs,
          listable,
        });
        done += toUserRow - fromUserRow;
        onProgress('making lists', done, userCount);
      }
    };
    await Promise.all(Array.from({ length: this.pool.trainingSlots }, (_, slot) => work(slot)));
    return lists;
  }
}
