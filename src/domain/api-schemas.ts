import Type, { type Static, type TOptional, type TSchema, type TUnsafe } from 'typebox';
import { ADMIN_SCHEMAS } from './admin-schemas.ts';
import { type FieldKind, type Fields, type GivenValues, ITEM_FIELDS, USER_FIELDS } from './entity-fields.ts';
import type { Json } from './labels.ts';
import { count, flag, integer, named, number, oneOf, text } from './schema-helpers.ts';

/**
 * The shapes of bodies, asked and answered. One schema serves the TypeScript type, the compiled validator and the
 * OpenAPI document. In requests every optional field may also be `null`, which existing clients send for "not given",
 * and fields that are not named here are ignored.
 */
/** A `rule` is a name in `src/http/openapi/openapi.ts`, for the document alone. */
const givenText = (description: string, rule: 'comment' | 'timestamp') =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], description, rule });
const givenTexts = (description: string) =>
  Type.Unsafe<readonly string[] | null>({
    type: ['array', 'null'],
    items: { type: 'string' },
    description,
    rule: 'texts',
  });
const givenFlag = (description: string) =>
  Type.Unsafe<boolean | null>({ type: ['boolean', 'null'], description });
const labels = (description: string) =>
  Type.Unsafe<Json>({
    description: `${description}. Usually a list of texts; any JSON is kept and given back, and the texts in it are compared`,
  });
const strings = (description: string) => Type.Array(text(), { description });

const TIMESTAMP_FORMS =
  'RFC 3339 / ISO 8601: with a zone, without one (then UTC), or a date alone (then midnight UTC)';

const GIVEN: Record<FieldKind, (description: string) => TSchema> = {
  flag: givenFlag,
  texts: givenTexts,
  labels,
  time: (description) => givenText(`${description}; "" for none. ${TIMESTAMP_FORMS}`, 'timestamp'),
  text: (description) => givenText(description, 'comment'),
};
const ANSWERED: Record<FieldKind, (description: string) => TSchema> = {
  flag,
  texts: strings,
  labels,
  time: (description) =>
    Type.String({ description: `${description}, RFC 3339 UTC; "" for none`, rule: 'written' }),
  text,
};

function givenFields<F extends Fields>(fields: F) {
  const schemas = Object.entries(fields).map(([name, { kind, description }]) => [
    name,
    Type.Optional(GIVEN[kind](description)),
  ]);
  return Object.fromEntries(schemas) as {
    [Name in keyof F]: TOptional<TUnsafe<GivenValues[F[Name]['kind']]>>;
  };
}

function answeredFields(fields: Fields): Record<string, TSchema> {
  const schemas = Object.entries(fields).map(([name, { kind, description }]) => [
    name,
    ANSWERED[kind](description),
  ]);
  return Object.fromEntries(schemas) as Record<string, TSchema>;
}

const IMPRESSION_ITEMS_MAX = 1000;

const UserFields = givenFields(USER_FIELDS);
const ItemFields = givenFields(ITEM_FIELDS);

const userId = Type.String({ description: 'Identifier of the user, 1 to 512 bytes of UTF-8', rule: 'id' });
const itemId = Type.String({
  description: 'Identifier of the item, 1 to 512 bytes of UTF-8, without a slash',
  rule: 'itemId',
});
const feedbackType = Type.String({ description: 'Kind of feedback, 1 to 512 bytes of UTF-8', rule: 'id' });

export const UserBodySchema = named('User to write', { UserId: userId, ...UserFields });
export const UserPatchSchema = Type.Object(UserFields, { title: 'Change of a user' });
export const ItemBodySchema = named('Item to write', { ItemId: itemId, ...ItemFields });
export const ItemPatchSchema = Type.Object(ItemFields, { title: 'Change of an item' });
export const FeedbackBodySchema = named('Feedback to write', {
  FeedbackType: feedbackType,
  UserId: userId,
  ItemId: itemId,
  Timestamp: Type.Optional(
    givenText(`When it happened; absent or "" for now. ${TIMESTAMP_FORMS}`, 'timestamp'),
  ),
  Comment: Type.Optional(givenText('Free text', 'comment')),
  Value: Type.Optional(
    Type.Unsafe<number | null>({
      type: ['number', 'null'],
      description: 'A rating, a duration, an amount; absent for 0',
    }),
  ),
  Recommendation: Type.Optional(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description:
        'The `X-Furze-Recommendation` of the list that it came of. One that is not of this user and service is passed over',
      rule: 'given',
    }),
  ),
});
/** Items of a list that a user has seen. */
export const ImpressionBodySchema = named('Impression to write', {
  UserId: userId,
  Recommendation: Type.String({
    description: 'The `X-Furze-Recommendation` of the list, as this user was given it',
    rule: 'id',
  }),
  Items: Type.Array(itemId, {
    minItems: 1,
    maxItems: IMPRESSION_ITEMS_MAX,
    description: 'What was seen; items that are unknown are passed over',
  }),
  Places: Type.Optional(
    Type.Unsafe<readonly number[] | null>({
      type: ['array', 'null'],
      items: { type: 'integer', minimum: 1, maximum: 20_000 },
      description: 'Places of the items in the list, from 1; absent for 1, 2, 3 and so on',
    }),
  ),
  Timestamp: Type.Optional(
    givenText(`When it was seen; absent or "" for now. ${TIMESTAMP_FORMS}`, 'timestamp'),
  ),
});
export const ImpressionBodiesSchema = Type.Array(ImpressionBodySchema, { rule: 'session' });
/** A record of a session; a session has no user, so the user may be left out. */
export const SessionBodySchema = named('Feedback of a session', {
  ...FeedbackBodySchema.properties,
  UserId: Type.Optional(
    Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'Not looked at' }),
  ),
});
export const SessionBodiesSchema = Type.Array(SessionBodySchema, { rule: 'session' });
export const UserBodiesSchema = Type.Array(UserBodySchema, { rule: 'batch' });
export const ItemBodiesSchema = Type.Array(ItemBodySchema, { rule: 'batch' });
export const FeedbackBodiesSchema = Type.Array(FeedbackBodySchema, { rule: 'batch' });

