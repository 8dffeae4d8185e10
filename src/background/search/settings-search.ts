import type { TrainingData } from '../../dataset/training-data.ts';
import type { Clock } from '../../domain/clock.ts';
import { TIMER_MS_MAX } from '../../domain/duration.ts';
import { createRandom } from '../../domain/random.ts';
import { viewOf } from '../../memory/memory-layout.ts';
import { largestFitting } from '../../model/als/memory-estimate.ts';
import { alsShape } from '../../model/als/memory-layout.ts';
import { factorChoices, PUBLISHED, proposeAls } from '../../model/als/search-space.ts';
import type { AlsSettings } from '../../model/als/settings.ts';
import { sizedFactors } from '../../model/als/settings-by-size.ts';
import type { Logger } from '../../platform/log/log.ts';
import type { SerialQueue } from '../pool/serial-queue.ts';
import type { RunningTask, TaskList } from '../tasks/task-list.ts';
import type { AlsTraining } from '../training/als-training.ts';
import type { PartTrainer } from '../training/part-trainer.ts';
import type { TrainingDataLoader } from '../training/training-data-loader.ts';
import { readLastSearch, type SearchState, writeLastSearch } from './last-search.ts';
import { type Measured, type SearchProgress, successiveHalving, type Trial } from './successive-halving.ts';

export interface SettingsSearchOptions {
  /** Time from the end of a search to the next, and the longest that one may take, milliseconds. */
  readonly periodMs: number;
  /** Epochs of the longest trials; they end earlier once they no longer improve. */
  readonly epochs: number;
  readonly trials: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly tasks: TaskList;
  readonly maySearch: () => boolean;
}

/**
 * Looks for better settings of the collaborative model from time to time, on the feedback of that moment. Its trainings
 * take turns with the fits, one at a time; the settings that it finds count from the next fit on, until the configured
 * ones are changed.
 */
