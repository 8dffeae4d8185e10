import Type, { type Static } from 'typebox';
import { named } from './schema-helpers.ts';

/** The shapes of an evaluation: what the command prints as JSON, what the admin routes answer, what the dashboard shows. */
const estimate = Type.Object({
  mean: Type.Number({ description: 'Over users' }),
  halfWidth: Type.Number({ description: 'Of its 95 % interval' }),
});

export const EvaluationRowSchema = named('A way to recommend, and how well it did', {
  name: Type.String({ description: 'A way to recommend' }),
  role: Type.Union(
    [Type.Literal('served'), Type.Literal('alone'), Type.Literal('reference'), Type.Literal('variant')],
    { description: 'What users get, a recommender alone, what has to be beaten, or another configuration' },
  ),
  recommender: Type.Optional(Type.String({ description: 'The recommender that stands alone' })),
  windowHours: Type.Optional(
    Type.Union([Type.Number(), Type.Null()], {
      description: 'What popularity is counted over: hours, null for all time; absent for other ways',
    }),
  ),
  metrics: Type.Record(Type.String(), estimate),
  againstServed: Type.Object(
    { mean: Type.Number(), halfWidth: Type.Number() },
    {
      description:
        'Mean over users of NDCG@10 here less that of the served lists, with its interval; zero for those',
    },
  ),
  fitSeconds: Type.Optional(Type.Number({ description: 'What learning took; absent for references' })),
});
/** One way to recommend, and how well it did. */
export type EvaluationRow = Static<typeof EvaluationRowSchema>;

export const EvaluationTableSchema = named('One table of an evaluation', {
  protocol: Type.Union([Type.Literal('temporal'), Type.Literal('last')], {
    description: 'Held out is the latest feedback of all, or the latest of each user',
  }),
  users: Type.Integer({ description: 'Users who were asked about' }),
  rows: Type.Array(EvaluationRowSchema),
  conclusion: Type.String({
    description: 'The served lists against the best of the others, as a sentence',
  }),
  advice: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'What to do where the served lists do not beat all others by more than the noise, in sentences',
    }),
  ),
});
/** One table of an evaluation. */
export type EvaluationTable = Static<typeof EvaluationTableSchema>;

export const EvaluationReportSchema = named('Evaluation of the lists', {
  source: Type.String({ description: 'What was evaluated' }),
  positiveTypes: Type.Array(Type.String()),
  users: Type.Integer(),
  items: Type.Integer(),
  feedback: Type.Integer(),
  tables: Type.Array(EvaluationTableSchema),
});
/** What was evaluated, and what came of it. */
export type EvaluationReport = Static<typeof EvaluationReportSchema>;

/** How the data of a folder is judged. */
export interface EvaluateOptions {
  readonly protocol: EvaluationTable['protocol'] | 'both';
  /** Share of the positives that a split in time holds out. */
  readonly share: number;
  /** Users asked about at the most. */
  readonly users: number;
  readonly seed: number;
}
