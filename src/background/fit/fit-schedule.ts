import { setTimeout as delay } from 'node:timers/promises';
import { TIMER_MS_MAX } from '../../domain/duration.ts';
import { type FeedbackFacts, whyNothing } from '../../domain/feedback-troubles.ts';
import { OperatorError } from '../../domain/operator-error.ts';
import { loadKernels } from '../../kernel/load-kernels.ts';
import { inTurns } from '../../platform/concurrency/event-loop-turns.ts';
import { unlessAborted } from '../../platform/concurrency/unless-aborted.ts';
import type { Logger } from '../../platform/log/log.ts';
import { openGeneration } from '../../recommend/models/generation-slot.ts';
import type { Recommendation } from '../../recommend/start-recommendation.ts';
import type { Cluster } from '../../store/cluster.ts';
import type { PlacedGeneration } from '../../threads/messages.ts';
import type { ListPass } from '../lists/list-pass.ts';
import type { ListsOnRequest } from '../lists/lists-on-request.ts';
import type { PassStart } from '../lists/own-courses.ts';
import type { SerialQueue } from '../pool/serial-queue.ts';
import { type OnProgress, stageLog } from '../tasks/fit-stages.ts';
import { type RunningTask, rankingResult, type TaskList } from '../tasks/task-list.ts';
import type { RestoredGeneration } from '../training/restore-generation.ts';
import type { Fitted, GenerationFit } from './generation-fit.ts';

export interface FitSummary extends Fitted {
  readonly lists: number;
}

/** Time from the last feedback to the first fit, unless another is asked for: an import has settled by then. */
export const SETTLE_MS = 3000;
/** Time from the restoring of a model to work that makes its lists better and that nobody waits for. */
const CALM_MS = 1000;

export interface FitScheduleParts {
  readonly generationFit: GenerationFit;
  readonly listPass: ListPass;
  readonly listsOnRequest: ListsOnRequest;
  /** The main thread's slot in what is learned. */
  readonly servingSlot: number;
  /** Shared with whatever else trains. */
  readonly queue: SerialQueue;
  readonly recommendation: Recommendation;
  /** Time from the end of a fit to the start of the next, milliseconds. */
  readonly periodMs: number;
  /** The same while there is no model yet. */
  readonly firstPeriodMs: number;
  /** While there is no model, a fit begins once no feedback has come for so long, milliseconds. */
  readonly settleMs: number;
  readonly log: Logger;
  readonly tasks: TaskList;
  readonly facts: () => Promise<FeedbackFacts>;
  /** The nodes that share the data, of which the leader alone fits; undefined for a service of its own. */
  readonly cluster: Cluster | undefined;
  /** True where this node makes the lists of active users. */
  readonly makesLists: () => boolean;
}

/** Fits on demand, as soon as there is feedback for a first model, and every `periodMs`; one fit at a time. */
export class FitSchedule {
  private readonly parts: FitScheduleParts;
  private running: Promise<FitSummary | undefined> | undefined;
  private resuming: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  /** The timer goes off then, milliseconds of `performance.now`. */
  private nextAt: number | undefined;
  private settling: NodeJS.Timeout | undefined;
  /** The generation that serves. */
  private placed: PlacedGeneration | undefined;
  /** Feedback is being counted, and new items are compared with those that what serves knows: lists are made after. */
  private comparing: Promise<void> = Promise.resolve();
  private readonly ending = new AbortController();
  /** Aborted once a caller waits for a fit, and thus for the comparison of items that a start puts off. */
  private readonly awaited = new AbortController();
  private started = false;
  private stopped = false;

  constructor(parts: FitScheduleParts) {
    this.parts = parts;
    parts.recommendation.generations.similarUsers = (...asked) => {
      this.layOutUsers();
      return parts.generationFit.similarUsers(...asked);
    };
  }

  get mayFit(): boolean {
    return this.parts.cluster === undefined || this.parts.cluster.epoch !== undefined;
  }

