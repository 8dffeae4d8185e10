import { paddedFactors } from '../../kernel/scratch-sizes.ts';
import { viewOf } from '../../memory/memory-layout.ts';
import { sharedU32 } from '../../memory/shared-arrays.ts';
import { collaborativeModel } from '../als/collaborative-model.ts';
import { MfScorer, type PlacedModel, placedModelBytes, placeModel } from '../als/mf-scorer.ts';
import { SUMMED_ROWS_MAX } from '../neighbors/row-sums.ts';
import { createChunkCounter, type SharedTask } from '../part/chunks-for-threads.ts';
import {
  decodeGiven,
  encodeGiven,
  type Fold,
  type GivenModel,
  type GivenSide,
  givenBytes,
  idsOf,
} from '../part/given-model.ts';
import type { LearnedPart } from '../part/learned-part.ts';
import { GivenSums } from './given-sums.ts';

/** A like of so many later ones counts half where likes are averaged. */
const HALF_LIKES = 10;
const WEIGHTS = Float64Array.from({ length: SUMMED_ROWS_MAX }, (_, at) => 2 ** (-at / HALF_LIKES));

export interface GivenOptions {
  readonly model: GivenModel;
}

interface GivenTask extends SharedTask, GivenOptions {}

export interface PlacedGiven {
  readonly model: PlacedModel;
  readonly fold: Fold;
  /** One more than the place of a user's vector, by row of the store; 0 for none. */
  readonly users: Uint32Array;
}

/** Rows that the vectors of a side go to. */
interface SideRows {
  readonly factors: Float32Array;
  /** Places in it by row of the store. */
  readonly rows: readonly (readonly [row: number, from: number])[];
  /** One more than the highest row. */
  readonly rowCount: number;
}

/**
 * A model that another tool has trained: factors of items, and of users where they were given. Nothing is learned; what is
 * held out judges it as it judges the others.
 */
export const givenPart: LearnedPart<
  GivenOptions,
  GivenTask,
  never,
  'taken',
  GivenModel,
  PlacedGiven,
  { readonly sums: readonly GivenSums[] },
  'given'
> = {
  title: 'given model',
  stage: 'Taking the given model',
  saving: { name: 'given-model', encode: encodeGiven, decode: decodeGiven },
  memory({ itemRowCount: itemCount, userRowCount }, { model }, _slots, serving) {
    const { dimensions: factors, users } = model;
    const userVectors = users.factors.length / factors;
    const shape = { factors, itemCount, userVectors };
    const piece = placedModelBytes(shape, serving.slots, serving.listLengthMax);
    // The file, its bytes to be saved, and the factors by row before they are placed.
    const training = 2 * givenBytes(model);
    const byRow = 4 * paddedFactors(factors) * (itemCount + userVectors);
    return { piece, training, models: 2 * (piece + 4 * userRowCount) + byRow };
  },
  prepare: (_data, { model }) => ({ model, counter: createChunkCounter() }),
  // biome-ignore lint/correctness/useYield: there is nothing to learn
  *course() {
    return 'taken';
  },
  run: () => undefined,
  model: ({ model }, _outcome, fingerprint) => ({ ...model, fingerprint }),
  serve(model, { slots, listLengthMax }, { reads, instantiate, allocate }) {
    const f = paddedFactors(model.dimensions);
    const items = sideRows(model.items, model.dimensions, (id) => reads.itemRow(id));
    const users = sideRows(model.users, model.dimensions, (id) => reads.userRow(id));
    const places = sharedU32(users.rowCount);
    users.rows.forEach(([row], place) => {
      places[row] = place + 1;
    });
    const userFactors = new Float32Array(users.rows.length * f);
    users.rows.forEach(([, from], place) => {
      userFactors.set(users.factors.subarray(from, from + model.dimensions), place * f);
    });
    const itemFactors = new Float32Array(items.rowCount * f);
    for (const [row, from] of items.rows)
      itemFactors.set(items.factors.subarray(from, from + model.dimensions), row * f);
    const { regularization, unobservedWeight, fingerprint } = model;
    const placed = placeModel(
      {
        ...{ regularization, unobservedWeight, fingerprint, userFactors, itemFactors },
        factors: model.dimensions,
        userCount: users.rows.length,
        itemCount: items.rowCount,
        regularizationExponent: 0,
        seed: 0,
        quality: {},
      },
      instantiate,
      slots,
      listLengthMax,
      allocate,
    );
    return { model: placed, fold: model.fold, users: places };
  },
  open({ model: placed, fold, users: places }, { instantiate, slot }) {
    const scorer = new MfScorer(placed, instantiate(placed.memory), slot);
    const factors = viewOf(placed.memory, placed.layout, 'itemFactors', 'f32');
    const model = collaborativeModel(placed, scorer);
    return { sums: [new GivenSums(model, scorer, { places, fold }, factors)] };
  },
  features: {
    given: {
      meaning: 'the model of another tool that was put in place',
      sum: 0,
      weights: WEIGHTS,
      isShare: false,
    },
  },
  training: {
    options: ({ given }) => given && { model: given },
    isAlwaysWanted: false,
    isOnDemand: false,
  },
};

/** The rows of the ids that the store has by now. */
function sideRows(side: GivenSide, dimensions: number, rowOf: (id: string) => number): SideRows {
  const rows: [row: number, from: number][] = [];
  let rowCount = 0;
  for (const [at, id] of idsOf(side).entries()) {
    const row = rowOf(id);
    if (row < 0) continue;
    rows.push([row, at * dimensions]);
    rowCount = Math.max(rowCount, row + 1);
  }
  return { factors: side.factors, rows, rowCount };
}
