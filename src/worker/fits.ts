import type { Logger } from '../domain/log.ts';
import type { Recommendation } from '../recommend/compose.ts';
import { openGeneration } from './generation.ts';
import type { ListPass } from './list-pass.ts';
import type { LoadedModel, PlacedGeneration } from './messages.ts';
import type { OnProgress } from './progress.ts';
import type { TrainedModel, Training } from './training.ts';
import type { Turn } from './turn.ts';

export interface FitSummary extends TrainedModel {
  readonly lists: number;
}

/** When the model is fitted: on demand, as soon as there is feedback to fit a first one on, and every `periodMs`; one fit at a time. */
export class Fits {
  private readonly training: Training;
  private readonly listPass: ListPass;
  private readonly turn: Turn;
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
    /** Shared with whatever else trains. */
    readonly turn: Turn;
    readonly recommendation: Recommendation;
    /** Time from the end of a fit to the start of the next, milliseconds. */
    readonly periodMs: number;
    /** The same while there is no model yet. */
    readonly firstPeriodMs: number;
    readonly log: Logger;
  }) {
    this.training = options.training;
    this.listPass = options.listPass;
    this.turn = options.turn;
    this.recommendation = options.recommendation;
    this.periodMs = options.periodMs;
    this.firstPeriodMs = options.firstPeriodMs;
    this.log = options.log;
  }

  get hasModel(): boolean {
    return this.recommendation.generations.current !== undefined;
  }

  /** Serves the model that was saved last. One that cannot be read is reported and passed over: the next fit replaces it. */
  async restore(): Promise<void> {
    try {
      const loaded = await this.training.load();
      if (loaded !== undefined) await this.serve(placedGeneration(loaded));
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
    this.running ??= this.turn
      .take(() => this.fit(onProgress))
      .finally(() => {
        this.running = undefined;
      });
    return this.running;
  }

  /** Fits no more. Resolves once a fit that runs has ended, which a training does within one chunk of its work. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    this.training.stop();
    this.listPass.stop();
    await this.running?.catch(() => {});
  }

  private async fit(onProgress?: OnProgress): Promise<FitSummary | undefined> {
    const { lists, generations } = this.recommendation;
    const startedAt = performance.now();
    const number = (generations.current?.number ?? 0) + 1;
    lists.beginPass();
    let replaced = false;
    try {
      const trained = await this.training.run(number, onProgress);
      if (trained === undefined) return undefined;
      const { unchanged, positives } = trained;
      const generation = placedGeneration(trained);
      if (!unchanged) await this.serve(generation);
      const made = await this.makeLists(generation, 0, onProgress);
      replaced = !this.stopped;
      const seconds = (performance.now() - startedAt) / 1000;
      const { quality } = trained.placed.header;
      this.log.info(
        { generation: generation.number, positives, quality, lists: made, seconds },
        unchanged
          ? 'feedback and settings are those of the collaborative model, which stays'
          : 'fitted the collaborative model',
      );
      return { ...trained, lists: made };
    } finally {
      lists.endPass(replaced);
    }
  }

  /** @param fromUserRow where to begin, after a pass that was cut off */
  private makeLists(
    generation: PlacedGeneration,
    fromUserRow: number,
    onProgress?: OnProgress,
  ): Promise<number> {
    const { lists, live, reads } = this.recommendation;
    return this.listPass.run(generation, live, reads.userRowCount, fromUserRow, (stage, done, total) => {
      lists.refresh();
      onProgress?.(stage, done, total);
    });
  }

  private async serve(placed: PlacedGeneration): Promise<void> {
    const { generations, live } = this.recommendation;
    const labelsOf = (itemRow: number) => live.catalogue.labelsAt(itemRow);
    generations.current = openGeneration(placed, this.training.servingSlot, labelsOf);
    await live.knowItems(placed.collaborative?.header.itemCount ?? 0);
  }
}

function placedGeneration({ placed, generation }: LoadedModel): PlacedGeneration {
  return {
    number: generation,
    collaborative: placed,
    clickThrough: undefined,
    itemNeighbors: undefined,
    ranking: undefined,
  };
}
