import Type, { type Static, type TSchema } from 'typebox';
import { EvaluationReportSchema } from './evaluation-schemas.ts';
import { ExperimentOutcomeSchema, PlacementOutcomeSchema } from './placement-schemas.ts';
import { count, flag, integer, named, number, oneOf, text, time } from './schema-helpers.ts';

/** The shapes of what the admin routes answer. The dashboard takes its types from here, too. */
const seconds = (description: string) => Type.Number({ minimum: 0, description });

export const TaskSchema = named('Task', {
  Id: integer('Counts up'),
  Kind: text('fit, lists, search, evaluation, compaction, backup or import'),
  State: oneOf('running', 'done', 'failed', 'stopped'),
  StartedAt: time,
  EndedAt: Type.Optional(time),
  Seconds: seconds('How long it took, or has taken so far'),
  Stage: Type.Optional(text('What it is doing')),
  Done: Type.Optional(number('Steps done of the stage')),
  Total: Type.Optional(number('Steps of the stage')),
  PerSecond: Type.Optional(number('Steps a second so far')),
  SecondsLeft: Type.Optional(seconds('Time left of the stage at the pace so far')),
  Result: Type.Optional(
    Type.Record(text(), Type.Union([number(), text(), flag()]), {
      description: 'What came of it, by name',
    }),
  ),
  Error: Type.Optional(text('Why it failed')),
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
  Written: count('Records that were new or changed something'),
  Refused: count('Rows that were refused'),
  Error: Type.Optional(Type.String({ maxLength: 1000, description: 'Why it failed' })),
});
export type ImportReport = Static<typeof ImportReportSchema>;

export const TroubleSchema = named('Trouble', {
  Code: text('Stable name'),
  Severity: oneOf('error', 'warning', 'hint'),
  Message: text('What is not right'),
  Advice: text('What to do about it'),
});
export type Trouble = Static<typeof TroubleSchema>;

export const FeedbackTypeSchema = named('Feedback type', {
  Name: text(),
  Count: count(),
  Positive: flag(),
  Read: flag(),
});
export type FeedbackType = Static<typeof FeedbackTypeSchema>;

const EstimateSchema = Type.Object({
  Mean: number('NDCG@10, over users'),
  HalfWidth: number('Of its 95 % interval'),
});

export const RankingChoiceSchema = named('How the ranking was chosen', {
  Users: integer('Whose lists were judged'),
  AsOf: text('The moment as of which they were made, RFC 3339 UTC'),
  Chosen: text('What ranks'),
  OverBestSingle: EstimateSchema,
  OverPopular: Type.Optional(EstimateSchema),
  Reason: Type.Optional(text('Why another than the first of the ways ranks; absent where the first does')),
  Ways: Type.Array(Type.Object({ Name: text(), Quality: EstimateSchema }), {
    description: 'All ways to rank that were judged, best first',
  }),
});
export type RankingChoice = Static<typeof RankingChoiceSchema>;

export const ModelSchema = named('Model that serves', {
  Generation: count(),
  FittedAt: Type.Optional(time),
  AgeSeconds: Type.Optional(seconds('Since it was fitted')),
  FitSeconds: Type.Optional(seconds('How long the fit took')),
  Quality: Type.Record(text(), number(), { description: 'Measures on held-out feedback' }),
  RankedBy: Type.Optional(text('What orders the lists')),
  Choice: Type.Optional(RankingChoiceSchema),
  Users: count(),
  Items: count(),
  Factors: count(),
  Bytes: count('Of shared memory, all parts together'),
});
export type Model = Static<typeof ModelSchema>;

export const NodeSchema = named('Node', {
  Name: text(),
  Role: oneOf('all', 'server', 'worker'),
  Version: text(),
  Address: text('Where it answers'),
  Generation: integer('That it serves, 0 for none'),
  CommitsBehind: integer('Commits that its copy of the data lacks'),
  Leads: flag('Whether it is the one that learns'),
  Self: flag('Whether it is the one that answers this'),
  State: oneOf('there', 'gone'),
  SilentSeconds: seconds('Since it was last heard of'),
});
export type Node = Static<typeof NodeSchema>;

