import type { TrainingData } from '../../dataset/training-data.ts';
import { viewOf } from '../../memory/layout-builder.ts';
import type { LearnedPart, ServingShape } from '../part/learned-part.ts';
import { servedItems, type WithServedItems } from '../part/served-items.ts';
import { AlsSolver } from './als-solver.ts';
import { type CollaborativeModel, collaborativeModel } from './collaborative-model.ts';
import { type AlsOutcome, alsCourse } from './epochs-and-early-stopping.ts';
import { qualityOf, trainedModel } from './extract-model.ts';
import { alsFitMemory } from './memory-estimate.ts';
import { type AlsShape, type AlsTask, alsShape, placeAls } from './memory-layout.ts';
import { MfScorer, type PlacedModel, placeModel } from './mf-scorer.ts';
import { decodeModel, encodeModel, type MatrixFactorization } from './model.ts';
import type { AlsPhase } from './phases.ts';
import type { AlsSettings } from './settings.ts';
import { sizedFactors } from './settings-by-size.ts';
import { neededSharding } from './shard-users-to-fit-memory.ts';

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
  'collaborative'
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
      meaning: 'matrix factorization (ALS): users and items as vectors',
      scores: (model, { vector }, itemRows) => vector && model.scoreItems(vector, itemRows),
    },
  },
};
