import type { Logger } from '../domain/log.ts';
import { loadKernels } from '../kernel/load-kernels.ts';
import { MfScorer } from '../model/mf-scorer.ts';
import type { Recommendation } from '../recommend/compose.ts';
import { servingModel } from '../recommend/mf-serving.ts';
import type { ListPass } from './list-pass.ts';
import type { LoadedModel } from './messages.ts';
import type { OnProgress } from './progress.ts';
import type { TrainedModel, Training } from './training.ts';

export interface FitSummary extends TrainedModel {
  readonly lists: number;
}

/** When the model is fitted: on demand, as soon as there is feedback to fit a first one on, and every `periodMs`; one fit at a time. */
export class Fits {
  private readonly training: Training;
  private readonly listPass: ListPass;
  private readonly recommendation: Recommendation;
  private readonly periodMs: number;
  private readonly firstPeriodMs: number;
  private readonly log: Logger;
  private running: Promise<FitSummary | undefined> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(options: {
    readonly training: Training;
    readonly listPass: ListPass;
    readonly recommendation: Recommendation;
    /** Time from the end of a fit to the start of the next, milliseconds. */
    readonly periodMs: number;
    /** The same while there is no model yet. */
    readonly firstPeriodMs: number;
    readonly log: Logger;
  }) {
    this.training = options.training;
    this.listPass = options.listPass;
    this.recommendation = options.recommendation;
    this.periodMs = options.periodMs;
    this.firstPeriodMs = options.firstPeriodMs;
    this.log = options.log;
  }

  get hasModel(): boolean {
    return this.recommendation.models.current !== undefined;
  }

  /** Serves the model that was saved last. One that cannot be read is reported and passed over: the next fit replaces it. */
  async restore(): Promise<void> {
    try {
      const loaded = await this.training.load();
      if (loaded !== undefined) this.serve(loaded);
    } catch (error) {
      this.log.error({ err: error }, 'the saved model cannot be used');
    }
  }

  /** Begins to fit in time. */
  start(): void {
    if (this.stopped) return;
    const delayMs = this.hasModel ? this.periodMs : Math.min(this.periodMs, this.firstPeriodMs);
    this.timer = setTimeout(() => {
      this.run()
        .catch((error: unknown) => {
          if (!this.stopped) this.log.error({ err: error }, 'the fit failed; the last model stays');
        })
        .finally(() => this.start());
    }, delayMs);
    this.timer.unref();
  }

  /** Fits now, or joins the fit that runs. */
  run(onProgress?: OnProgress): Promise<FitSummary | undefined> {
    this.running ??= this.fit(onProgress).finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  /** Fits no more. Resolves once a fit that runs has ended, which a training does within one chunk of its work. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    this.training.stop();
    await this.running?.catch(() => {});
  }

  private async fit(onProgress?: OnProgress): Promise<FitSummary | undefined> {
    const { lists, live, models } = this.recommendation;
    const startedAt = performance.now();
    const generation = (models.current?.generation ?? 0) + 1;
    lists.beginFit();
    let replaced = false;
    try {
      const report: OnProgress = (stage, done, total) => {
        if (stage === 'making lists') lists.refresh();
        onProgress?.(stage, done, total);
      };
      const trained = await this.training.run(generation, report);
      if (trained === undefined) return undefined;
      const { unchanged, positives } = trained;
      if (!unchanged) this.serve(trained);
      const listable = live.catalogue.listableBits();
      const made = await this.listPass.run(trained.placed, trained.generation, listable, report);
      replaced = true;
      const seconds = (performance.now() - startedAt) / 1000;
      const { quality } = trained.placed.header;
      this.log.info(
        { generation: trained.generation, positives, quality, lists: made, seconds },
        unchanged
          ? 'feedback and settings are those of the collaborative model, which stays'
          : 'fitted the collaborative model',
      );
      return { ...trained, lists: made };
    } finally {
      lists.endFit(replaced);
    }
  }

  private serve({ placed, generation }: LoadedModel): void {
    const scorer = new MfScorer(placed, loadKernels(placed.memory), this.training.servingSlot);
    this.recommendation.models.current = servingModel(placed, scorer, generation);
  }
}
