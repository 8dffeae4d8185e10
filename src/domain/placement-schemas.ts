import Type, { type Static } from 'typebox';
import { count, flag, integer, named, number, oneOf, text, time } from './schema-helpers.ts';

/** The shapes of what is told of placements on live traffic. */

const figures = {
  Lists: count('Lists of which something was seen'),
  Users: count('Users who saw one'),
  Shown: count('Items seen, each once a list'),
  Clicked: count('Of these, those with feedback that is not of a read type'),
  Named: count('Feedback that named its list'),
  InWindow: count('Feedback given to the last list with the item'),
  Converted: count('Users with feedback that came of a list'),
  Beyond: count('Items seen that are not among the popular ones of now, a tenth of all and at most 100'),
  Feedback: Type.Array(Type.Object({ Type: text(), Count: count(), Value: number('Sum') }), {
    description: 'What came of it by type',
  }),
};

export const PlacementOutcomeSchema = named('Outcome of a placement', {
  Placement: text(),
  Variant: text('Of an experiment; "" for none'),
  ...figures,
  Items: count('Different items seen'),
  Places: Type.Array(Type.Object({ Place: Type.Integer({ minimum: 1 }), Shown: count(), Clicked: count() }), {
    description: 'The first places',
  }),
  Days: Type.Array(Type.Object({ Day: text('UTC'), ...figures })),
});
export type PlacementOutcome = Static<typeof PlacementOutcomeSchema>;
export type Figures = Omit<PlacementOutcome, 'Placement' | 'Variant' | 'Items' | 'Places' | 'Days'>;

const interval = {
  Difference: number('Mean of the variant less that of the first, with the past of users taken out'),
  Low: Type.Optional(number('Lower end of the interval; absent while there is too little to tell')),
  High: Type.Optional(number('Its upper end')),
};

export const ExperimentOutcomeSchema = named('Outcome of an experiment', {
  Name: text(),
  Placement: text(),
  Measure: text('In words'),
  Sentence: text('How it stands, in words'),
  State: oneOf('too early', 'open', 'decided', 'split wrong'),
  Winner: Type.Optional(text('The variant that is best, where that is certain')),
  Variants: Type.Array(
    Type.Object({
      Name: text(),
      Share: number(),
      Users: count('Users whose time is over, who count'),
      Seen: count('Users who saw a list'),
      Responders: count('Users who count and have such feedback'),
      Mean: number('Of the measure, a user'),
      ...Type.Partial(Type.Object(interval)).properties,
    }),
    { description: 'The first is what the others are compared with' },
  ),
  Guardrails: Type.Array(
    Type.Object({
      Kind: oneOf('feedback', 'latency', 'failures'),
      Type: text('The feedback type, or what else is watched, in words'),
      Variant: text(),
      Falls: flag('True where it is certainly worse than with the first variant'),
      ...interval,
    }),
  ),
  Mixed: count('Users who saw several variants, who are left out'),
  Estimate: Type.Optional(
    Type.Object(
      {
        EffectiveEntries: integer('Entries of the second ranking itself that would tell as much of it'),
        NeverShown: number('Share of its places with an item that is never shown there'),
        Normalized: Type.Optional(
          Type.Object(
            { Mean: number(), Low: number(), High: number() },
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
    integer('Users in all with whom a difference of 5 % would be certain, four times in five'),
  ),
});
export type ExperimentOutcome = Static<typeof ExperimentOutcomeSchema>;

export const PlacementReportSchema = named('What came of placements', {
  ComputedAt: time,
  WindowSeconds: number('Within which feedback belongs to a list that it does not name'),
  Placements: Type.Array(PlacementOutcomeSchema),
  Experiments: Type.Array(ExperimentOutcomeSchema),
});
export type PlacementReport = Static<typeof PlacementReportSchema>;
