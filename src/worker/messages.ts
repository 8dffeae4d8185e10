import type { Interactions } from '../dataset/interactions.ts';
import type { HeldOutPairs } from '../dataset/leave-out.ts';
import type { AlsTask } from '../model/als/memory.ts';
import type { PlacedModel } from '../model/als/scorer.ts';
import type { AlsSettings } from '../model/als/settings.ts';
import type { AlsPhase } from '../model/als/train.ts';
import type { PlacedFm } from '../model/click/scorer.ts';
import type { LogisticRegression } from '../model/logistic.ts';
import type { PlacedSimilarity } from '../model/neighbors/memory.ts';
import type { NeighborTable } from '../model/neighbors/neighbor-table.ts';
import type { NeighborTask } from '../model/neighbors/task.ts';
import type { SlimTask } from '../model/slim/memory.ts';
import type { SlimPhase } from '../model/slim/solver.ts';
import type { ColdItems } from '../recommend/cold-items.ts';
import type { NeighborType } from '../recommend/item-neighbors.ts';
import type { ListSettings } from '../recommend/list-maker.ts';
import type { Remade } from '../recommend/lists/remake-queue.ts';
import type { Ranked } from '../recommend/ranked.ts';
import type { Relation } from '../recommend/related.ts';
import type { AskedUser } from '../recommend/serving-model.ts';
import type { TrendCounts } from '../recommend/trends.ts';

/** Everything that crosses between the main thread and the workers has its type here: jobs, and what each answers. */
export interface Jobs {
  gather: { job: GatherJob; answer: Gathered | undefined };
  place: { job: PlaceJob; answer: AlsTask };
  phase: { job: PhaseJob; answer: boolean };
  publish: { job: PublishJob; answer: PlacedModel };
  load: { job: LoadJob; answer: LoadedModel | undefined };
  lists: { job: ListsJob; answer: number };
  remake: { job: RemakeJob; answer: Remade };
  related: { job: RelatedJob; answer: Ranked };
  placeNeighbors: { job: PlaceNeighborsJob; answer: readonly NeighborTask[] };
  compare: { job: CompareJob; answer: boolean };
  finishNeighbors: { job: FinishNeighborsJob; answer: NeighborTable };
  placeSlim: { job: PlaceSlimJob; answer: SlimTask };
  slim: { job: SlimJob; answer: boolean };
  finishSlim: { job: FinishSlimJob; answer: NeighborTable };
  placeUsers: { job: PlaceUsersJob; answer: PlacedUsers };
  similarUsers: { job: SimilarUsersJob; answer: Ranked | undefined };
  click: { job: ClickJob; answer: PlacedClick | undefined };
  calibrate: { job: CalibrateJob; answer: Calibration | undefined };
  restore: { job: RestoreJob; answer: RestoredParts };
}
export type JobKind = keyof Jobs;
export type Job = Jobs[JobKind]['job'];

/** Reads all positive feedback and leaves out what models are judged by; answers undefined when there is none. */
export interface GatherJob {
  readonly kind: 'gather';
  readonly dataPath: string;
  readonly positiveTypes: readonly string[];
  /** Positive feedback counts from `sinceMs` up to `untilMs`, milliseconds since the epoch. */
  readonly sinceMs: number;
  readonly untilMs: number;
  /** Of the rule that holds records out. */
  readonly seed: number;
  /** Whether any are held out. */
  readonly leavesOut: boolean;
}

/** What models are trained on and judged by. All arrays are in shared memory. */
export interface Gathered {
  readonly interactions: Interactions;
  readonly heldOut: HeldOutPairs;
  /** When the first feedback left out was given, milliseconds since the epoch; Infinity when none is. */
  readonly heldOutSinceMs: number;
  readonly fingerprint: number;
  /** Distinct pairs, those held out among them. */
  readonly positives: number;
}

/** Lays out a training in shared memory. */
export interface PlaceJob {
  readonly kind: 'place';
  readonly gathered: Gathered;
  readonly settings: AlsSettings;
  /** Threads that will take part. */
  readonly slots: number;
  /** The cache store whose saved model gives the items to start from, where it has as many factors. */
  readonly warmStartFrom: string | undefined;
  /** Item factors to start from, if that is absent. */
  readonly itemFactors: Float32Array | undefined;
}