export const SummarySchema = named('Summary', {
  Sentence: text('The state of the service in one sentence'),
  Ready: flag('Whether requests can be handled'),
  Recommends: flag('Whether a model serves personal lists'),
  Troubles: Type.Array(TroubleSchema, { description: 'Worst first' }),
  Users: count(),
  Items: count(),
  Feedback: count(),
  PositiveFeedback: count(),
  ReadFeedback: count(),
  FeedbackTypes: Type.Array(FeedbackTypeSchema),
  Model: Type.Optional(ModelSchema),
  NextFitSeconds: Type.Optional(seconds('Until the next fit begins')),
  Task: Type.Optional(TaskSchema),
  Nodes: Type.Optional(Type.Array(NodeSchema, { description: 'Those that share the data in PostgreSQL' })),
  Service: Type.Object({
    Version: text(),
    Node: text(),
    Engine: text('The HTTP engine'),
    StartedAt: time,
    UptimeSeconds: seconds('Since the start'),
    DataFolder: text(),
    ConfigFile: text('"" when there is none'),
    HasKey: flag('Whether a key is asked for'),
    Threads: count(),
  }),
});
export type Summary = Static<typeof SummarySchema>;

export const SeriesSchema = named('Series', {
  StepSeconds: number('Between two points'),
  Times: Type.Array(number('Seconds since the epoch')),
  Values: Type.Record(text(), Type.Array(Type.Union([number(), Type.Null()])), {
    description: 'By name, a value for each time; null where there is none',
  }),
});
export type Series = Static<typeof SeriesSchema>;

const TableSizeSchema = named('Size of a table', {
  Store: text(),
  Name: text(),
  Entries: count(),
  Bytes: count(),
});

export const StorageSchema = named('Storage', {
  DataFolder: text(),
  DataBytes: integer('Of the data store on disk'),
  CacheFolder: text(),
  CacheBytes: integer('Of the cache on disk'),
  DiskFreeBytes: Type.Optional(count()),
  DiskBytes: Type.Optional(count()),
  Tables: Type.Array(TableSizeSchema),
  Memory: Type.Array(
    Type.Object({ Name: text(), Bytes: count(), Note: text() }, { description: 'A part of the memory' }),
  ),
  BytesPerFeedback: Type.Optional(number('Of the data store on disk')),
});
export type Storage = Static<typeof StorageSchema>;

export const ConfigEntrySchema = named('Configuration key', {
  Key: text('Section and name'),
  Value: text('As the file writes it; secrets are masked'),
  Default: text(),
  Source: oneOf('default', 'file', 'environment', 'command line'),
  Variable: text('The environment variable that goes before the file'),
  Description: text(),
});
export type ConfigEntry = Static<typeof ConfigEntrySchema>;
export const ConfigReportSchema = named('Configuration in effect', {
  File: text('"" when there is none'),
  Keys: Type.Array(ConfigEntrySchema),
});
export type ConfigReport = Static<typeof ConfigReportSchema>;

/** The fields of an item that are shown. */
export const titled = {
  Id: text(),
  Title: text("The item's Comment"),
  Image: Type.Optional(text('Address of a picture, by `[dashboard] image`')),
  Price: Type.Optional(text('By `[dashboard] price`')),
};
export const ItemCardSchema = Type.Object(titled);
export type ItemCard = Static<typeof ItemCardSchema>;
export const TitledScoreSchema = named('Item with its score', {
  ...titled,
  Score: number('Higher is better'),
});
export type TitledScore = Static<typeof TitledScoreSchema>;

