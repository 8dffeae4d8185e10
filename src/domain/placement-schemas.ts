import Type, { type Static } from 'typebox';
import { named, oneOf } from './schema-helpers.ts';

/** The shapes of what is told of placements on live traffic. */
const count = Type.Integer({ minimum: 0 });

const figures = {
  Lists: Type.Integer({ minimum: 0, description: 'Lists of which something was seen' }),
  Users: Type.Integer({ minimum: 0, description: 'Users who saw one' }),
  Shown: Type.Integer({ minimum: 0, description: 'Items seen, each once a list' }),
  Clicked: Type.Integer({
    minimum: 0,
    description: 'Of these, those with feedback that is not of a read type',
  }),
  Named: Type.Integer({ minimum: 0, description: 'Feedback that named its list' }),
  InWindow: Type.Integer({ minimum: 0, description: 'Feedback given to the last list with the item' }),
  Converted: Type.Integer({ minimum: 0, description: 'Users with feedback that came of a list' }),
  Beyond: Type.Integer({
    minimum: 0,
    description: 'Items seen that are not among the popular ones of now, a tenth of all and at most 100',
  }),
  Feedback: Type.Array(
    Type.Object({ Type: Type.String(), Count: count, Value: Type.Number({ description: 'Sum' }) }),
    { description: 'What came of it by type' },
  ),
};

export const PlacementOutcomeSchema = named('Outcome of a placement', {
  Placement: Type.String(),
  Variant: Type.String({ description: 'Of an experiment; "" for none' }),
  ...figures,
  Items: Type.Integer({ minimum: 0, description: 'Different items seen' }),
  Places: Type.Array(Type.Object({ Place: Type.Integer({ minimum: 1 }), Shown: count, Clicked: count }), {
    description: 'The first places',
  }),
  Days: Type.Array(Type.Object({ Day: Type.String({ description: 'UTC' }), ...figures })),
});
export type PlacementOutcome = Static<typeof PlacementOutcomeSchema>;
export type Figures = Omit<PlacementOutcome, 'Placement' | 'Variant' | 'Items' | 'Places' | 'Days'>;

const interval = {
  Difference: Type.Number({
    description: 'Mean of the variant less that of the first, with the past of users taken out',
  }),
  Low: Type.Optional(
    Type.Number({ description: 'Lower end of the interval; absent while there is too little to tell' }),
  ),
  High: Type.Optional(Type.Number({ description: 'Its upper end' })),
};

export const ExperimentOutcomeSchema = named('Outcome of an experiment', {
  Name: Type.String(),
  Placement: Type.String(),
  Measure: Type.String({ description: 'In words' }),
  Sentence: Type.String({ description: 'How it stands, in words' }),
  State: oneOf('too early', 'open', 'decided', 'split wrong'),
  Winner: Type.Optional(Type.String({ description: 'The variant that is best, where that is certain' })),
  Variants: Type.Array(
    Type.Object({
      Name: Type.String(),
      Share: Type.Number(),
      Users: Type.Integer({ minimum: 0, description: 'Users whose time is over, who count' }),
      Seen: Type.Integer({ minimum: 0, description: 'Users who saw a list' }),
      Responders: Type.Integer({ minimum: 0, description: 'Users who count and have such feedback' }),
      Mean: Type.Number({ description: 'Of the measure, a user' }),
      ...Type.Partial(Type.Object(interval)).properties,
    }),
    { description: 'The first is what the others are compared with' },
  ),
  Guardrails: Type.Array(
    Type.Object({
      Kind: oneOf('feedback', 'latency', 'failures'),
      Type: Type.String({ description: 'The feedback type, or what else is watched, in words' }),
      Variant: Type.String(),
      Falls: Type.Boolean({ description: 'True where it is certainly worse than with the first variant' }),
      ...interval,
    }),
  ),
  Mixed: Type.Integer({ minimum: 0, description: 'Users who saw several variants, who are left out' }),
  Estimate: Type.Optional(
    Type.Object(
      {
        EffectiveEntries: Type.Integer({
          description: 'Entries of the second ranking itself that would tell as much of it',
        }),
        NeverShown: Type.Number({
          description: 'Share of its places with an item that is never shown there',
        }),
        Normalized: Type.Optional(
          Type.Object(
            { Mean: Type.Number(), Low: Type.Number(), High: Type.Number() },
            {
              description:
                'Mean of the second by weights that sum up to 1 (SNIPS); absent while too little is known',
            },
          ),
        ),
      },
      { description: 'Of method "estimate"; the mean of the second and its difference are doubly robust' },
    ),
  ),
  UsersForFivePercent: Type.Optional(
    Type.Integer({
      description: 'Users in all with whom a difference of 5 % would be certain, four times in five',
    }),
  ),
});
export type ExperimentOutcome = Static<typeof ExperimentOutcomeSchema>;

export const PlacementReportSchema = named('What came of placements', {
  ComputedAt: Type.String({ description: 'RFC 3339 UTC' }),
  WindowSeconds: Type.Number({
    description: 'Within which feedback belongs to a list that it does not name',
  }),
  Placements: Type.Array(PlacementOutcomeSchema),
  Experiments: Type.Array(ExperimentOutcomeSchema),
});
export type PlacementReport = Static<typeof PlacementReportSchema>;
