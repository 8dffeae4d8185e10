/** Everything that a fit learns, by name. To add a model, write its folder and list its part here. */
import { alsPart } from './als/train-and-serve.ts';
import { clickPart } from './click/train-and-serve.ts';
import { itemKnnPart } from './item-knn/train-and-serve.ts';
import { itemNeighborsPart } from './neighbors/train-and-serve-items.ts';
import { userNeighborsPart } from './neighbors/train-and-serve-users.ts';
import type { SharedTask } from './part/chunks-for-threads.ts';
import type { LearnedPart } from './part/learned-part.ts';
import { sequencePart } from './sequence/train-and-serve.ts';
import { slimPart } from './slim/train-and-serve.ts';

export const PARTS = {
  als: alsPart,
  click: clickPart,
  slim: slimPart,
  itemKnn: itemKnnPart,
  sequence: sequencePart,
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
    infer Placed
  >
    ? { options: Options; task: Task; phase: Phase; outcome: Outcome; model: Model; placed: Placed }
    : never;

export type PartOptions<Name extends PartName> = Types<Name>['options'];
export type PartTask<Name extends PartName> = Types<Name>['task'];
export type PartOutcome<Name extends PartName> = Types<Name>['outcome'];
export type PartPlaced<Name extends PartName> = Types<Name>['placed'];

/** Parts where all threads can ask them; each may be missing. */
export type PlacedParts = { readonly [Name in PartName]?: PartPlaced<Name> | undefined };

/** A part whose types only its own code knows. */
export type AnyPart = LearnedPart<unknown, SharedTask, unknown, unknown, unknown, unknown>;

export function partOf(name: PartName): AnyPart {
  return PARTS[name] as unknown as AnyPart;
}