const history = {
  FeedbackCount: count(),
  PositiveCount: count(),
  History: Type.Array(Type.Object({ ...titled, FeedbackType: text(), Timestamp: time, Positive: flag() }), {
    description: 'The latest feedback, newest first',
  }),
  Cursor: text('Passed back as `cursor` for older feedback; "" where there is none'),
};
export const UserHistorySchema = named("One user's feedback", history);
export type UserHistory = Static<typeof UserHistorySchema>;

export const UserViewSchema = named('One user', {
  User: Type.Object({
    UserId: text(),
    Labels: Type.Array(text()),
    Comment: text(),
    Subscribe: Type.Array(text()),
  }),
  Known: flag('False for an id without a record'),
  ...history,
  Pipeline: Type.Array(
    Type.Object({
      ...titled,
      Score: Type.Optional(number()),
      Reason: text('What speaks most for it, by the learned ranking, or by the fallback'),
      Ranks: Type.Record(text(), integer(), {
        description: 'Its place from 0 with each recommender that has it among its first',
      }),
    }),
    { description: 'What is recommended, best first' },
  ),
  List: Type.Optional(
    Type.Object({ Generation: count(), MadeAt: time, Length: count() }, { description: 'The cached list' }),
  ),
  Recommenders: Type.Array(
    Type.Object({
      Name: text(),
      InPipeline: flag('Whether it gives candidates'),
      IsFallback: flag('Whether it fills answers that run short'),
      IsWaiting: flag('Whether it is still being worked out: ask again'),
      Items: Type.Array(TitledScoreSchema),
    }),
  ),
});
export type UserView = Static<typeof UserViewSchema>;

export const ItemViewSchema = named('One item', {
  Item: Type.Object({
    ItemId: text(),
    IsHidden: flag(),
    Categories: Type.Array(text()),
    Timestamp: text(),
    Labels: Type.Array(text()),
    Comment: text(),
  }),
  FeedbackCount: integer('Of the users looked at'),
  Users: integer('With any feedback on it'),
  UsersRead: integer('Users looked at; fewer than all where there are many'),
  FeedbackTypes: Type.Array(Type.Object({ Name: text(), Count: count() })),
  Trend: Type.Object({
    Times: Type.Array(number('Start of a slice, seconds since the epoch')),
    All: Type.Array(count()),
    Positive: Type.Array(count()),
  }),
  Neighbors: Type.Array(TitledScoreSchema),
  Spaces: Type.Array(Type.Object({ Name: text(), Neighbors: Type.Array(TitledScoreSchema) }), {
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
  Generation: count(),
  Quality: Type.Record(text(), number(), { description: 'Of the collaborative model' }),
  Ranking: Type.Array(Type.Object({ Feature: text(), Weight: number() }), {
    description: 'What candidates are ranked by; empty when the collaborative score ranks alone',
  }),
  Features: Type.Array(Type.Object({ Name: text(), Meaning: text() }), {
    description: 'What the ranking can look at of what is learned',
  }),
  Parts: Type.Array(text(), { description: 'What the generation has learned' }),
  Fits: Type.Array(TaskSchema, { description: 'Past fits, oldest first' }),
  Evaluation: Type.Optional(EvaluationViewSchema),
  EvaluationTask: Type.Optional(TaskSchema),
  EvaluationError: Type.Optional(text('Why the last evaluation that ended gave no report')),
});
export type Quality = Static<typeof QualitySchema>;

export const GivenModelsSchema = named('Models of other tools', {
  Used: Type.Optional(text('The one that is part of the next generation')),
  Models: Type.Array(
    Type.Object({
      Name: text(),
      Version: Type.Integer({ minimum: 1, description: 'Counts up over all models' }),
      Dimensions: count(),
      Items: count(),
      UnknownItems: count('That were not there when it was put'),
      ZeroItems: count('Whose vector is zeros: they count as unknown'),
      Users: count('Whose vectors are taken as they are'),
      UnknownUsers: count(),
      Fold: text('How others are made of what they like'),
      JudgedBy: Type.Optional(text('The model that is judged in its place')),
      Bytes: count(),
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
