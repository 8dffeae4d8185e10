import type { Interactions } from '../../dataset/interactions.ts';
import type { TrainingData } from '../../dataset/training-data.ts';
import { paddedFactors } from '../../kernel/scratch-sizes.ts';
import { viewOf } from '../../memory/memory-layout.ts';
import { MEMORY_BYTES_MAX } from '../../memory/shared-memory.ts';
import type { LearnedPart, ServingShape } from '../part/learned-part.ts';
import { type ServedItems, servedItems, type WithServedItems } from '../part/served-items.ts';
import { AlsSolver } from './als-solver.ts';
import { type CollaborativeModel, collaborativeModel } from './collaborative-model.ts';
import { type AlsOutcome, alsCourse } from './epochs-and-early-stopping.ts';
import { alsFitMemory } from './memory-estimate.ts';
import { type AlsShape, type AlsTask, alsShape, placeAls } from './memory-layout.ts';
import { MfScorer, type PlacedModel, placeModel } from './mf-scorer.ts';
import { assertFinite, decodeModel, encodeModel, type MatrixFactorization } from './model.ts';
import type { AlsSettings } from './settings.ts';
import { sizedFactors } from './settings-by-size.ts';
import { type Sharding, shardingOf } from './sharding.ts';
import type { AlsPhase } from './training-task.ts';
import { UserFactors } from './user-factors.ts';

export interface AlsOptions {
  readonly settings: AlsSettings;
  /** A model whose item factors are started from where it has as many factors. */
  readonly startFrom?: PlacedModel | undefined;
}

/** The shape of a training, its users divided where they do not fit otherwise. */
function shapeWithin(
  { interactions, heldOut, itemRowCount: itemRows }: TrainingData,
  settings: AlsSettings,
  slots: number,
  serving: ServingShape,
  roomBytes: number,
): AlsShape {
  const shape = { ...alsShape(interactions, settings, slots, heldOut), itemRows };
  const sharding = neededSharding(shape, interactions, serving, roomBytes);
  return sharding === undefined ? shape : { ...shape, sharding };
}

/**
 * Matrix factorization for implicit feedback by alternating least squares (Hu, Koren, Volinsky 2008), in the
 * parametrization of Rendle et al. 2021. Every row is solved by itself from the other side's factors, and
 * Gramians are summed in a fixed order, so the model is the same for any number of threads.
 */
export const alsPart: LearnedPart<
  AlsOptions,
  AlsTask & WithServedItems,
  AlsPhase,
  AlsOutcome,
  MatrixFactorization,
  PlacedModel,
  CollaborativeModel,
  'collaborative' | 'new_item'
> = {
  title: 'ALS model',
  stage: 'Training ALS',
  saving: { name: 'collaborative', encode: encodeModel, decode: decodeModel },
  memory: (data, { settings }, slots, serving, _reads, room) =>
    alsFitMemory(shapeWithin(data, settings, slots, serving, room.bytes), serving),
  prepare(data, { settings, startFrom }, slots, { allocate, room }, serving) {
    const { interactions, heldOut, rows } = data;
    const fits = startFrom?.header.factors === sizedFactors(settings, interactions);
    const itemFactors = fits ? viewOf(startFrom.memory, startFrom.layout, 'itemFactors', 'f32') : undefined;
    const start = { heldOut, ...(itemFactors !== undefined && { itemFactors, itemRows: rows.items }) };
    const { sharding } = shapeWithin(data, settings, slots, serving, room.bytes);
    const task = placeAls(interactions, settings, slots, start, allocate, sharding);
    return { ...task, served: servedItems(data) };
  },
  *course(task) {
    const course = alsCourse(task);
    for (;;) {
      const step = course.next();
      if (step.done === true) return step.value;
      if (step.value.kind !== 'epoch') {
        yield { kind: 'phase', phase: step.value };
        continue;
      }
      const { done, total, quality } = step.value;
      const detail = quality && `NDCG@10 ${quality.mean.toFixed(3)}`;
      yield { kind: 'progress', done, total, ...(detail !== undefined && { detail }) };
    }
  },
  run: (task, phase, slot, { instantiate }) =>
    new AlsSolver(task, instantiate(task.memory), slot).runPhase(phase),
  model: (task, outcome, fingerprint) => trainedModel(task, fingerprint, qualityOf(outcome), task.served),
  serve: (model, { slots, listLengthMax }, { instantiate, allocate }) =>
    placeModel(model, instantiate, slots, listLengthMax, allocate),
  open: (placed, { instantiate, slot }) =>
    collaborativeModel(placed, new MfScorer(placed, instantiate(placed.memory), slot)),
  features: {
    collaborative: {
      meaning: 'what people of a similar taste like (matrix factorization, ALS)',
      scores: (model, { vector }, itemRows) => vector && model.scoreItems(vector, itemRows),
    },
    new_item: {
      meaning: 'items that nobody had liked before the models were learned: what these say of them is little',
      scores(model, _user, itemRows) {
        const isNew = new Uint8Array(itemRows.length);
        for (let at = 0; at < isNew.length; at++) isNew[at] = Number(!model.knows(itemRows[at]!));
        return isNew;
      },
    },
  },
};

