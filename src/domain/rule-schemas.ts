import Type, { type Static } from 'typebox';
import { titled } from './admin-schemas.ts';
import { ROLES } from './roles.ts';
import { count, flag, named, number, oneOf, text, time } from './schema-helpers.ts';

/** The shapes of placements and experiments as staff see and change them. */
const settings = Type.Unsafe<Readonly<Record<string, unknown>>>({
  type: 'object',
  description: 'Keys as in the configuration; those left out have their defaults',
});

const by = text('Name of the key; "" where none is asked for');

export const RuleSchema = named('Placement or experiment', {
  Name: text(),
  Source: oneOf('configuration', 'dashboard'),
  Settings: settings,
  Version: count('Of the last change here; 0 where it was never changed'),
  ChangedAt: Type.Optional(time),
  ChangedBy: Type.Optional(by),
  NotInEffect: Type.Optional(text('Why it is not in effect; absent where it is')),
});
export type Rule = Static<typeof RuleSchema>;

export const RuleKeySchema = named('Key of a placement', {
  Name: text(),
  Meaning: text(),
  Form: oneOf('number', 'choice', 'switch', 'texts', 'json'),
  Default: text('As JSON'),
  Choices: Type.Optional(Type.Array(text())),
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
  Titles: Type.Record(text(), text(), {
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
  Changes: Type.Array(Type.Object({ At: time, By: by, What: text() }), { description: 'Newest first' }),
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
      UserId: text(),
      Known: flag('False for an id without a record'),
      Source: text('What made the list, as `X-Furze-Source` tells'),
      Seed: Type.Optional(text('Title or id of the item that the list goes by')),
      Items: Type.Array(Type.Object({ ...titled, Score: number(), Reason: text() }), {
        description: 'Best first, with reasons in words',
      }),
    }),
  ),
});
export type Preview = Static<typeof PreviewSchema>;
