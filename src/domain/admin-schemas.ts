import Type, { type Static, type TSchema } from 'typebox';
import { EvaluationReportSchema } from './evaluation-schemas.ts';
import { ExperimentOutcomeSchema, PlacementOutcomeSchema } from './placement-schemas.ts';
import { named, oneOf } from './schema-helpers.ts';

/** The shapes of what the admin routes answer. The dashboard takes its types from here, too. */
const count = Type.Integer({ minimum: 0 });
const text = Type.String();
const time = Type.String({ description: 'RFC 3339 UTC' });
const seconds = (description: string) => Type.Number({ minimum: 0, description });

export const TaskSchema = named('Task', {
  Id: Type.Integer({ description: 'Counts up' }),
  Kind: Type.String({ description: 'fit, lists, search, evaluation, compaction, backup or import' }),
  State: oneOf('running', 'done', 'failed', 'stopped'),
  StartedAt: time,
  EndedAt: Type.Optional(time),
  Seconds: seconds('How long it took, or has taken so far'),
  Stage: Type.Optional(Type.String({ description: 'What it is doing' })),
  Done: Type.Optional(Type.Number({ description: 'Steps done of the stage' })),
  Total: Type.Optional(Type.Number({ description: 'Steps of the stage' })),
  PerSecond: Type.Optional(Type.Number({ description: 'Steps a second so far' })),
  SecondsLeft: Type.Optional(seconds('Time left of the stage at the pace so far')),
  Result: Type.Optional(
    Type.Record(Type.String(), Type.Union([Type.Number(), Type.String(), Type.Boolean()]), {
      description: 'What came of it, by name',
    }),
  ),
  Error: Type.Optional(Type.String({ description: 'Why it failed' })),
});
export type Task = Static<typeof TaskSchema>;

export const TasksSchema = named('Tasks', {
  Running: Type.Array(TaskSchema),
  Past: Type.Array(TaskSchema, { description: 'Newest first' }),
  NextFitSeconds: Type.Optional(seconds('Until the next fit begins')),
});
export type Tasks = Static<typeof TasksSchema>;

export const ImportReportSchema = named('Progress of an import', {
  File: Type.String({ minLength: 1, maxLength: 255, description: 'Its name' }),
  Kind: oneOf('users', 'items', 'feedback'),
  State: oneOf('running', 'done', 'failed'),
  Done: Type.Number({ minimum: 0, description: 'Bytes of the file that are behind it' }),
  Total: Type.Number({ minimum: 0, description: 'Bytes of the file' }),
  Written: Type.Integer({ minimum: 0, description: 'Records that were new or changed something' }),
  Refused: Type.Integer({ minimum: 0, description: 'Rows that were refused' }),
  Error: Type.Optional(Type.String({ maxLength: 1000, description: 'Why it failed' })),
});
export type ImportReport = Static<typeof ImportReportSchema>;

export const TroubleSchema = named('Trouble', {
  Code: Type.String({ description: 'Stable name' }),
  Severity: oneOf('error', 'warning', 'hint'),
  Message: Type.String({ description: 'What is not right' }),
  Advice: Type.String({ description: 'What to do about it' }),
});
export type Trouble = Static<typeof TroubleSchema>;

export const FeedbackTypeSchema = named('Feedback type', {
  Name: text,
  Count: count,
  Positive: Type.Boolean(),
  Read: Type.Boolean(),
});
export type FeedbackType = Static<typeof FeedbackTypeSchema>;

const EstimateSchema = Type.Object({
  Mean: Type.Number({ description: 'NDCG@10, over users' }),
  HalfWidth: Type.Number({ description: 'Of its 95 % interval' }),
});

export const RankingChoiceSchema = named('How the ranking was chosen', {
  Users: Type.Integer({ description: 'Whose lists were judged' }),
  AsOf: Type.String({ description: 'The moment as of which they were made, RFC 3339 UTC' }),
  Chosen: Type.String({ description: 'What ranks' }),
  OverBestSingle: EstimateSchema,
  Reason: Type.Optional(
    Type.String({ description: 'Why another than the first of the ways ranks; absent where the first does' }),
  ),
  Ways: Type.Array(Type.Object({ Name: text, Quality: EstimateSchema }), {
    description: 'All ways to rank that were judged, best first',
  }),
});
export type RankingChoice = Static<typeof RankingChoiceSchema>;

export const ModelSchema = named('Model that serves', {
  Generation: count,
  FittedAt: Type.Optional(time),
  AgeSeconds: Type.Optional(seconds('Since it was fitted')),
  FitSeconds: Type.Optional(seconds('How long the fit took')),
  Quality: Type.Record(Type.String(), Type.Number(), { description: 'Measures on held-out feedback' }),
  RankedBy: Type.Optional(Type.String({ description: 'What orders the lists' })),
  Choice: Type.Optional(RankingChoiceSchema),
  Users: count,
  Items: count,
  Factors: count,
  Bytes: Type.Integer({ minimum: 0, description: 'Of shared memory, all parts together' }),
});
export type Model = Static<typeof ModelSchema>;

