import type { HeldOutPairs, TrainingData } from '../dataset/training-data.ts';
import type { GivenModels } from '../domain/admin-schemas.ts';
import type { PlainError } from '../domain/furze-error.ts';
import type { NeighborType } from '../domain/neighbor-type.ts';
import type { Ranked } from '../memory/ranked-rows.ts';
import type { AskedFold } from '../model/given/check-given.ts';
import type { AskedUser, PlacedUsers } from '../model/neighbors/similar-users.ts';
import type { SharedTask } from '../model/part/chunks-for-threads.ts';
import type { GivenModel } from '../model/part/given-model.ts';
import type { ServingShape } from '../model/part/learned-part.ts';
import type { FeedbackRoom } from '../model/part/sample-users-to-fit-memory.ts';
import type { PartName, PlacedParts } from '../model/registry.ts';
import type { ProcessorTimes } from '../platform/process/processor-times.ts';
import type { SharedLabels } from '../recommend/catalogue/item-labels.ts';
import type { Remade } from '../recommend/lists/list-queue.ts';
import type { Found, Question } from '../recommend/lists/maker/answer-from-models.ts';
import type { Ranking } from '../recommend/models/feature-names.ts';
import type { ColdItems } from '../recommend/neighbors/cold-item-index.ts';
import type { Relation } from '../recommend/neighbors/neighbors-from-store.ts';
import type { LikeColumns } from '../recommend/popularity/like-columns.ts';
import type { ItemPopularity, PopularitySpans } from '../recommend/popularity/popularity-counts.ts';
import type { CountsSettings } from '../recommend/popularity/saved-counts.ts';
import type { RankingChoice } from '../recommend/ranking/choose-ranking.ts';
import type { ListSettings } from '../recommend/sources/list-settings.ts';
import type { AsideQuery } from '../recommend/vectors/item-vectors.ts';
import type { ClusteredTable, TablePlace } from '../recommend/vectors/vector-table.ts';
import type { ModelPlace, SharedModelPlace } from '../store/model-store.ts';
import type { SharedPlace } from '../store/shared/shared-lists.ts';
import type { Cancellable } from './cancellation.ts';

/** Tells a thread that it does not give way to those that answer requests. */
export const FULL_PRIORITY = 'full-priority';

/** Everything that crosses between the main thread and the workers has its type here: jobs, and what each answers. */
export interface Jobs {
  gather: { job: GatherJob; answer: TrainingData | undefined };
  prepare: { job: PrepareJob; answer: PrepareAnswer };
  run: { job: RunJob; answer: unknown };
  finish: { job: FinishJob; answer: FinishAnswer };
  load: { job: LoadJob; answer: unknown };
  learnRanking: { job: LearnRankingJob; answer: LearnedRanking | undefined };
  lists: { job: ListsJob; answer: ListsMade };
  question: { job: QuestionJob; answer: Found };
  neighbors: { job: NeighborsJob; answer: Ranked | undefined };
  vectors: { job: VectorsJob; answer: Ranked };
  cluster: { job: ClusterJob; answer: ClusteredTable };
  searchItems: { job: SearchItemsJob; answer: readonly string[] };
  recount: { job: RecountJob; answer: Uint8Array | undefined };
  given: { job: GivenJob; answer: GivenAnswer };
  takeGiven: { job: TakeGivenJob; answer: TakenGiven | undefined };
  /** Makes the pool start a thread. */
  nothing: { job: { readonly kind: 'nothing' }; answer: undefined };
}
export type JobKind = keyof Jobs;
export type Job = Jobs[JobKind]['job'];

/** Reads all positive feedback and leaves out what models are judged by; answers undefined when there is none. */
export interface GatherJob extends FeedbackRoom, Cancellable {
  readonly kind: 'gather';
  readonly dataPath: string;
  readonly positiveTypes: readonly string[];
  /** Weight of a record of a type, 1 where absent; undefined when all weigh the same. */
  readonly positiveWeights?: ReadonlyMap<string, number> | undefined;
  /** A record weighs half for each of these that it is older than the newest one, milliseconds; Infinity for all alike. */
  readonly halfLifeMs?: number;
  /** Positive feedback counts from `sinceMs` up to `untilMs`, milliseconds since the epoch. */
  readonly sinceMs: number;
  readonly untilMs: number;
  /** Of the rule that holds records out. */
  readonly seed: number;
  /** True where some records are held out. */
  readonly leavesOut: boolean;
}

/** Fields of all jobs that learn one part; see `LearnedPart` for each job and for the types of what is `unknown` here. */
interface PartJob {
  readonly part: PartName;
  readonly dataPath: string;
  readonly positiveTypes: readonly string[];
  readonly readTypes: readonly string[];
}

