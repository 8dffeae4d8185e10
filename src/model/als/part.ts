import { viewOf } from '../../memory/layout.ts';
import type { LearnedPart } from '../learned-part.ts';
import { type AlsOutcome, alsCourse } from './course.ts';
import { alsFitMemory } from './fit-memory.ts';
import { type AlsTask, alsShape, placeAls } from './memory.ts';
import { decodeModel, encodeModel, type MatrixFactorization } from './model.ts';
import type { AlsPhase } from './phases.ts';
import { type PlacedModel, placeModel } from './scorer.ts';
import { type AlsSettings, sizedFactors } from './settings.ts';
import { AlsSolver } from './solver.ts';
import { qualityOf, trainedModel } from './train.ts';

export interface AlsOptions {
  readonly settings: AlsSettings;
  /** A model whose item factors are started from where it has as many factors, and no more items than there are. */
  readonly startFrom?: PlacedModel | undefined;
}

/** Implicit matrix factorization; see `train.ts`. */
export const alsPart: LearnedPart<
  AlsOptions,
  AlsTask,
  AlsPhase,
  AlsOutcome,
  MatrixFactorization,
  PlacedModel
> = {
  stage: 'Training ALS',
  saving: { name: 'collaborative', encode: encodeModel, decode: decodeModel },
  memory: ({ interactions, heldOut }, { settings }, slots, serving) =>
    alsFitMemory(alsShape(interactions, settings, slots, heldOut), serving),
  place({ interactions, heldOut }, { settings, startFrom }, slots, { allocate }) {
    const factors = sizedFactors(settings, interactions);
    const fits =
      startFrom?.header.factors === factors && startFrom.header.itemCount <= interactions.itemCount;
    const itemFactors = fits ? viewOf(startFrom.memory, startFrom.layout, 'itemFactors', 'f32') : undefined;
    const start = { heldOut, ...(itemFactors !== undefined && { itemFactors }) };
    return placeAls(interactions, settings, slots, start, allocate);
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
  model: (task, outcome, fingerprint) => trainedModel(task, fingerprint, qualityOf(outcome)),
  serve: (model, { slots, listLengthMax }, { instantiate, allocate }) =>
    placeModel(model, instantiate, slots, listLengthMax, allocate),
};