/** Numbers of a vector, whose right number its space tells. */
const numbers = Type.Array(number(), { description: 'The numbers of the vector', rule: 'vector' });
export const VectorBodySchema = Type.Object(
  { ItemId: Type.Optional(itemId), Vector: numbers },
  { title: 'Vector to write' },
);
export const VectorSchema = named('Vector of an item', { ItemId: itemId, Vector: numbers });
export const VectorBodiesSchema = Type.Array(VectorSchema, { rule: 'batch' });

export type VectorBody = Static<typeof VectorBodySchema>;
export type UserBody = Static<typeof UserBodySchema>;
export type UserPatch = Static<typeof UserPatchSchema>;
export type ItemBody = Static<typeof ItemBodySchema>;
export type ItemPatch = Static<typeof ItemPatchSchema>;
export type SessionBody = Static<typeof SessionBodySchema>;
export type FeedbackBody = Static<typeof FeedbackBodySchema>;
export type ImpressionBody = Static<typeof ImpressionBodySchema>;

export const UserSchema = named('User', {
  UserId: userId,
  ...answeredFields(USER_FIELDS),
});

export const ItemSchema = named('Item', {
  ItemId: itemId,
  ...answeredFields(ITEM_FIELDS),
});

export const FeedbackSchema = named('Feedback', {
  FeedbackType: feedbackType,
  UserId: userId,
  ItemId: itemId,
  Timestamp: Type.String({ description: 'When it happened, RFC 3339 UTC', rule: 'written' }),
  Comment: text('Free text'),
  Value: Type.Optional(number('As it was written; absent for 0')),
  Count: Type.Optional(Type.Integer({ minimum: 1, description: 'With `details`: how often it happened' })),
  LastTimestamp: Type.Optional(text('With `details`: when it happened last')),
  ValueSum: Type.Optional(number('With `details`: of all events; absent for 0')),
  Occurrences: Type.Optional(
    Type.Array(
      Type.Object({
        Timestamp: text(),
        Value: Type.Optional(number()),
        Count: count('Events that are put together here; 0 for one taken back'),
      }),
      { description: 'With `details`: its events, where there are several' },
    ),
  ),
});
export const FeedbackListSchema = Type.Array(FeedbackSchema);

export const ImpressionSchema = named('Impression', {
  UserId: userId,
  Placement: text(),
  Variant: text('Of an experiment; "" for none'),
  Generation: count('Of the model that served; 0 for none'),
  ListTimestamp: Type.String({ description: 'When the list was answered, RFC 3339 UTC', rule: 'written' }),
  Timestamp: Type.String({
    description: 'When it was seen, or the feedback came, RFC 3339 UTC',
    rule: 'written',
  }),
  Items: Type.Array(itemId),
  Places: Type.Array(Type.Integer({ minimum: 1 }), { description: 'From 1; empty where feedback came' }),
  FeedbackType: Type.Optional(text('Of feedback that named the list')),
  Chances: Type.Optional(
    Type.Array(number(), {
      description: 'Chance with which each item stood at its place, where exploration chose some',
    }),
  ),
});
export const ImpressionsSchema = Type.Array(ImpressionSchema);
export type Impression = Static<typeof ImpressionSchema>;

