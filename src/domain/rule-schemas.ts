import Type, { type Static } from 'typebox';
import { titled } from './admin-schemas.ts';
import { ROLES } from './roles.ts';
import { named, oneOf } from './schema-helpers.ts';

/** The shapes of placements and experiments as staff see and change them. */
const time = Type.String({ description: 'RFC 3339 UTC' });
const settings = Type.Unsafe<Readonly<Record<string, unknown>>>({
  type: 'object',
  description: 'Keys as in the configuration; those left out have their defaults',
});

const by = Type.String({ description: 'Name of the key; "" where none is asked for' });

export const RuleSchema = named('Placement or experiment', {
  Name: Type.String(),
  Source: oneOf('configuration', 'dashboard'),
  Settings: settings,
  Version: Type.Integer({ minimum: 0, description: 'Of the last change here; 0 where it was never changed' }),
  ChangedAt: Type.Optional(time),
  ChangedBy: Type.Optional(by),
  NotInEffect: Type.Optional(Type.String({ description: 'Why it is not in effect; absent where it is' })),
});
export type Rule = Static<typeof RuleSchema>;

export const RuleKeySchema = named('Key of a placement', {
  Name: Type.String(),
  Meaning: Type.String(),
  Form: oneOf('number', 'choice', 'texts', 'json'),
  Default: Type.String({ description: 'As JSON' }),
  Choices: Type.Optional(Type.Array(Type.String())),
});
export type RuleKey = Static<typeof RuleKeySchema>;

export const RulesSchema = named('Placements and experiments', {
  Caller: by,
  Role: oneOf(...ROLES),
  Placements: Type.Array(RuleSchema),
  Experiments: Type.Array(RuleSchema),
  Keys: Type.Array(RuleKeySchema, { description: 'Of a placement' }),
});
export type RulesView = Static<typeof RulesSchema>;

export const RuleHistorySchema = named('Placement or experiment with its history', {
  Rule: Type.Optional(RuleSchema),
  Titles: Type.Record(Type.String(), Type.String(), {
    description: 'Of items that the rule names by their ids; one that is missing is unknown',
  }),
  History: Type.Array(
    Type.Object({
      Version: Type.Integer({ minimum: 1 }),
      At: time,
      By: by,
      Settings: Type.Optional(settings),
    }),
    { description: 'Newest first; one without Settings is where it was taken away' },
  ),
});
export type RuleHistory = Static<typeof RuleHistorySchema>;

export const AuditSchema = named('What staff changed', {
  Changes: Type.Array(Type.Object({ At: time, By: by, What: Type.String() }), {
    description: 'Newest first',
  }),
});
export type Audit = Static<typeof AuditSchema>;

export const PreviewBodySchema = named('Question for a preview', {
  Settings: Type.Optional(settings),
  Users: Type.Array(Type.String({ minLength: 1, maxLength: 512 }), {
    minItems: 1,
    maxItems: 5,
    description: 'Ids of users, known or not',
  }),
});
export type PreviewBody = Static<typeof PreviewBodySchema>;

export const PreviewSchema = named('Preview of a placement', {
  Users: Type.Array(
    Type.Object({
      UserId: Type.String(),
      Known: Type.Boolean({ description: 'False for an id without a record' }),
      Source: Type.String({ description: 'What made the list, as `X-Furze-Source` tells' }),
      Seed: Type.Optional(Type.String({ description: 'Title or id of the item that the list goes by' })),
      Items: Type.Array(Type.Object({ ...titled, Score: Type.Number(), Reason: Type.String() }), {
        description: 'Best first, with reasons in words',
      }),
    }),
  ),
});
export type Preview = Static<typeof PreviewSchema>;