export const NodeSchema = named('Node', {
  Name: text,
  Role: oneOf('all', 'server', 'worker'),
  Version: text,
  Address: Type.String({ description: 'Where it answers' }),
  Generation: Type.Integer({ description: 'That it serves, 0 for none' }),
  CommitsBehind: Type.Integer({ description: 'Commits that its copy of the data lacks' }),
  Leads: Type.Boolean({ description: 'Whether it is the one that learns' }),
  Self: Type.Boolean({ description: 'Whether it is the one that answers this' }),
  State: oneOf('there', 'gone'),
  SilentSeconds: seconds('Since it was last heard of'),
});
export type Node = Static<typeof NodeSchema>;

export const SummarySchema = named('Summary', {
  Sentence: Type.String({ description: 'The state of the service in one sentence' }),
  Ready: Type.Boolean({ description: 'Whether requests can be handled' }),
  Recommends: Type.Boolean({ description: 'Whether a model serves personal lists' }),
  Troubles: Type.Array(TroubleSchema, { description: 'Worst first' }),
  Users: count,
  Items: count,
  Feedback: count,
  PositiveFeedback: count,
  ReadFeedback: count,
  FeedbackTypes: Type.Array(FeedbackTypeSchema),
  Model: Type.Optional(ModelSchema),
  NextFitSeconds: Type.Optional(seconds('Until the next fit begins')),
  Task: Type.Optional(TaskSchema),
  Nodes: Type.Optional(Type.Array(NodeSchema, { description: 'Those that share the data in PostgreSQL' })),
  Service: Type.Object({
    Version: text,
    Node: text,
    Engine: Type.String({ description: 'The HTTP engine' }),
    StartedAt: time,
    UptimeSeconds: seconds('Since the start'),
    DataFolder: text,
    ConfigFile: Type.String({ description: '"" when there is none' }),
    HasKey: Type.Boolean({ description: 'Whether a key is asked for' }),
    Threads: count,
  }),
});
export type Summary = Static<typeof SummarySchema>;

export const SeriesSchema = named('Series', {
  StepSeconds: Type.Number({ description: 'Between two points' }),
  Times: Type.Array(Type.Number({ description: 'Seconds since the epoch' })),
  Values: Type.Record(Type.String(), Type.Array(Type.Union([Type.Number(), Type.Null()])), {
    description: 'By name, a value for each time; null where there is none',
  }),
});
export type Series = Static<typeof SeriesSchema>;

const bytes = Type.Integer({ minimum: 0 });
export const TableSizeSchema = named('Size of a table', {
  Store: text,
  Name: text,
  Entries: count,
  Bytes: bytes,
});

export const StorageSchema = named('Storage', {
  DataFolder: text,
  DataBytes: Type.Integer({ description: 'Of the data store on disk' }),
  CacheFolder: text,
  CacheBytes: Type.Integer({ description: 'Of the cache on disk' }),
  DiskFreeBytes: Type.Optional(bytes),
  DiskBytes: Type.Optional(bytes),
  Tables: Type.Array(TableSizeSchema),
  Memory: Type.Array(
    Type.Object({ Name: text, Bytes: bytes, Note: text }, { description: 'A part of the memory' }),
  ),
  BytesPerFeedback: Type.Optional(Type.Number({ description: 'Of the data store on disk' })),
});
export type Storage = Static<typeof StorageSchema>;

export const ConfigEntrySchema = named('Configuration key', {
  Key: Type.String({ description: 'Section and name' }),
  Value: Type.String({ description: 'As the file writes it; secrets are masked' }),
  Default: text,
  Source: oneOf('default', 'file', 'environment', 'command line'),
  Variable: Type.String({ description: 'The environment variable that goes before the file' }),
  Description: text,
});
export type ConfigEntry = Static<typeof ConfigEntrySchema>;
export const ConfigReportSchema = named('Configuration in effect', {
  File: Type.String({ description: '"" when there is none' }),
  Keys: Type.Array(ConfigEntrySchema),
});
export type ConfigReport = Static<typeof ConfigReportSchema>;

/** What is shown of an item. */
export const titled = {
  Id: text,
  Title: Type.String({ description: "The item's Comment" }),
  Image: Type.Optional(Type.String({ description: 'Address of a picture, by `[dashboard] image`' })),
  Price: Type.Optional(Type.String({ description: 'By `[dashboard] price`' })),
};
export const ItemCardSchema = Type.Object(titled);
export type ItemCard = Static<typeof ItemCardSchema>;
export const TitledScoreSchema = named('Item with its score', {
  ...titled,
  Score: Type.Number({ description: 'Higher is better' }),
});
export type TitledScore = Static<typeof TitledScoreSchema>;

const history = {
  FeedbackCount: count,
  PositiveCount: count,
  History: Type.Array(
    Type.Object({ ...titled, FeedbackType: text, Timestamp: time, Positive: Type.Boolean() }),
    { description: 'The latest feedback, newest first' },
  ),
  Cursor: Type.String({ description: 'Passed back as `cursor` for older feedback; "" where there is none' }),
};
export const UserHistorySchema = named("One user's feedback", history);
export type UserHistory = Static<typeof UserHistorySchema>;

