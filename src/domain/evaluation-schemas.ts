import Type, { type Static } from 'typebox';
import { integer, named, number, text } from './schema-helpers.ts';

/** The shapes of an evaluation: what the command prints as JSON, what the admin routes answer, what the dashboard shows. */
const estimate = Type.Object({
  mean: number('Over users'),
  halfWidth: number('Of its 95 % interval'),
});

export const ListVarietySchema = named('How much the lists of people differ', {
  people: integer('People whose lists of ten are compared'),
  items: integer('Different items in all of their lists'),
  shared: number('Items of ten that the lists of two people share, on average'),
  topTenShare: number('Share of all places that the ten most frequent items take'),
});
/** Measures of how much the lists of people differ. */
export type ListVariety = Static<typeof ListVarietySchema>;

export const EvaluationRowSchema = named('A way to recommend, and how well it did', {
  name: text('A way to recommend'),
  role: Type.Union(
    [Type.Literal('served'), Type.Literal('alone'), Type.Literal('reference'), Type.Literal('variant')],
    { description: 'What users get, a recommender alone, what has to be beaten, or another configuration' },
  ),
  recommender: Type.Optional(text('The recommender that stands alone')),
  windowHours: Type.Optional(
    Type.Union([number(), Type.Null()], {
      description: 'What popularity is counted over: hours, null for all time; absent for other ways',
    }),
  ),
  metrics: Type.Record(text(), estimate),
  againstServed: Type.Object(
    { mean: number(), halfWidth: number() },
    {
      description:
        'Mean over users of NDCG@10 here less that of the served lists, with its interval; zero for those',
    },
  ),
  variety: ListVarietySchema,
  byLikes: Type.Array(Type.Object({ name: text(), users: integer(), ndcg: estimate }), {
    description: 'NDCG@10 by how many likes people had before',
  }),
  fitSeconds: Type.Optional(number('What learning took; absent for references')),
});
/** One way to recommend, and how well it did. */
export type EvaluationRow = Static<typeof EvaluationRowSchema>;

export const EvaluationTableSchema = named('One table of an evaluation', {
  protocol: Type.Literal('temporal', { description: 'Held out is the latest feedback of all' }),
  users: integer('Users who were asked about'),
  rows: Type.Array(EvaluationRowSchema),
  conclusion: text('The served lists against the best of the others, as a sentence'),
  advice: Type.Optional(
    Type.Array(text(), {
      description:
        'What to do where the served lists do not beat all others by more than the noise, in sentences',
    }),
  ),
});
export type EvaluationTable = Static<typeof EvaluationTableSchema>;

export const ReplayRowSchema = named('A way to recommend in a replay', {
  name: text(),
  role: Type.Union(
    [Type.Literal('served'), Type.Literal('counter'), Type.Literal('personal'), Type.Literal('alone')],
    {
      description:
        'What users get, most liked items of late, a simple way that goes by the person, or a recommender of the service alone',
    },
  ),
  ndcg: estimate,
  againstServed: Type.Object(
    { mean: number(), halfWidth: number() },
    { description: 'NDCG@10 here less that of the served lists on the same questions; zero for those' },
  ),
  hits: integer('Questions whose answer stood among ten'),
  hitsBeyondCounter: integer('Those of them that the best counter did not have'),
});
/** One way to recommend, and how well it did on some questions of a replay. */
export type ReplayRow = Static<typeof ReplayRowSchema>;

export const ReplayGroupSchema = named('Questions of one kind in a replay', {
  name: text('Such as people with one like, or all questions'),
  questions: integer(),
  rows: Type.Array(ReplayRowSchema, { description: 'The served lists first' }),
});
/** Questions of one kind, and how well each way did on them. */
export type ReplayGroup = Static<typeof ReplayGroupSchema>;

export const ReplayTableSchema = named('A replay of the last part of the data', {
  records: integer('Records that were gone through'),
  hours: number('Time that they span'),
  fits: integer('How often the service learned'),
  positives: integer('Positive records among them'),
  judgeable: integer('Those of them that a list can hold: no repeats, no unknown items'),
  questions: integer('Those of them that were asked about'),
  groups: Type.Array(ReplayGroupSchema),
  variety: Type.Record(text(), ListVarietySchema, {
    description: 'By way: the lists of people with some history, all at the end of the replay',
  }),
  conclusion: text('What came of it, in sentences'),
});
export type ReplayTable = Static<typeof ReplayTableSchema>;

export const EvaluationReportSchema = named('Evaluation of the lists', {
  source: text('What was evaluated'),
  positiveTypes: Type.Array(text()),
  users: integer(),
  items: integer(),
  feedback: integer(),
  replay: Type.Optional(ReplayTableSchema),
  tables: Type.Array(EvaluationTableSchema),
});
export type EvaluationReport = Static<typeof EvaluationReportSchema>;

/** Options by which the data of a folder is judged. */
export interface EvaluateOptions {
  readonly protocol: 'replay' | 'temporal' | 'both';
  /** Share of the positives that a split in time holds out, and of all records that a replay goes through. */
  readonly share: number;
  readonly questions: number;
  /** Fits of a replay at the most after the first. */
  readonly fits: number;
  /** True where a replay is repeated with each recommender alone. */
  readonly alone: boolean;
  /** Users asked about at the most. */
  readonly users: number;
  readonly seed: number;
}
