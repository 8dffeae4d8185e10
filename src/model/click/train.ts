/**
 * Trains a factorization machine to tell positive feedback from the rest: from positives, from negatives (items that
 * were read without a positive), and from items drawn at random where there are few negatives.
 *
 * Memory: 9 bytes (17 while they are chosen) for each of at most `examplesMax` positives and as many negatives; 4 for
 * every pair there is; 4 for every user, label of a user and label of an item; and 12 * (1 + factors) for every feature
 * (parameters, their state in AdaGrad, the best ones so far). Drawn negatives and rows of features take the same
 * room however many there are.
 */
import type { PairColumns } from '../../dataset/training-data.ts';
import { type InstantiateKernels, paddedFactors } from '../../kernel/scratch-sizes.ts';
import { ClickTraining } from './click-training.ts';
import { during, type FmProgress, runEpochs } from './epochs-and-early-stopping.ts';
import { type ClickData, chooseExamples } from './examples.ts';
import type { FmModel, FmRows } from './model.ts';
import { joinExamples } from './pairs-and-negatives.ts';
import { CLICK_DEFAULTS, type ClickSettings, checkClickSettings } from './settings.ts';

/** Epochs at most when nothing is held out that would tell when to stop. */
const BLIND_EPOCHS_MAX = 10;

/** Chunks of rows and judged records, at most. */
const FIXED_BYTES = 16_000_000;

/** Epochs, as a share of its own, by which a judged model goes on with everything. */
const EPOCHS_AGAIN = 1 / 3;
/** A model of so few epochs is learned again from the beginning. */
const EPOCHS_FEW = 4;

/** The job: data, settings that differ from `CLICK_DEFAULTS`, and the seed. */
export interface ClickTask extends ClickData {
  /** Which rows of the store its rows are, so that a judged model can be gone on from; the store's own when absent. */
  readonly rows?: FmRows;
  readonly settings?: Partial<ClickSettings>;
  readonly seed: number;
}

/**
 * An upper bound of what a training takes beside its columns, for a budget worked out before it starts; labels beyond one
 * a user and item come on top with 4 bytes each.
 * @param counts of pairs, users, items and distinct labels of both sides
 */
export function clickTrainingBytes(
  counts: {
    readonly positives: number;
    readonly negatives: number;
    readonly users: number;
    readonly items: number;
    readonly labels: number;
  },
  given: Partial<ClickSettings> = {},
): number {
  const { factors, examplesMax } = { ...CLICK_DEFAULTS, ...given };
  const { positives, negatives, users, items, labels } = counts;
  const features = users + items + labels;
  const examples = Math.min(positives, examplesMax) + Math.min(negatives, examplesMax);
  const ofPairs = 17 * examples + 4 * (positives + negatives);
  const ofSides = 13 * users + 33 * items + 4 * (users + items);
  return ofPairs + ofSides + 12 * features * (1 + paddedFactors(factors)) + FIXED_BYTES;
}

/** Means to follow and end a training. */
export interface TrainingControl {
  /** Asked at least every 100 ms; true ends the training without a model. */
  readonly shouldStop?: () => boolean;
  readonly onProgress?: (progress: FmProgress) => void;
}

/**
 * Trains in this thread to the end.
 * @returns undefined when there are no positives, or when it was stopped
 * @throws FurzeError as `fitClickModel`
 */
export function trainClickModel(
  task: ClickTask,
  instantiate: InstantiateKernels,
  control: TrainingControl = {},
): FmModel | undefined {
  if (task.positives.userRows.length === 0) return undefined;
  return drive(fitClickModel(task, instantiate), control);
}

/**
 * Trains on everything, the held-out positives too, so that the model that serves knows the latest feedback: goes on from
 * the judged model by a third as many epochs, from the full learning rate down to nothing. Where few epochs were best, more
 * of them would be too many, and they begin anew. Calibration, quality and the number of epochs are the judged model's.
 * @param task the one that `judged` came from, with the same settings; of what was left out then `heldOut` may hold more
 * @returns undefined when it was stopped
 * @throws FurzeError as `fitClickModel`
 */
export function retrainClickModel(
  task: ClickTask,
  judged: FmModel,
  instantiate: InstantiateKernels,
  control: TrainingControl = {},
): FmModel | undefined {
  const { epochs, calibration, positiveRate, quality } = judged;
  const again = epochs > EPOCHS_FEW ? Math.ceil(epochs * EPOCHS_AGAIN) : epochs;
  const { positives, heldOut } = task;
  const all: ClickData = { ...task, positives: joinPairs(positives, heldOut), heldOut: joinPairs() };
  const settings = { ...CLICK_DEFAULTS, ...task.settings, seed: task.seed };
  const from = again < epochs ? judged : undefined;
  const run = runTraining(all, settings, instantiate, { from, done: epochs - again, end: epochs });
  const model = drive(run, control);
  return model && { ...model, epochs, calibration, positiveRate, quality };
}

function joinPairs(...columns: readonly PairColumns[]): PairColumns {
  const { userRows, itemRows } = joinExamples(columns, []);
  return { userRows, itemRows };
}

function drive(
  run: Generator<FmProgress, FmModel>,
  { shouldStop = () => false, onProgress = () => {} }: TrainingControl,
): FmModel | undefined {
  let reported = -1;
  for (;;) {
    if (shouldStop()) return undefined;
    const step = run.next();
    if (step.done === true) return step.value;
    if (step.value.done > reported) onProgress(step.value);
    reported = step.value.done;
  }
}

/**
 * Trains in this thread; yields at least every 100 ms or so of work, each time with the progress of the last epoch.
 * @param task with at least one positive
 * @throws FurzeError BAD_REQUEST for a setting or a row out of range, INTERNAL when the training diverges
 */
function* fitClickModel(task: ClickTask, instantiate: InstantiateKernels): Generator<FmProgress, FmModel> {
  const settings: ClickSettings = { ...CLICK_DEFAULTS, ...task.settings, seed: task.seed };
  const epochsMost = task.heldOut.userRows.length > 0 ? settings.epochs : BLIND_EPOCHS_MAX;
  return yield* runTraining(
    task,
    { ...settings, epochs: Math.min(settings.epochs, epochsMost) },
    instantiate,
  );
}

/** Which of the epochs of the settings are run: those from `done` to before `end`. */
interface Span {
  /** The model to go on from, at the full learning rate; undefined to begin. */
  readonly from: FmModel | undefined;
  readonly done: number;
  readonly end: number;
}

function* runTraining(
  { rows, ...data }: ClickData & { readonly rows?: FmRows },
  settings: ClickSettings,
  instantiate: InstantiateKernels,
  { from, done, end }: Span = { from: undefined, done: 0, end: settings.epochs },
): Generator<FmProgress, FmModel> {
  checkClickSettings(settings);
  const start: FmProgress = { done, total: end, loss: Number.NaN, heldOutLoss: Number.NaN };
  const examples = yield* during(chooseExamples(data, settings), start);
  const training = new ClickTraining(examples, settings, instantiate);
  yield* during(from === undefined ? training.initialize() : training.resume(from, rows), start);
  const best = yield* runEpochs(
    training.machine,
    (_epoch, learningRate) => training.epoch(learningRate),
    training.judgedCount > 0 ? () => training.judge() : null,
    { done, end, zeroAt: from === undefined ? settings.epochs : end },
  );
  return yield* during(training.finish(best), { ...start, done: end });
}