const ScoredEntrySchema = named('Scored entry', {
  Id: text('Identifier of an item or a user'),
  Score: number('Higher is better'),
});
export const ScoredEntriesSchema = Type.Array(ScoredEntrySchema);
export const DetailedListSchema = named('List with details', {
  Items: Type.Array(
    Type.Object({
      Id: text(),
      Score: number('Higher is better'),
      Source: text('What it comes from, as `X-Furze-Source` names it'),
      Reason: text('The largest part of the score in words, or what it comes from'),
    }),
  ),
  Seed: Type.Optional(text('The item that the list goes by')),
});
export type DetailedList = Static<typeof DetailedListSchema>;
export const ItemIdsSchema = Type.Array(text('Identifier of an item'));

export const ExplanationSchema = named('Explanation', {
  UserId: text(),
  ItemId: text(),
  Recommended: flag('Whether the item stands among the first n'),
  Rank: Type.Integer({ minimum: -1, description: 'Its place from 0, or -1' }),
  WhyNot: Type.Optional(
    Type.Object({
      Reason: oneOf('hidden', 'out_of_date', 'read', 'not_in_category', 'below_the_cut'),
      ReadAt: Type.Optional(text('When the user first read it')),
    }),
  ),
  Score: Type.Optional(
    number(
      'What the ranking gives it: the probability of positive feedback where click-through is predicted, else the collaborative score',
    ),
  ),
  CutScore: Type.Optional(number('That of the last of the first n, where the item is not among them')),
  Lift: Type.Optional(
    Type.Object(
      {
        Likes: Type.Array(text('An item that the user would have to like, tried')),
        People: Type.Optional(
          Type.Integer({
            minimum: 1,
            description: 'More people who would have to like it now, all else as it is',
          }),
        ),
      },
      { description: 'What would bring an item that is below the cut among the first n, each by itself' },
    ),
  ),
  Parts: Type.Optional(
    Type.Array(Type.Object({ Name: text(), Meaning: text(), Score: number() }), {
      description: 'What the log-odds of the score are the sum of; below 0 what speaks against the item',
    }),
  ),
  Recommenders: Type.Array(
    Type.Object({ Name: text(), Score: number() }, { description: 'One in use that can score the item' }),
  ),
  Contributions: Type.Array(
    Type.Object({
      ItemId: text("One of the user's own items"),
      Score: number('What it adds to the log-odds of the score, or to the collaborative score'),
      Share: number('The same as a part of all pull, -1 to 1'),
    }),
  ),
  Titles: Type.Record(Type.String(), Type.String(), {
    description: 'Comments of the items named here by id, empty where there is none',
  }),
});
export type Explanation = Static<typeof ExplanationSchema>;

export const WriteResultSchema = named('Write result', {
  RowAffected: count('Rows inserted, overwritten or removed'),
});

const cursor = text('Passed back as `cursor` for the next page; "" on the last page');
export const UsersPageSchema = named('Users page', { Cursor: cursor, Users: Type.Array(UserSchema) });
export const ItemsPageSchema = named('Items page', { Cursor: cursor, Items: Type.Array(ItemSchema) });
export const VectorsPageSchema = named('Vectors page', { Cursor: cursor, Vectors: Type.Array(VectorSchema) });
export const FeedbackPageSchema = named('Feedback page', { Cursor: cursor, Feedback: FeedbackListSchema });

export const HealthReportSchema = named('Health report', {
  CacheStoreConnected: flag(),
  CacheStoreError: text('"" when all is well'),
  DataStoreConnected: flag(),
  DataStoreError: text('"" when all is well'),
  Ready: flag('True when requests can be handled'),
});
export type HealthReport = Static<typeof HealthReportSchema>;

export const ProblemSchema = Type.Object(
  {
    type: text('Where the code is described, relative to this server'),
    title: text(),
    status: integer(),
    detail: text('One sentence on this case'),
    code: text('Stable name of the error'),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          path: text('JSON pointer into the body, or the name of the parameter'),
          message: text(),
        }),
      ),
    ),
  },
  { title: 'Problem', description: 'RFC 9457 problem details' },
);
export type Problem = Static<typeof ProblemSchema>;

/** The shapes that the OpenAPI document names and refers to. */
export const NAMED_SCHEMAS: Readonly<Record<string, TSchema>> = {
  User: UserSchema,
  UserBody: UserBodySchema,
  UserPatch: UserPatchSchema,
  Item: ItemSchema,
  ItemBody: ItemBodySchema,
  ItemPatch: ItemPatchSchema,
  Vector: VectorSchema,
  VectorBody: VectorBodySchema,
  Feedback: FeedbackSchema,
  FeedbackBody: FeedbackBodySchema,
  SessionBody: SessionBodySchema,
  ImpressionBody: ImpressionBodySchema,
  Impression: ImpressionSchema,
  ScoredEntry: ScoredEntrySchema,
  Explanation: ExplanationSchema,
  WriteResult: WriteResultSchema,
  UsersPage: UsersPageSchema,
  ItemsPage: ItemsPageSchema,
  FeedbackPage: FeedbackPageSchema,
  HealthReport: HealthReportSchema,
  Problem: ProblemSchema,
  ...ADMIN_SCHEMAS,
};