export class SettingsSearch {
  private readonly trainer: PartTrainer;
  private readonly loader: TrainingDataLoader;
  private readonly als: AlsTraining;
  private readonly queue: SerialQueue;
  private readonly options: SettingsSearchOptions;
  private readonly abort = new AbortController();
  private running: Promise<SearchState | undefined> | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    parts: {
      readonly trainer: PartTrainer;
      readonly loader: TrainingDataLoader;
      readonly als: AlsTraining;
      /** Shared with the fits. */
      readonly queue: SerialQueue;
    },
    options: SettingsSearchOptions,
  ) {
    this.trainer = parts.trainer;
    this.loader = parts.loader;
    this.als = parts.als;
    this.queue = parts.queue;
    this.options = options;
  }

  /** Begins to search in time. */
  start(): void {
    if (this.abort.signal.aborted) return;
    this.timer = setTimeout(
      () => {
        const done = this.options.maySearch() ? this.run() : Promise.resolve(undefined);
        done
          .catch((error: unknown) => this.options.log.error({ err: error }, 'the search of settings failed'))
          .finally(() => this.start());
      },
      Math.min(this.options.periodMs, TIMER_MS_MAX),
    );
    this.timer.unref();
  }

  /** Searches now, or joins the search that runs. @returns undefined when there is too little to judge by */
  run(): Promise<SearchState | undefined> {
    this.running ??= this.tracked().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  /** Searches no more; a trial under way ends within one chunk of its work. */
  async stop(): Promise<void> {
    clearTimeout(this.timer);
    this.abort.abort();
    await this.running?.catch(() => {});
  }

  private async tracked(): Promise<SearchState | undefined> {
    const task = this.options.tasks.begin('search');
    try {
      const outcome = await this.search(task).finally(() => this.trainer.memory.clear());
      if (this.abort.signal.aborted) task.stopped();
      else if (outcome === undefined) task.done({ nothing: 'there is too little feedback to judge by' });
      else task.done({ trials: outcome.trials.length, adopted: outcome.adopted });
      return outcome;
    } catch (error) {
      if (!this.abort.signal.aborted) {
        task.failed(error);
        throw error;
      }
      task.stopped();
      return undefined;
    }
  }

  private async search(task: RunningTask): Promise<SearchState | undefined> {
    const { clock, periodMs, epochs: epochsMax, trials: count, log } = this.options;
    const { states } = this.als;
    const startedMs = performance.now();
    const timeout = AbortSignal.timeout(Math.min(periodMs, TIMER_MS_MAX));
    const signal = AbortSignal.any([this.abort.signal, timeout]);
    const data = await this.queue.take(() => this.loader.load(true, [], this.abort.signal));
    if (data === undefined || data.heldOut.userRows.length === 0) {
      log.info('there is too little feedback to search settings by');
      return undefined;
    }
    const present = await this.als.settings();
    const number = ((await readLastSearch(states))?.number ?? 0) + 1;
    const candidates = this.propose(data, present, count, number);
    const { trials, winner, isBetter } = await successiveHalving({
      present,
      candidates,
      epochsMax,
      presentEpochs: present.epochs,
      measure: (settings, epochs) =>
        this.queue.take(() => this.measure(data, { ...settings, epochs }, signal)),
      isOver: () => signal.aborted,
      nowMs: () => performance.now(),
      tell: (trial, progress) => {
        task.tell('trying settings', progress.done, progress.total);
        this.tell(trial, progress);
      },
    });
    if (this.abort.signal.aborted) return undefined;
    const adopted = isBetter && winner !== undefined;
    if (adopted) await this.als.adopt({ ...winner.settings, epochs: winner.epochs });
    const { fingerprint } = data;
    const seconds = (performance.now() - startedMs) / 1000;
    const outcome = { number, endedMs: clock(), seconds, fingerprint, present, trials, adopted };
    await writeLastSearch(states, outcome);
    log.info(
      { number, trials: trials.length, best: winner, present: trials[0]?.quality, seconds },
      adopted ? 'found better settings, which the next fit uses' : 'found no better settings',
    );
    return outcome;
  }

  /** Other candidates in every search. */
  private propose(data: TrainingData, present: AlsSettings, count: number, number: number): AlsSettings[] {
    const { interactions, heldOut } = data;
    const shape = alsShape(interactions, present, this.trainer.slots, heldOut);
    const factors = sizedFactors(present, interactions);
    const choices = factorChoices(factors);
    const { serving, memoryBytesMax } = this.trainer.options;
    // The first search begins with what did best elsewhere.
    const known = number > 1 ? [] : PUBLISHED.slice(0, count).map((one) => ({ ...present, factors, ...one }));
    const drawn = proposeAls(
      createRandom(present.seed + number),
      { ...present, factors },
      count - known.length,
      {
        meanCount: interactions.count / Math.max(1, interactions.userCount),
        itemCount: interactions.itemCount,
        factorsMax:
          largestFitting(choices, { ...shape, itemRows: data.itemRowCount }, serving, memoryBytesMax) ??
          factors,
      },
    );
    return [...known, ...drawn];
  }

  private async measure(
    data: TrainingData,
    settings: AlsSettings,
    signal: AbortSignal,
  ): Promise<Measured | undefined> {
    if (signal.aborted) return undefined;
    const run = await this.trainer.train('als', data, { settings }, { signal });
    if (run === undefined) return undefined;
    const { task, outcome } = run;
    const values = viewOf(task.memory, task.layout, 'bestGains', 'f32').slice();
    this.trainer.memory.release(task);
    if (outcome.divergence !== undefined) return undefined;
    return { values, epochs: outcome.epochs, bestEpoch: outcome.bestEpoch };
  }

  private tell(trial: Trial<AlsSettings>, { done, total, etaSeconds }: SearchProgress): void {
    this.options.log.info({ ...trial, done, total, etaSeconds: Math.round(etaSeconds) }, 'tried settings');
  }
}