  get hasModel(): boolean {
    return this.parts.recommendation.generations.hasModel;
  }

  get served(): PlacedGeneration | undefined {
    return this.placed;
  }

  /** Milliseconds until the next fit begins by itself; undefined while one runs. */
  get nextInMs(): number | undefined {
    if (this.nextAt === undefined || this.running !== undefined || !this.mayFit) return undefined;
    return Math.max(0, this.nextAt - performance.now());
  }

  /** Feedback has come. The first fit waits for the end of an import, and for that alone. */
  noteFeedback(): void {
    if (this.hasModel || this.stopped || !this.started || this.running !== undefined || !this.mayFit) return;
    if (this.settling !== undefined) {
      this.settling.refresh();
      return;
    }
    this.settling = setTimeout(() => {
      this.settling = undefined;
      if (!this.hasModel && this.running === undefined) this.runInTime();
    }, this.parts.settleMs);
    this.settling.unref();
  }

  /**
   * Serves the model that was saved last. One that cannot be read is reported and passed over: the next fit replaces it.
   * @param reading undefined where there is none
   */
  async restore(reading: Promise<RestoredGeneration | undefined>): Promise<void> {
    try {
      const loaded = await this.parts.generationFit.restore(reading);
      // What is asked for first is not kept waiting for the comparison of items.
      const signal = AbortSignal.any([this.ending.signal, this.awaited.signal]);
      const calm = delay(CALM_MS, undefined, { ref: false, signal }).catch(() => {});
      if (loaded !== undefined) this.serve(loaded, false, calm);
    } catch (error) {
      if (!this.stopped) this.parts.log.error({ err: error }, 'the saved model cannot be used');
    }
  }

  /** Begins to fit in time, and goes on with the lists that a stop cut off. */
  start(): void {
    if (this.stopped) return;
    if (this.placed !== undefined) this.joinPass();
    this.started = true;
    if (this.parts.cluster?.epoch === undefined) this.schedule();
    else this.lead();
    if (!this.hasModel) void this.noteStored();
  }

  /** Feedback that was stored before the start is what a first fit waits for, as one that comes. */
  private async noteStored(): Promise<void> {
    await this.parts.recommendation.live.settled;
    if ((await this.parts.facts()).positives > 0) this.noteFeedback();
  }

  /** Fits now, or joins the fit that runs. @throws OperatorError where another node is the one that fits */
  async run(onProgress?: OnProgress): Promise<FitSummary | undefined> {
    if (!this.mayFit) throw new OperatorError('Another node leads, and it alone learns.');
    this.awaited.abort();
    this.running ??= this.begin(onProgress);
    return this.running;
  }

  /** The fit stands among the tasks at once, also where it waits for another to end. */
  private begin(onProgress?: OnProgress): Promise<FitSummary | undefined> {
    const task = this.parts.tasks.begin('fit');
    return this.parts.queue
      .take(() => this.fit(task, onProgress))
      .finally(() => {
        this.running = undefined;
        this.schedule();
      });
  }

  /** Makes lists that are missing, of a pass that was cut off here or has begun elsewhere, once what is at work has ended. */
  joinPass(): void {
    if (this.stopped) return;
    const { queue, log } = this.parts;
    this.resuming = queue
      .take(async () => this.placed && this.resume(this.placed))
      .catch((error: unknown) => {
        if (!this.stopped) log.error({ err: error }, 'the lists that were missing could not be made');
      });
  }

  /** This node leads from now on: a fit begins when it would have, had the last leader gone on. */
  lead(): void {
    const { publishedAgeMs } = this.parts.cluster!;
    // The last leader may have been lost before it began the pass.
    if (this.started) this.joinPass();
    if (publishedAgeMs === undefined) this.schedule();
    else this.schedule(Math.max(SETTLE_MS, this.parts.periodMs - publishedAgeMs));
  }

  /** Another node leads: what is being learned is dropped. */
  yieldLead(): void {
    this.parts.generationFit.cancel();
  }

