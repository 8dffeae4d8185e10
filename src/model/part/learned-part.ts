import type { TrainingData, TrainingReads } from '../../dataset/training-data.ts';
import type { NeighborType } from '../../domain/neighbor-type.ts';
import type { InstantiateKernels } from '../../kernel/scratch-sizes.ts';
import type { AllocateMemory } from '../../memory/reuse-memory.ts';
import type { SharedTask } from './chunks-for-threads.ts';
import type { GivenModel } from './given-model.ts';
import type { StageMemory } from './memory-budget.ts';

/** The questions that a trained part is laid out for. */
export interface ServingShape {
  /** Threads that may ask at once. */
  readonly slots: number;
  readonly listLengthMax: number;
}

/** The memory that training and models of a part may take. */
export interface StageRoom {
  /** Bytes that are free. A part that can do with less lays itself out within them. */
  readonly bytes: number;
  /**
   * Bytes that decide how many users a part learns from: what is configured, whatever else is held at the moment, as long
   * as that leaves so much. So the same data and configuration give the same sample.
   */
  readonly sampleBytes: number;
}

/** Tools of a part in the thread that works on it. */
export interface PartTools {
  readonly reads: TrainingReads;
  readonly instantiate: InstantiateKernels;
  readonly allocate: AllocateMemory;
  readonly room: StageRoom;
}

/** One step of a training. */
export type CourseStep<Phase> =
  | {
      readonly kind: 'phase';
      readonly phase: Phase;
      /** Rows of it, where it is worth telling how many are done. */
      readonly rows?: number;
      /** Rows of the phases before it and of all phases, where they are told as one; none and its own when absent. */
      readonly before?: number;
      readonly total?: number;
      /** True for a phase that one thread does alone. */
      readonly alone?: boolean;
    }
  | PartProgress;

/** Progress of a training, in the part's unit. */
export interface PartProgress {
  readonly kind: 'progress';
  readonly done: number;
  readonly total: number;
  /** Such as the quality so far. */
  readonly detail?: string;
}

/** Form of a model between two runs of the program. */
export interface PartSaving<Model> {
  /** Name of the bytes in the cache store. */
  readonly name: string;
  encode(model: Model): Uint8Array;
  /** @throws FurzeError INTERNAL when the bytes are not such a model, of another version, cut short or damaged */
  decode(bytes: Uint8Array): Model;
}

/** The configuration that parts are trained by. */
export interface FitSettings {
  readonly seed: number;
  readonly neighborType: NeighborType;
  readonly userNeighborType: NeighborType;
  readonly enableIndex: boolean;
  readonly indexRecall: number;
  /** The model of another tool that is in place; undefined for none. */
  readonly given?: GivenModel | undefined;
}

/** The training of a part with everything, in a fit. */
interface PartTraining<Options, Outcome> {
  /**
   * @param judged the end of the training without what is held out, where there was one
   * @returns undefined where there is nothing to train
   */
  options(settings: FitSettings, serving: ServingShape, judged?: Outcome): Options | undefined;
  /** True for a part that is trained though the ranking does not look at it. */
  readonly isAlwaysWanted: boolean;
  /** True for a part that is laid out once somebody asks it, and then with every fit. */
  readonly isOnDemand: boolean;
}

/** A thread that opens what is placed. */
export interface PartOpening {
  readonly instantiate: InstantiateKernels;
  /** The thread's number; no two threads use one slot at the same time. */
  readonly slot: number;
  /** The labels of an item that came after the fit. */
  itemLabelsOf(itemRow: number): readonly string[];
}

/** A user whose candidates are scored. */
export interface ScoredUser {
  readonly userRow: number;
  readonly userLabels: () => readonly string[];
  /** The user's vector in the collaborative model, undefined without one. */
  readonly vector: Float32Array | undefined;
}

/** A score of each candidate by an opened part. */
export interface ScoreFeature<Opened> {
  /** For people. */
  readonly meaning: string;
  /** One number an item; undefined where the part knows nothing of the user. */
  scores(opened: Opened, user: ScoredUser, itemRows: readonly number[]): ArrayLike<number> | undefined;
}

/** A sum over what a user likes, of a part that opens to `sums` of `SummedLikes`. Its items are candidates, too. */
export interface SumFeature {
  /** For people. */
  readonly meaning: string;
  /** The number of the sum among the part's. */
  readonly sum: number;
  /** The weight of the like with so many later ones; likes beyond count not at all. */
  readonly weights: Float64Array;
  /** False where sums of all users compare with one another as they are; else they are taken by the user's largest. */
  readonly isShare: boolean;
}

/** A number an item that the ranking looks at: a higher one never speaks against an item. */
export type PartFeature<Opened> = ScoreFeature<Opened> | SumFeature;

/**
 * Something that a fit learns: a model or a table. Training goes through `prepare`, the phases of `course` and `model`, in
 * whatever threads there are; the same data and options give the same bits for any number of them. Tasks, outcomes and
 * what is placed are plain data and shared memory.
 */
export interface LearnedPart<
  Options,
  Task extends SharedTask,
  Phase,
  Outcome,
  Model,
  Placed,
  Opened,
  Feature extends string = never,
> {
  /** Its name where its memory is shown to people. */
  readonly title: string;
  /** Words for people of a fit that trains it. */
  readonly stage: string;
  /** Form of its bytes; undefined when it is not saved but made of the data again. */
  readonly saving: PartSaving<Model> | undefined;
  /** The memory that a training of so many threads takes at most, beside its data, and what is served then. */
  memory(
    data: TrainingData,
    options: Options,
    slots: number,
    serving: ServingShape,
    reads: TrainingReads,
    room: StageRoom,
  ): StageMemory;
  /** Lays out a training for `slots` threads, as `memory` said it would. */
  prepare(data: TrainingData, options: Options, slots: number, tools: PartTools, serving: ServingShape): Task;
  /**
   * Yields the steps in order; all threads have ended a phase before the generator is resumed, and what they answered
   * is handed in.
   * @returns how it ended
   */
  course(task: Task): Generator<CourseStep<Phase>, Outcome, readonly unknown[]>;
  /** One thread's part in a phase. @returns false when the task was cancelled */
  run(task: Task, phase: Phase, slot: number, tools: PartTools): unknown;
  /**
   * The learned model. @param fingerprint of the data, kept in the model
   */
  model(task: Task, outcome: Outcome, fingerprint: number): Model;
  /** Puts a model where all threads can ask it. */
  serve(model: Model, shape: ServingShape, tools: PartTools): Placed;
  /** The placed model as one thread asks it. */
  open(placed: Placed, opening: PartOpening): Opened;
  /** The features of the ranking that it has, by name, in this order. */
  readonly features: { readonly [Name in Feature]: PartFeature<Opened> };
  /** Absent for the collaborative model alone, which goes on from where it was judged. */
  readonly training?: PartTraining<Options, Outcome>;
}
