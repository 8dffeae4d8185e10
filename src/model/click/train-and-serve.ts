import type { LabelsOf, PairColumns, TrainingData } from '../../dataset/training-data.ts';
import { placeOf } from '../../memory/binary-search.ts';
import { sharedU32 } from '../../memory/shared-arrays.ts';
import { createChunkCounter, isCancelled, type SharedTask, setRowsDone } from '../part/chunks-for-threads.ts';
import type { LearnedPart, PartTools } from '../part/learned-part.ts';
import type { ClickData } from './examples.ts';
import { distinctLabels } from './features.ts';
import { clickModelsBytes, FmScorer, type PlacedFm, placeFm } from './fm-scorer.ts';
import { decodeFm, encodeFm, type FmModel, type FmRows } from './model.ts';
import { CLICK_DEFAULTS } from './settings.ts';
import { type ClickTask, clickTrainingBytes, retrainClickModel, trainClickModel } from './train.ts';

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
      meaning: 'how well the user, the item and their labels go together (factorization machine)',
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

/**
 * The rows that a click-through model has: the users with positive feedback, and the items with any.
 * @param negatives see `TrainingReads.readPairs`
 */
function trainedRows({ rows, itemRowCount }: TrainingData, negatives: PairColumns): FmRows {
  const isKnown = new Uint8Array(itemRowCount);
  for (const row of rows.items) isKnown[row] = 1;
  for (let at = 0; at < negatives.itemRows.length; at++) isKnown[negatives.itemRows[at]!] = 1;
  const count = isKnown.reduce((sum, known) => sum + known, 0);
  const items = sharedU32(count);
  for (let row = 0, next = 0; row < itemRowCount; row++) if (isKnown[row] === 1) items[next++] = row;
  return { users: rows.users, items, itemRowCount };
}

/** Examples by the rows of the model. */
function clickData(
  { interactions, heldOut, rows }: TrainingData,
  negatives: PairColumns,
  trained: FmRows,
  labels: { readonly users: LabelsOf; readonly items: LabelsOf },
): ClickData {
  const { byUser, userCount } = interactions;
  // Most often the items with positive feedback are all.
  const places = rows.items.length === trained.items.length ? undefined : rows.items.map(ofStore);
  const ofMatrix = (items: Uint32Array) => (places === undefined ? items : items.map((row) => places[row]!));
  const userRows = new Uint32Array(byUser.indices.length);
  for (let row = 0; row < byUser.rowCount; row++)
    userRows.fill(row, byUser.indptr[row], byUser.indptr[row + 1]);
  return {
    positives: { userRows, itemRows: ofMatrix(byUser.indices) },
    negatives: { userRows: negatives.userRows, itemRows: Uint32Array.from(negatives.itemRows, ofStore) },
    heldOut: { userRows: heldOut.userRows, itemRows: ofMatrix(heldOut.itemRows) },
    userCount,
    itemCount: trained.items.length,
    userLabelsOf: (row) => (row < userCount ? labels.users(trained.users[row]!) : []),
    itemLabelsOf: (row) => labels.items(trained.items[row]!),
  };

  function ofStore(row: number): number {
    return placeOf(trained.items, row);
  }
}