/** Quality of a model: NDCG@10 on the held-out records with its half width, and the epoch it is of. */
export function qualityOf({ quality, bestEpoch }: AlsOutcome): Record<string, number> {
  const epochs = { epochs: bestEpoch };
  return quality === undefined
    ? epochs
    : { ...epochs, 'NDCG@10': quality.mean, 'NDCG@10 half width': quality.halfWidth };
}

/**
 * Copies the factors out of a training's memory as a model.
 * @param served puts items at their rows of the store, and leaves users out; all stay where they are when absent
 * @throws FurzeError INTERNAL when a factor is NaN or infinite, so that no such model is published
 */
export function trainedModel(
  task: AlsTask,
  dataFingerprint: number,
  quality: Readonly<Record<string, number>> = {},
  served?: ServedItems,
): MatrixFactorization {
  const { memory, layout, settings, userCount, itemCount } = task;
  const items = viewOf(memory, layout, 'itemFactors', 'f32');
  const model: MatrixFactorization = {
    factors: settings.factors,
    userCount,
    itemCount: served?.rowCount ?? itemCount,
    trainedItems: itemCount,
    regularization: settings.regularization,
    unobservedWeight: settings.unobservedWeight,
    regularizationExponent: settings.regularizationExponent,
    seed: settings.seed,
    fingerprint: dataFingerprint,
    quality,
    userFactors: served === undefined ? new UserFactors(task).all(userCount) : new Float32Array(0),
    itemFactors:
      served === undefined
        ? new Float32Array(items)
        : spreadRows(items, served, paddedFactors(settings.factors)),
  };
  assertFinite(model);
  return model;
}

/** Factors at the rows of the store, zeros between them. */
function spreadRows(factors: Float32Array, { rows, rowCount }: ServedItems, f: number): Float32Array {
  const spread = new Float32Array(rowCount * f);
  for (let at = 0; at < rows.length; at++) {
    spread.set(factors.subarray(at * f, (at + 1) * f), rows[at]! * f);
  }
  return spread;
}

/**
 * Divides the users of a training that does not fit as a whole: undefined where all fits in one memory and in the
 * room that there is, or where nothing would be saved.
 * @param roomBytes what training and models may take
 */
export function neededSharding(
  shape: AlsShape,
  interactions: Interactions,
  serving: ServingShape,
  roomBytes: number,
): Sharding | undefined {
  const { sharding: _none, ...whole } = shape;
  const { piece, training, models } = alsFitMemory(whole, serving);
  if (piece <= MEMORY_BYTES_MAX && training + models <= roomBytes) return undefined;
  const sharding = shardingOf(interactions, shape.factors);
  // The stages of a small training take more than dividing it would save.
  const saves = alsFitMemory({ ...whole, sharding }, serving).training < training;
  return saves || piece > MEMORY_BYTES_MAX ? sharding : undefined;
}