export interface PrepareJob extends PartJob, Cancellable {
  readonly kind: 'prepare';
  readonly data: TrainingData;
  readonly options: unknown;
  /** Threads that will take part. */
  readonly slots: number;
  readonly serving: ServingShape;
  /** Memories that may be used again. */
  readonly free: readonly WebAssembly.Memory[];
  /** As in `GatherJob`. */
  readonly heldBytes: number;
  readonly budgetBytes: number;
}

/** Which of the free memories, by their index, are in use again. */
export interface MemoryChoice {
  readonly taken: readonly number[];
}

export interface PrepareAnswer extends MemoryChoice {
  readonly task: SharedTask;
  /** Most bytes of the stage, worked out before it began. */
  readonly plannedBytes: number;
  /** See `StageMemory`. */
  readonly leftOut: string | undefined;
}

/** One thread's part in one phase; answers false when the training was cancelled. */
export interface RunJob extends PartJob {
  readonly kind: 'run';
  readonly task: SharedTask;
  readonly phase: unknown;
  readonly slot: number;
}

/** Takes what was learned, saves it if it is to be, and places it for serving. */
export interface FinishJob extends PartJob {
  readonly kind: 'finish';
  readonly task: SharedTask;
  readonly outcome: unknown;
  readonly fingerprint: number;
  readonly serving: ServingShape;
  readonly saveAs: { readonly place: ModelPlace; readonly name: string } | undefined;
  readonly free: readonly WebAssembly.Memory[];
}

export interface FinishAnswer extends MemoryChoice {
  readonly placed: unknown;
  /** Which memories of the task, in the order of `memoriesOf`, what was placed goes on using. */
  readonly kept: readonly number[];
}

/** Places a part that was saved; answers undefined when there is none. */
export interface LoadJob extends PartJob {
  readonly kind: 'load';
  readonly place: ModelPlace;
  /** Of the bytes there. */
  readonly name: string;
  readonly serving: ServingShape;
}

/** All that one fit has learned, in shared memory. */
export interface PlacedGeneration {
  /** Counts up. */
  readonly number: number;
  readonly ranking: Ranking | undefined;
  /** The choice of the ranking; absent where there was too little to judge by. */
  readonly choice?: RankingChoice | undefined;
  readonly parts: PlacedParts;
}

/** Lists that the learning of a ranking judges at most, each of a user as of a moment. */
export const JUDGED_USERS_MAX = 1500;

/** Learns from what was held out how to rank candidates; answers undefined when there is too little to judge by. */
export interface LearnRankingJob extends Cancellable {
  readonly kind: 'learnRanking';
  /** With a generation that was not trained on what is held out. */
  readonly plan: ListPlan;
  readonly heldOut: HeldOutPairs;
  readonly heldOutSinceMs: number;
  readonly spans: PopularitySpans;
  readonly slot: number;
}

export interface LearnedRanking {
  readonly ranking: Ranking;
  readonly choice: RankingChoice;
}

/** State that all jobs of one pass over the users share, as of its beginning. Large arrays are in shared memory. */
export interface ListPlan {
  /** Tells this plan from others. */
  readonly id: number;
  /** Items that came up to then may stand in the lists, milliseconds since the epoch. */
  readonly knowsMs: number;
  readonly dataPath: string;
  readonly cachePath: string;
  /** Where lists go that nodes share; absent where they go to `cachePath`. */
  readonly sharedLists?: SharedPlace | undefined;
  /** A shared list that is as of now is left as it is while it is younger than this, milliseconds. */
  readonly youngMs: number;
  readonly positiveTypes: readonly string[];
  readonly positiveTtlMs: number;
  readonly userNeighborType: NeighborType;
  readonly settings: ListSettings;
  /** True where lists say what they were made from. */
  readonly versioned: boolean;
  readonly generation: PlacedGeneration;
  /** One bit an item row: those that may stand in a list. */
  readonly listable: Uint32Array<SharedArrayBuffer>;
  readonly popularity: ItemPopularity;
  readonly recentLikes: LikeColumns;
  readonly latestRows: Uint32Array<SharedArrayBuffer>;
  readonly popularRows: Uint32Array<SharedArrayBuffer>;
  /** By popularity scale. */
  readonly trendingRows: readonly Uint32Array<SharedArrayBuffer>[];
  /** Since when the items are there; see `InMemoryState.sinceMsAt`. */
  readonly timesMs: Float64Array<SharedArrayBuffer>;
  readonly coldItems: ColdItems;
  /** Labels of items; undefined where they have none. */
  readonly labels?: SharedLabels | undefined;
  /** Vectors that lists go by; undefined for none. */
  readonly vectors?: TablePlace | undefined;
}