export const UserViewSchema = named('One user', {
  User: Type.Object({
    UserId: text,
    Labels: Type.Array(text),
    Comment: text,
    Subscribe: Type.Array(text),
  }),
  Known: Type.Boolean({ description: 'False for an id without a record' }),
  ...history,
  Pipeline: Type.Array(
    Type.Object({
      ...titled,
      Score: Type.Optional(Type.Number()),
      Reason: Type.String({
        description: 'What speaks most for it, by the learned ranking, or by the fallback',
      }),
      Ranks: Type.Record(Type.String(), Type.Integer(), {
        description: 'Its place from 0 with each recommender that has it among its first',
      }),
    }),
    { description: 'What is recommended, best first' },
  ),
  List: Type.Optional(
    Type.Object({ Generation: count, MadeAt: time, Length: count }, { description: 'The cached list' }),
  ),
  Recommenders: Type.Array(
    Type.Object({
      Name: text,
      InPipeline: Type.Boolean({ description: 'Whether it gives candidates' }),
      IsFallback: Type.Boolean({ description: 'Whether it fills answers that run short' }),
      IsWaiting: Type.Boolean({ description: 'Whether it is still being worked out: ask again' }),
      Items: Type.Array(TitledScoreSchema),
    }),
  ),
});
export type UserView = Static<typeof UserViewSchema>;

export const ItemViewSchema = named('One item', {
  Item: Type.Object({
    ItemId: text,
    IsHidden: Type.Boolean(),
    Categories: Type.Array(text),
    Timestamp: text,
    Labels: Type.Array(text),
    Comment: text,
  }),
  FeedbackCount: Type.Integer({ description: 'Of the users looked at' }),
  Users: Type.Integer({ description: 'With any feedback on it' }),
  UsersRead: Type.Integer({ description: 'Users looked at; fewer than all where there are many' }),
  FeedbackTypes: Type.Array(Type.Object({ Name: text, Count: count })),
  Trend: Type.Object({
    Times: Type.Array(Type.Number({ description: 'Start of a slice, seconds since the epoch' })),
    All: Type.Array(count),
    Positive: Type.Array(count),
  }),
  Neighbors: Type.Array(TitledScoreSchema),
  Spaces: Type.Array(Type.Object({ Name: text, Neighbors: Type.Array(TitledScoreSchema) }), {
    description: 'The same by each vector space in which it has a vector',
  }),
});
export type ItemView = Static<typeof ItemViewSchema>;

export const EvaluationViewSchema = named('The last evaluation', {
  EvaluatedAt: time,
  Report: EvaluationReportSchema,
});
export type EvaluationView = Static<typeof EvaluationViewSchema>;

export const QualitySchema = named('Quality', {
  Generation: count,
  Quality: Type.Record(Type.String(), Type.Number(), { description: 'Of the collaborative model' }),
  Ranking: Type.Array(Type.Object({ Feature: text, Weight: Type.Number() }), {
    description: 'What candidates are ranked by; empty when the collaborative score ranks alone',
  }),
  Features: Type.Array(Type.Object({ Name: text, Meaning: text }), {
    description: 'What the ranking can look at of what is learned',
  }),
  Parts: Type.Array(text, { description: 'What the generation has learned' }),
  Fits: Type.Array(TaskSchema, { description: 'Past fits, oldest first' }),
  Evaluation: Type.Optional(EvaluationViewSchema),
  EvaluationTask: Type.Optional(TaskSchema),
  EvaluationError: Type.Optional(
    Type.String({ description: 'Why the last evaluation that ended gave no report' }),
  ),
});
export type Quality = Static<typeof QualitySchema>;

export const GivenModelsSchema = named('Models of other tools', {
  Used: Type.Optional(Type.String({ description: 'The one that is part of the next generation' })),
  Models: Type.Array(
    Type.Object({
      Name: text,
      Version: Type.Integer({ minimum: 1, description: 'Counts up over all models' }),
      Dimensions: count,
      Items: count,
      UnknownItems: Type.Integer({ minimum: 0, description: 'That were not there when it was put' }),
      ZeroItems: Type.Integer({ minimum: 0, description: 'Whose vector is zeros: they count as unknown' }),
      Users: Type.Integer({ minimum: 0, description: 'Whose vectors are taken as they are' }),
      UnknownUsers: count,
      Fold: Type.String({ description: 'How others are made of what they like' }),
      JudgedBy: Type.Optional(Type.String({ description: 'The model that is judged in its place' })),
      Bytes: count,
      PutAt: time,
    }),
  ),
});
export type GivenModels = Static<typeof GivenModelsSchema>;

/** For the OpenAPI document. */
export const ADMIN_SCHEMAS: Readonly<Record<string, TSchema>> = {
  Task: TaskSchema,
  Trouble: TroubleSchema,
  FeedbackType: FeedbackTypeSchema,
  Model: ModelSchema,
  TableSize: TableSizeSchema,
  ConfigEntry: ConfigEntrySchema,
  TitledScore: TitledScoreSchema,
  PlacementOutcome: PlacementOutcomeSchema,
  ExperimentOutcome: ExperimentOutcomeSchema,
};