/** One thread's part in one phase of a training; answers false when the training was cancelled. */
export interface PhaseJob {
  readonly kind: 'phase';
  readonly task: AlsTask;
  readonly phase: AlsPhase;
  readonly slot: number;
}

/** Takes the trained factors as a model, saves it if it is to be, and places it. */
export interface PublishJob {
  readonly kind: 'publish';
  readonly task: AlsTask;
  readonly fingerprint: number;
  /** See `qualityOf`. */
  readonly quality: Readonly<Record<string, number>>;
  /** With the settings that were asked for; the task's differ where a training had to be repeated. */
  readonly save:
    | { readonly cachePath: string; readonly generation: number; readonly settings: AlsSettings }
    | undefined;
  readonly slots: number;
  readonly listLengthMax: number;
}

/** Places the model that was saved last. */
export interface LoadJob {
  readonly kind: 'load';
  readonly cachePath: string;
  readonly slots: number;
  readonly listLengthMax: number;
}

export interface LoadedModel {
  readonly placed: PlacedModel;
  readonly generation: number;
}

/** All that one fit has learnt, in shared memory. Each part may be missing. */
export interface PlacedGeneration {
  /** Counts up. */
  readonly number: number;
  readonly collaborative: PlacedModel | undefined;
  readonly clickThrough: PlacedFm | undefined;
  readonly itemNeighbors: NeighborTable | undefined;
  /** The sparse linear model. */
  readonly itemWeights: NeighborTable | undefined;
  /** Made where the user-based recommender is in use, and not saved. */
  readonly users: PlacedUsers | undefined;
  readonly ranking: LogisticRegression | undefined;
}

/** Lays out the comparison of all items. */
export interface PlaceNeighborsJob {
  readonly kind: 'placeNeighbors';
  readonly dataPath: string;
  readonly gathered: Gathered;
  readonly policy: NeighborType;
  /** Neighbors of an item at most. */
  readonly k: number;
  readonly enableIndex: boolean;
  readonly indexRecall: number;
  readonly seed: number;
  readonly slots: number;
}

/** One thread's part in it; answers false when it was cancelled. */
export interface CompareJob {
  readonly kind: 'compare';
  readonly tasks: readonly NeighborTask[];
  readonly slot: number;
}

/** Takes the neighbors found as a table and saves it. */
export interface FinishNeighborsJob {
  readonly kind: 'finishNeighbors';
  readonly tasks: readonly NeighborTask[];
  readonly fingerprint: number;
  readonly cachePath: string;
}

/** Lays out the learning of the sparse linear model. */
export interface PlaceSlimJob {
  readonly kind: 'placeSlim';
  readonly gathered: Gathered;
  readonly slots: number;
}

/** One thread's part in one phase of it; answers false when it was cancelled. */
export interface SlimJob {
  readonly kind: 'slim';
  readonly task: SlimTask;
  readonly phase: SlimPhase;
  readonly slot: number;
}

/** Takes the weights as a table and saves it if it is to be. */
export interface FinishSlimJob {
  readonly kind: 'finishSlim';
  readonly task: SlimTask;
  readonly fingerprint: number;
  readonly cachePath: string | undefined;
}

/** Lays out the users so that those most like one are found fast. */
export interface PlaceUsersJob {
  readonly kind: 'placeUsers';
  readonly dataPath: string;
  readonly gathered: Gathered;
  readonly policy: NeighborType;
  readonly slots: number;
}

/** Users to be compared by what they like and by labels; each where it is needed. */
export interface PlacedUsers {
  readonly byItems: PlacedSimilarity | undefined;
  readonly byLabels: PlacedSimilarity | undefined;
}

/** Finds the `k` users most like one; answers undefined where they were not laid out for it. */
export interface SimilarUsersJob {
  readonly kind: 'similarUsers';
  readonly users: PlacedUsers;
  readonly asked: AskedUser;
  readonly k: number;
  readonly slot: number;
}