  /**
   * Serves the generation that the leader has published in the place of an older one.
   * @returns false when it cannot be read
   */
  takeOver(number: number): Promise<boolean> {
    return this.parts.queue.take(async () => {
      if (this.stopped || this.placed?.number === number) return true;
      const loaded = await this.parts.generationFit.restore();
      if (loaded === undefined || loaded.number === this.placed?.number) return false;
      this.serve(loaded, false);
      this.parts.log.info(
        { generation: loaded.number },
        'took over the generation that the leader has published',
      );
      await this.resume(loaded);
      return true;
    });
  }

  /** The next fit comes a period after the last has ended. */
  private schedule(afterMs?: number): void {
    clearTimeout(this.timer);
    if (this.stopped || !this.started) return;
    const wantedMs =
      afterMs ??
      (this.hasModel ? this.parts.periodMs : Math.min(this.parts.periodMs, this.parts.firstPeriodMs));
    const delayMs = Math.min(wantedMs, TIMER_MS_MAX);
    this.timer = setTimeout(() => this.runInTime(), delayMs);
    this.timer.unref();
    this.nextAt = performance.now() + delayMs;
  }

  private runInTime(): void {
    if (!this.mayFit) return;
    this.run().catch((error: unknown) => {
      if (!this.stopped) this.parts.log.error({ err: error }, 'the fit failed; the last model stays');
    });
  }

  /** Fits no more. Resolves once a fit that runs has ended, which a training does within one chunk of its work. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.ending.abort();
    clearTimeout(this.timer);
    clearTimeout(this.settling);
    this.parts.generationFit.stop();
    this.parts.listPass.stop();
    await this.running?.catch(() => {});
    await this.resuming;
  }

  private async fit(task: RunningTask, onProgress?: OnProgress): Promise<FitSummary | undefined> {
    const { generations } = this.parts.recommendation;
    const startedAt = performance.now();
    const number = Math.max(generations.current.number, this.parts.cluster?.published ?? 0) + 1;
    try {
      const fitted = await this.parts.generationFit.run(number, this.reporter(task, onProgress));
      if (fitted === undefined) {
        await this.endWithNothing(task);
        return undefined;
      }
      const { positives, unchanged } = fitted;
      if (!unchanged) {
        // A backlog that was sent in any order counts by its times from here on.
        await inTurns(this.parts.recommendation.live.popularity.recent.order());
        this.serve(fitted.generation, true);
        // Nodes that begin with this generation begin with its counts.
        if (this.parts.cluster !== undefined) void this.parts.recommendation.live.saveCounts();
      }
      await unlessAborted(this.comparing, this.ending.signal);
      const generation = (unchanged && (await this.indexUsers())) || fitted.generation;
      const from = unchanged
        ? await this.missingFrom(generation)
        : this.parts.makesLists()
          ? 'all'
          : undefined;
      const made = from === undefined ? 0 : await this.makeLists(generation, from, task, onProgress);
      const seconds = (performance.now() - startedAt) / 1000;
      this.parts.log.info(
        {
          generation: generation.number,
          positives,
          quality: generation.parts.als?.header.quality,
          lists: made,
          seconds,
        },
        unchanged ? 'feedback and settings are as they were; the models stay' : 'fitted the models',
      );
      task.done({
        generation: generation.number,
        positives,
        lists: made,
        unchanged,
        ...generation.parts.als?.header.quality,
        ...rankingResult(generation.choice),
      });
      return { ...fitted, generation, lists: made };
    } catch (error) {
      if (this.parts.generationFit.isCancelled) task.stopped();
      else task.failed(error);
      throw error;
    }
  }

  private async endWithNothing(task: RunningTask): Promise<void> {
    if (this.parts.generationFit.isCancelled) {
      task.stopped();
      if (!this.stopped)
        this.parts.log.warn('another node leads by now; what this one was learning is dropped');
      return;
    }
    await unlessAborted(this.parts.recommendation.live.settled, this.ending.signal);
    const why = whyNothing(await this.parts.facts());
    task.done({ nothing: why });
    this.parts.log.warn(`nothing to learn from yet: ${why}`);
  }

  /** Makes the lists that a pass was to make which was cut off, or which new settings ask for. */
  private async resume(restored: PlacedGeneration): Promise<void> {
    await unlessAborted(this.comparing, this.ending.signal);
    // It takes all feedback, for which requests do not wait.
    const generation = (await this.indexUsers()) ?? restored;
    const from = await this.missingFrom(generation);
    if (from === undefined || this.stopped) return;
    const task = this.parts.tasks.begin('lists');
    try {
      const made = await this.makeLists(generation, from, task);
      if (this.stopped) task.stopped();
      else {
        const lists = { generation: generation.number, lists: made };
        task.done(lists);
        this.parts.log.info(lists, 'made the lists that were missing');
      }
    } catch (error) {
      task.failed(error);
      throw error;
    }
  }

