import type { PairColumns, TrainingData } from '../../dataset/training-data.ts';
import { createChunkCounter, isCancelled, type SharedTask, setRowsDone } from '../part/chunks-for-threads.ts';
import type { LearnedPart, PartTools } from '../part/learned-part.ts';
import { distinctLabels } from './features.ts';
import { clickModelsBytes, FmScorer, type PlacedFm, placeFm } from './fm-scorer.ts';
import { decodeFm, encodeFm, type FmModel, type FmRows } from './model.ts';
import { CLICK_DEFAULTS } from './settings.ts';
import { type ClickTask, clickTrainingBytes, retrainClickModel, trainClickModel } from './train.ts';
import { clickData, trainedRows } from './trained-users-and-items.ts';

/** Positives, and negatives, that are learned from: an epoch then takes some seconds at the most. */
const EXAMPLES_MAX = 2_000_000;

export interface ClickOptions {
  readonly seed: number;
  /** The encoded model that was trained without what is held out; it tells for how long to train with everything. */
  readonly judged?: Uint8Array | undefined;
}

/** A training that one thread does alone; it reads the labels by itself. */
export interface ClickPartTask extends SharedTask {
  readonly data: TrainingData;
  readonly options: ClickOptions;
  readonly negatives: PairColumns;
  readonly rows: FmRows;
}

/** Click-through prediction: how likely positive feedback is. */
export interface ClickModel {
  /** Log-odds of positive feedback for each item, by what is known of the user and the items. */
  logits(userRow: number, userLabels: readonly string[], itemRows: readonly number[]): Float32Array;
}

/** Prediction of positive feedback by a factorization machine; see `train.ts`. The outcome is the encoded model. */
export const clickPart: LearnedPart<
  ClickOptions,
  ClickPartTask,
  'train',
  Uint8Array,
  FmModel,
  PlacedFm,
  ClickModel,
  'click_through'
> = {
  title: 'click-through model',
  stage: 'Training click-through model',
  saving: { name: 'click-through', encode: encodeFm, decode: decodeFm },
  memory(data, { judged }, _slots, serving, reads) {
    const { userCount, count } = data.interactions;
    const negatives = reads.readPairs(data);
    const rows = trainedRows(data, negatives);
    const [userLabels, itemLabels] = [reads.userLabels(), reads.itemLabels()];
    const counts = {
      positives: count + data.heldOut.userRows.length,
      negatives: negatives.userRows.length,
      users: userCount,
      items: rows.items.length,
      itemRows: data.itemRowCount,
      labels:
        distinctLabels(userCount, (row) => userLabels(rows.users[row]!)) +
        distinctLabels(rows.items.length, (row) => itemLabels(rows.items[row]!)),
    };
    return {
      // A judged model is decoded to go on from.
      training: clickTrainingBytes(counts, { examplesMax: EXAMPLES_MAX }) + (judged?.length ?? 0),
      models: clickModelsBytes(counts, serving.slots),
      ...(counts.positives > EXAMPLES_MAX && {
        leftOut: `learned from ${EXAMPLES_MAX} of ${counts.positives} positives, chosen at random`,
      }),
    };
  },
  prepare(data, options, _slots, { reads }) {
    const negatives = reads.readPairs(data);
    return { data, options, negatives, rows: trainedRows(data, negatives), counter: createChunkCounter() };
  },
  *course() {
    const [bytes] = yield { kind: 'phase', phase: 'train', rows: CLICK_DEFAULTS.epochs, alone: true };
    return bytes as Uint8Array;
  },
  run(task, _phase, _slot, tools) {
    const model = train(task, tools);
    return model === undefined ? false : share(encodeFm(model));
  },
  model: (_task, bytes) => decodeFm(bytes),
  serve: (model, { slots }, { reads, allocate }) => placeFm(model, reads.itemLabels(), slots, allocate),
  open(placed, { instantiate, slot, itemLabelsOf }) {
    const scorer = new FmScorer(placed, instantiate(placed.memory), slot);
    const newItem = (row: number) => scorer.itemSideOf(itemLabelsOf(row));
    return {
      logits: (userRow, userLabels, itemRows) =>
        scorer.logits(scorer.userSide(userRow, userLabels), itemRows, newItem),
    };
  },
  features: {
    click_through: {
      meaning: 'factorization machine over users, items and their labels',
      scores: (model, { userRow, userLabels }, itemRows) => model.logits(userRow, userLabels(), itemRows),
    },
  },
  training: {
    options: ({ seed }, _serving, judged) => ({ seed, judged }),
    isAlwaysWanted: false,
    isOnDemand: false,
  },
};

function train(task: ClickPartTask, { reads, instantiate }: PartTools): FmModel | undefined {
  const { data, negatives, rows } = task;
  const { judged, seed } = task.options;
  const labels = { users: reads.userLabels(), items: reads.itemLabels() };
  const job: ClickTask = {
    ...clickData(data, negatives, rows, labels),
    rows,
    settings: { examplesMax: EXAMPLES_MAX },
    seed,
  };
  const control = {
    shouldStop: () => isCancelled(task),
    onProgress: ({ done }: { readonly done: number }) => setRowsDone(task, done),
  };
  const model =
    judged === undefined
      ? trainClickModel(job, instantiate, control)
      : retrainClickModel(job, decodeFm(judged), instantiate, control);
  return model && { ...model, rows };
}

function share(bytes: Uint8Array): Uint8Array {
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  return shared;
}
