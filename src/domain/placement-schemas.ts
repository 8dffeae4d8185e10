import Type, { type Static } from 'typebox';
import { named } from './schema-helpers.ts';

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

export const PlacementReportSchema = named('What came of placements', {
  ComputedAt: Type.String({ description: 'RFC 3339 UTC' }),
  WindowSeconds: Type.Number({
    description: 'Within which feedback belongs to a list that it does not name',
  }),
  Placements: Type.Array(PlacementOutcomeSchema),
});
export type PlacementReport = Static<typeof PlacementReportSchema>;
