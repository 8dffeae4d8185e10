/** Everything that a fit learns, by name. To add a model, write its folder and list its part here. */
import { alsPart } from './als/train-and-serve.ts';
import { clickPart } from './click/train-and-serve.ts';
import { givenPart } from './given/train-and-serve.ts';
import { itemKnnPart } from './item-knn/train-and-serve.ts';
import { itemNeighborsPart } from './neighbors/train-and-serve-items.ts';
import { userNeighborsPart } from './neighbors/train-and-serve-users.ts';
import type { SharedTask } from './part/chunks-for-threads.ts';
import type { LearnedPart, PartFeature, PartOpening } from './part/learned-part.ts';
import { sequencePart } from './sequence/train-and-serve.ts';
import { slimPart } from './slim/train-and-serve.ts';

export const PARTS = {
  als: alsPart,
  click: clickPart,
  slim: slimPart,
  itemKnn: itemKnnPart,
  sequence: sequencePart,
  given: givenPart,
  itemNeighbors: itemNeighborsPart,
  userNeighbors: userNeighborsPart,
} as const;

export type PartName = keyof typeof PARTS;
export const PART_NAMES = Object.keys(PARTS) as readonly PartName[];

type Types<Name extends PartName> =
  (typeof PARTS)[Name] extends LearnedPart<
    infer Options,
    infer Task,
    infer Phase,
    infer Outcome,
    infer Model,
    infer Placed,
    infer Opened,
    infer Feature
  >
    ? {
        options: Options;
        task: Task;
        phase: Phase;
        outcome: Outcome;
        model: Model;
        placed: Placed;
        opened: Opened;
        feature: Feature;
      }
    : never;

export type PartOptions<Name extends PartName> = Types<Name>['options'];
export type PartTask<Name extends PartName> = Types<Name>['task'];
export type PartOutcome<Name extends PartName> = Types<Name>['outcome'];
export type PartPlaced<Name extends PartName> = Types<Name>['placed'];

/** Parts where all threads can ask them; each may be missing. */
export type PlacedParts = { readonly [Name in PartName]?: PartPlaced<Name> | undefined };

/** Parts as one thread asks them; each may be missing. */
export type OpenedParts = { readonly [Name in PartName]?: Types<Name>['opened'] | undefined };

/** A part whose types only its own code knows. */
export type AnyPart = LearnedPart<unknown, SharedTask, unknown, unknown, unknown, unknown, unknown, string>;

export function partOf(name: PartName): AnyPart {
  return PARTS[name] as unknown as AnyPart;
}

/** Parts that every fit trains beside the collaborative model. */
export const TRAINED_PARTS = PART_NAMES.filter((name) => partOf(name).training?.isOnDemand === false);

export function openParts(placed: PlacedParts, opening: PartOpening): OpenedParts {
  const names = PART_NAMES.filter((name) => placed[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, partOf(name).open(placed[name], opening)]));
}

/** A feature of the ranking and the part that it is of. */
export interface ModelFeatureOf {
  readonly name: ModelFeature;
  readonly part: PartName;
  readonly feature: PartFeature<unknown>;
}

/** Names of the features of the ranking that come from parts. */
export type ModelFeature = { [Name in PartName]: Types<Name>['feature'] }[PartName];

/** Scores of models among the features of the ranking, in the order of the parts. */
export const MODEL_FEATURES: readonly ModelFeatureOf[] = PART_NAMES.flatMap((part) =>
  Object.entries(partOf(part).features).map(([name, feature]) => ({
    ...{ name: name as ModelFeature, part, feature },
  })),
);

/** The features that are scores of a part. */
export function featuresOf(part: PartName): readonly ModelFeature[] {
  return MODEL_FEATURES.filter((feature) => feature.part === part).map(({ name }) => name);
}