  /** Lays out the users of what serves, where they are asked for and that has not been done; all feedback is read for it. */
  private async indexUsers(): Promise<PlacedGeneration | undefined> {
    const indexed = this.stopped ? undefined : await this.parts.generationFit.indexServing();
    if (indexed !== undefined && !this.stopped) this.place(indexed);
    return indexed;
  }

  /** Asked for though no recommender looks at them, users are laid out from now on: after what trains already. */
  private layOutUsers(): void {
    const { generationFit, queue, log } = this.parts;
    if (!generationFit.askUsers()) return;
    queue
      .take(() => this.indexUsers())
      .catch((error: unknown) => {
        if (!this.stopped) log.error({ err: error }, 'the users could not be laid out');
      });
  }

  private async missingFrom({ number }: PlacedGeneration): Promise<PassStart | 'all' | undefined> {
    if (!this.parts.makesLists()) return undefined;
    return this.parts.listPass.missingFrom(number, this.parts.recommendation.lists.queue);
  }

  /** Makes the lists of the active users. @param from where to begin, after a pass that was cut off */
  private async makeLists(
    generation: PlacedGeneration,
    from: PassStart | 'all',
    task: RunningTask,
    onProgress?: OnProgress,
  ): Promise<number> {
    const { lists, live, reads, active } = this.parts.recommendation;
    const report = this.reporter(task, onProgress);
    const order = active.order(reads.userRowCount);
    const made = await this.parts.listPass.run(generation, live, order, from, lists.queue, report);
    await lists.saveSeen();
    return made;
  }

  private reporter(task: RunningTask, onProgress: OnProgress | undefined): OnProgress {
    const log = stageLog(this.parts.log);
    return (stage, done, total, detail) => {
      log(task.tell(stage, done, total), detail);
      onProgress?.(stage, done, total, detail);
    };
  }

  /** @param isOwn true for one that this process has learned @param calm what new items are compared after */
  private serve(placed: PlacedGeneration, isOwn: boolean, calm?: Promise<unknown>): void {
    const { live, sinceFit } = this.parts.recommendation;
    this.place(placed);
    sinceFit.serve(isOwn);
    this.comparing = live.knowItems(placed.parts.als?.header.itemCount ?? 0, calm);
  }

  /** Serves a generation without comparing new items again: it may be the one that serves, with more to it. */
  private place(placed: PlacedGeneration): void {
    const { generations, live, settings } = this.parts.recommendation;
    const itemLabelsOf = (itemRow: number) => live.catalogue.labelsAt(itemRow);
    const opening = { instantiate: loadKernels, slot: this.parts.servingSlot, itemLabelsOf };
    const { number, ranking } = generations.current;
    const opened = openGeneration(placed, opening, settings.discovery);
    // The ranking that serves has moved with each like since.
    generations.current = number === placed.number ? { ...opened, ranking } : opened;
    generations.onServed(opened.parts);
    this.placed = placed;
    this.parts.cluster?.noteServed(placed.number);
    this.parts.listsOnRequest.use(placed);
  }
}