/** Outcome of a `ListsJob`; `lists` and `forsaken` are empty where they were stored. */
export interface ListsMade extends Remade {
  /** Lists that were stored. */
  readonly stored: number;
  /** Users that were seen to, the first of those asked for: a thread that hardly gets on gives back the others. */
  readonly users: number;
  /** Processor time that the thread wanted, and had. */
  readonly processor: ProcessorTimes;
}

/** Makes lists, and stores as many of them as there is time for, or answers all. */
export interface ListsJob {
  readonly kind: 'lists';
  readonly plan: ListPlan;
  readonly slot: number;
  readonly userRows: Uint32Array;
  readonly madeMs: number;
  /** Feedback after this time is not in effect yet, milliseconds since the epoch. */
  readonly untilMs: number;
  readonly isStored: boolean;
}

/** Answers one question with the models: see `Question`. */
export interface QuestionJob extends Question {
  readonly kind: 'question';
  readonly plan: ListPlan;
  readonly slot: number;
  /** Feedback after this time is not in effect yet, milliseconds since the epoch. */
  readonly untilMs: number;
}

/** Searches a table of vectors. */
export interface VectorsJob extends Cancellable {
  readonly kind: 'vectors';
  readonly place: TablePlace;
  readonly query: AsideQuery;
}

/** Puts a table of vectors into lists. */
export interface ClusterJob extends Cancellable {
  readonly kind: 'cluster';
  readonly place: TablePlace;
}

/** Finds items that contain a text; answers their ids, best match first. */
export interface SearchItemsJob {
  readonly kind: 'searchItems';
  readonly dataPath: string;
  readonly text: string;
  readonly n: number;
  /** The search ends after this time with what it found, milliseconds. */
  readonly timeMsMax: number;
}

/** Name of the saved counts of feedback in the cache store. */
export const SAVED_COUNTS_NAME = 'tally';

/** Counts all feedback, from what was saved on where that will do, saves it and answers it; undefined where it cannot be told as of when it is. */
export interface RecountJob extends CountsSettings {
  readonly kind: 'recount';
  readonly dataPath: string;
  readonly cachePath: string;
  /** The database that nodes share: where counts are published, and all feedback is, for a node whose folder lacks it. */
  readonly shared: SharedModelPlace | undefined;
  /** Whether this node publishes its counts. */
  readonly publishes: boolean;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
}

/** A change of the models of other tools that are kept; see `ModelPlace` for where. */
export type GivenChange =
  | { readonly kind: 'look' }
  /** Puts a piece of a file; the last one makes it a model and puts it in place. */
  | ({
      readonly kind: 'put';
      readonly name: string;
      readonly bytes: Uint8Array<ArrayBuffer>;
      /** The number of this piece of how many, and what tells pieces of one file from those of another. */
      readonly piece: { readonly number: number; readonly of: number; readonly upload: string };
      readonly judgedBy: string | undefined;
      readonly isUsed: boolean;
      /** A model may take so much. */
      readonly bytesMax: number;
      readonly nowMs: number;
    } & AskedFold)
  /** Puts a model in the place of another; none where there is no name. */
  | { readonly kind: 'use'; readonly name: string | undefined }
  | { readonly kind: 'remove'; readonly name: string };

export interface GivenJob {
  readonly kind: 'given';
  readonly place: ModelPlace;
  readonly dataPath: string;
  readonly change: GivenChange;
}

/** The models as they are then, or why nothing was changed. */
export type GivenAnswer = { readonly models: GivenModels } | { readonly refusal: PlainError };

/** Reads the model that is in place; undefined where there is none. */
export interface TakeGivenJob {
  readonly kind: 'takeGiven';
  readonly place: ModelPlace;
}

export interface TakenGiven {
  /** Tells it from any other. */
  readonly key: string;
  readonly model: GivenModel;
  /** The one that is judged in its place. */
  readonly judged: GivenModel;
}

/** Finds what is most like one row. */
export type NeighborsJob = RelatedJob | SimilarUsersJob;

/** Finds the rows most like one row by what the store knows. */
export interface RelatedJob extends Cancellable {
  readonly kind: 'neighbors';
  readonly among: 'store';
  readonly dataPath: string;
  readonly relation: Relation;
  readonly row: number;
  readonly k: number;
  readonly positiveTypes: readonly string[];
  readonly positiveTtlMs: number;
  /** Feedback after this time is not in effect yet, milliseconds since the epoch. */
  readonly untilMs: number;
}

/** Finds the `k` users most like one of those of the last fit; answers undefined where they were not laid out for it. */
export interface SimilarUsersJob extends Cancellable {
  readonly kind: 'neighbors';
  readonly among: 'users';
  readonly users: PlacedUsers;
  readonly asked: AskedUser;
  readonly k: number;
  readonly slot: number;
}