/**
 * Trains and saves the click-through model, to be judged, or after that once more with everything; answers undefined
 * when it was cancelled.
 */
export interface ClickJob {
  readonly kind: 'click';
  readonly dataPath: string;
  readonly cachePath: string;
  readonly gathered: Gathered;
  readonly readTypes: readonly string[];
  /** Whether `gathered` is everything, to be learnt for as long as was best when the model was judged. */
  readonly retrains: boolean;
  readonly seed: number;
  readonly slots: number;
  /** Becomes 1 when the training is to end. */
  readonly cancelled: Int32Array<SharedArrayBuffer>;
  /** Epochs done, and how many there are at most. */
  readonly progress: Int32Array<SharedArrayBuffer>;
}

export interface PlacedClick {
  readonly placed: PlacedFm;
  readonly quality: Readonly<Record<string, number>>;
}

/** Learns from what was held out how to rank candidates; answers undefined when that is too little. */
export interface CalibrateJob {
  readonly kind: 'calibrate';
  /** With a generation that was not trained on what is held out. */
  readonly plan: ListPlan;
  readonly heldOut: HeldOutPairs;
  readonly heldOutSinceMs: number;
  readonly popularWindowMs: number;
  readonly slot: number;
}

export interface Calibration {
  /** Undefined when it is no better than one recommender alone. */
  readonly ranking: LogisticRegression | undefined;
  /** Whether lists are better with the sparse linear model than without. */
  readonly usesItemWeights: boolean;
  /** Mean NDCG@10 over the judged users. */
  readonly quality: {
    readonly users: number;
    readonly combined: number;
    readonly collaborative: number;
    readonly popular: number;
  };
}

/** Places what a generation has beside the collaborative model. */
export interface RestoreJob {
  readonly kind: 'restore';
  readonly dataPath: string;
  readonly cachePath: string;
  readonly generation: number;
  readonly slots: number;
}

export type RestoredParts = Pick<
  PlacedGeneration,
  'clickThrough' | 'itemNeighbors' | 'itemWeights' | 'ranking'
>;

/** What all jobs of one pass over the users share, as of its beginning. Large arrays are in shared memory. */
export interface ListPlan {
  /** Tells this plan from others. */
  readonly id: number;
  readonly dataPath: string;
  readonly cachePath: string;
  readonly positiveTypes: readonly string[];
  readonly positiveTtlMs: number;
  readonly userNeighborType: NeighborType;
  readonly settings: ListSettings;
  readonly generation: PlacedGeneration;
  /** One bit an item row: those that may stand in a list. */
  readonly listable: Uint32Array<SharedArrayBuffer>;
  readonly trends: TrendCounts;
  readonly latestRows: Uint32Array<SharedArrayBuffer>;
  readonly popularRows: Uint32Array<SharedArrayBuffer>;
  readonly coldItems: ColdItems;
}

/** Makes and stores the lists of the users with rows in [fromUserRow, toUserRow); answers how many. */
export interface ListsJob {
  readonly kind: 'lists';
  readonly plan: ListPlan;
  readonly slot: number;
  readonly fromUserRow: number;
  readonly toUserRow: number;
  readonly madeMs: number;
  /** Feedback after this time is not in effect yet, milliseconds since the epoch. */
  readonly untilMs: number;
}

/** Makes the lists of these users and answers them. */
export interface RemakeJob {
  readonly kind: 'remake';
  readonly plan: ListPlan;
  readonly slot: number;
  readonly userRows: readonly number[];
  readonly madeMs: number;
  /** Feedback after this time is not in effect yet, milliseconds since the epoch. */
  readonly untilMs: number;
}

/** Finds the rows most like one row by what the store knows. */
export interface RelatedJob {
  readonly kind: 'related';
  readonly dataPath: string;
  readonly relation: Relation;
  readonly row: number;
  readonly k: number;
  readonly positiveTypes: readonly string[];
  readonly positiveTtlMs: number;
  /** Feedback after this time is not in effect yet, milliseconds since the epoch. */
  readonly untilMs: number;
}
