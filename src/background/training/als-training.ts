import type { TrainingData } from '../../dataset/training-data.ts';
import type { AlsOutcome } from '../../model/als/epochs-and-early-stopping.ts';
import type { PlacedModel } from '../../model/als/mf-scorer.ts';
import { type AlsSettings, alsSettings } from '../../model/als/settings.ts';
import type { Logger } from '../../platform/log/log.ts';
import type { SavedStates } from '../../store/cache-store.ts';
import { adoptSettings, settingsInUse } from '../generation/adopted-settings.ts';
import type { PartRun, PartTrainer, TrainControl } from './part-trainer.ts';

/** The penalty is so many times stronger where a training that diverged is tried again. */
const STRONGER = 10;
/** Epochs in which a judged model learns what had been held out; it starts from where judging left it. */
const FINISHING_EPOCHS = 3;

export interface AlsTrainingOptions {
  /** As configured. */
  readonly settings: Partial<AlsSettings>;
  /** Start from the items of the last generation. The model then depends on those before it. */
  readonly warmStart: boolean;
  readonly states: SavedStates;
  readonly log: Logger;
}

/** A model that was trained without what is held out, to be judged by that. Not saved. */
export interface JudgedAls {
  readonly settings: AlsSettings;
  readonly placed: PlacedModel;
  readonly outcome: AlsOutcome;
}

/**
 * Trains the collaborative model: first without what is held out, which tells when to stop and how good the model is,
 * then some epochs with everything.
 */
export class AlsTraining {
  private readonly trainer: PartTrainer;
  private readonly options: AlsTrainingOptions;

  constructor(trainer: PartTrainer, options: AlsTrainingOptions) {
    this.trainer = trainer;
    this.options = options;
  }

  /** The settings of the next fit: those that a search has found, or the configured ones. */
  settings(): Promise<AlsSettings> {
    return settingsInUse(this.options.states, this.options.settings);
  }

  /** Uses settings from the next fit on, until the configured ones are changed. */
  adopt(settings: AlsSettings): Promise<void> {
    return adoptSettings(this.options.states, this.options.settings, settings);
  }

  /** Of the rule that holds feedback out, too. */
  get seed(): number {
    return alsSettings(this.options.settings).seed;
  }

  get states(): SavedStates {
    return this.options.states;
  }

  /**
   * Trains without what is held out.
   * @param last the model that serves
   * @returns undefined when the signal cancelled it
   * @throws RangeError when it would take more memory than it may, Error when the training diverged
   */
  async judge(
    data: TrainingData,
    settings: AlsSettings,
    last: PlacedModel | undefined,
    control: TrainControl,
  ): Promise<JudgedAls | undefined> {
    const { tell = () => {} } = control;
    tell(0, settings.epochs);
    const run = await this.converge(data, settings, last, control);
    if (run === undefined) return undefined;
    tell(settings.epochs, settings.epochs);
    const placed = await this.trainer.finish('als', run, data.fingerprint);
    return { settings, placed, outcome: run.outcome };
  }

  /**
   * Lets a judged model learn from everything there is.
   * @param fingerprint of the data that it was judged on, by which a fit tells whether there is anything new
   * @param saveAs see `PartTrainer.finish`
   * @returns undefined when the signal cancelled it
   */
  async finish(
    { settings, placed, outcome }: JudgedAls,
    data: TrainingData,
    fingerprint: number,
    saveAs: string,
    control: TrainControl,
  ): Promise<PlacedModel | undefined> {
    // As it was judged, though what was held out makes the data larger.
    const { regularization, factors } = placed.header;
    const run = await this.trainer.train(
      'als',
      data,
      { settings: { ...settings, regularization, factors, epochs: FINISHING_EPOCHS }, startFrom: placed },
      control,
    );
    return run && this.trainer.finish('als', { task: run.task, outcome }, fingerprint, saveAs);
  }

  /** A training that diverges is tried once more with a stronger penalty. */
  private async converge(
    data: TrainingData,
    settings: AlsSettings,
    last: PlacedModel | undefined,
    control: TrainControl,
  ): Promise<PartRun<'als'> | undefined> {
    const startFrom = this.options.warmStart ? last : undefined;
    const first = await this.trainer.train('als', data, { settings, startFrom }, control);
    const divergence = first?.outcome.divergence;
    if (first === undefined || divergence === undefined) return first;
    this.trainer.memory.release(first.task);
    const regularization = settings.regularization * STRONGER;
    this.options.log.warn({ divergence, settings, regularization }, 'the training diverged; trying again');
    const stronger = { ...settings, regularization };
    const second = await this.trainer.train('als', data, { settings: stronger, startFrom }, control);
    if (second?.outcome.divergence === undefined) return second;
    throw new Error(`the training diverged twice: ${second.outcome.divergence}`);
  }
}
