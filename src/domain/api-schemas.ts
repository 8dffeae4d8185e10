import Type, { type Static, type TOptional, type TSchema, type TUnsafe } from 'typebox';
import { ADMIN_SCHEMAS } from './admin-schemas.ts';
import { type FieldKind, type Fields, type GivenValues, ITEM_FIELDS, USER_FIELDS } from './entity-fields.ts';
import type { Json } from './labels.ts';
import { named, oneOf } from './schema-helpers.ts';

/**
 * The shapes of bodies, asked and answered. One schema serves the TypeScript type, the compiled validator and the
 * OpenAPI document. In requests every optional field may also be `null`, which existing clients send for "not given",
 * and fields that are not named here are ignored.
 */
/** A `rule` is a name in `src/http/openapi/openapi.ts`, for the document alone. */
const text = (description: string, rule: 'comment' | 'timestamp') =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], description, rule });
const texts = (description: string) =>
  Type.Unsafe<readonly string[] | null>({
    type: ['array', 'null'],
    items: { type: 'string' },
    description,
    rule: 'texts',
  });
const flag = (description: string) => Type.Unsafe<boolean | null>({ type: ['boolean', 'null'], description });
const labels = (description: string) =>
  Type.Unsafe<Json>({
    description: `${description}. Usually a list of texts; any JSON is kept and given back, and the texts in it are compared`,
  });
const strings = (description: string) => Type.Array(Type.String(), { description });

const TIMESTAMP_FORMS =
  'RFC 3339 / ISO 8601: with a zone, without one (then UTC), or a date alone (then midnight UTC)';

const GIVEN: Record<FieldKind, (description: string) => TSchema> = {
  flag,
  texts,
  labels,
  time: (description) => text(`${description}; "" for none. ${TIMESTAMP_FORMS}`, 'timestamp'),
  text: (description) => text(description, 'comment'),
};
const ANSWERED: Record<FieldKind, (description: string) => TSchema> = {
  flag: (description) => Type.Boolean({ description }),
  texts: strings,
  labels,
  time: (description) =>
    Type.String({ description: `${description}, RFC 3339 UTC; "" for none`, rule: 'written' }),
  text: (description) => Type.String({ description }),
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
  Timestamp: Type.Optional(text(`When it happened; absent or "" for now. ${TIMESTAMP_FORMS}`, 'timestamp')),
  Comment: Type.Optional(text('Free text', 'comment')),
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
  Timestamp: Type.Optional(text(`When it was seen; absent or "" for now. ${TIMESTAMP_FORMS}`, 'timestamp')),
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
const numbers = Type.Array(Type.Number(), { description: 'The numbers of the vector', rule: 'vector' });
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
  Comment: Type.String({ description: 'Free text' }),
  Value: Type.Optional(Type.Number({ description: 'As it was written; absent for 0' })),
  Count: Type.Optional(Type.Integer({ minimum: 1, description: 'With `details`: how often it happened' })),
  LastTimestamp: Type.Optional(Type.String({ description: 'With `details`: when it happened last' })),
  ValueSum: Type.Optional(Type.Number({ description: 'With `details`: of all events; absent for 0' })),
  Occurrences: Type.Optional(
    Type.Array(
      Type.Object({
        Timestamp: Type.String(),
        Value: Type.Optional(Type.Number()),
        Count: Type.Integer({
          minimum: 0,
          description: 'Events that are put together here; 0 for one taken back',
        }),
      }),
      { description: 'With `details`: its events, where there are several' },
    ),
  ),
});
export const FeedbackListSchema = Type.Array(FeedbackSchema);

export const ImpressionSchema = named('Impression', {
  UserId: userId,
  Placement: Type.String(),
  Variant: Type.String({ description: 'Of an experiment; "" for none' }),
  Generation: Type.Integer({ minimum: 0, description: 'Of the model that served; 0 for none' }),
  ListTimestamp: Type.String({ description: 'When the list was answered, RFC 3339 UTC', rule: 'written' }),
  Timestamp: Type.String({
    description: 'When it was seen, or the feedback came, RFC 3339 UTC',
    rule: 'written',
  }),
  Items: Type.Array(itemId),
  Places: Type.Array(Type.Integer({ minimum: 1 }), { description: 'From 1; empty where feedback came' }),
  FeedbackType: Type.Optional(Type.String({ description: 'Of feedback that named the list' })),
  Chances: Type.Optional(
    Type.Array(Type.Number(), {
      description: 'Chance with which each item stood at its place, where exploration chose some',
    }),
  ),
});
export const ImpressionsSchema = Type.Array(ImpressionSchema);
export type Impression = Static<typeof ImpressionSchema>;

export const ScoredEntrySchema = named('Scored entry', {
  Id: Type.String({ description: 'Identifier of an item or a user' }),
  Score: Type.Number({ description: 'Higher is better' }),
});
export const ScoredEntriesSchema = Type.Array(ScoredEntrySchema);
export const DetailedListSchema = named('List with details', {
  Items: Type.Array(
    Type.Object({
      Id: Type.String(),
      Score: Type.Number({ description: 'Higher is better' }),
      Source: Type.String({ description: 'What it comes from, as `X-Furze-Source` names it' }),
      Reason: Type.String({ description: 'The same in words' }),
    }),
  ),
  Seed: Type.Optional(Type.String({ description: 'The item that the list goes by' })),
});
export type DetailedList = Static<typeof DetailedListSchema>;
export const ItemIdsSchema = Type.Array(Type.String({ description: 'Identifier of an item' }));

export const ExplanationSchema = named('Explanation', {
  UserId: Type.String(),
  ItemId: Type.String(),
  Recommended: Type.Boolean({ description: 'Whether the item stands among the first n' }),
  Rank: Type.Integer({ minimum: -1, description: 'Its place from 0, or -1' }),
  WhyNot: Type.Optional(
    Type.Object({
      Reason: oneOf('hidden', 'out_of_date', 'read', 'not_in_category', 'below_the_cut'),
      ReadAt: Type.Optional(Type.String({ description: 'When the user first read it' })),
    }),
  ),
  Score: Type.Optional(
    Type.Number({
      description:
        'What the ranking gives it: the probability of positive feedback where click-through is predicted, else the collaborative score',
    }),
  ),
  CutScore: Type.Optional(
    Type.Number({ description: 'That of the last of the first n, where the item is not among them' }),
  ),
  Lift: Type.Optional(
    Type.Object(
      {
        Likes: Type.Array(Type.String({ description: 'An item that the user would have to like, tried' })),
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
    Type.Array(Type.Object({ Name: Type.String(), Meaning: Type.String(), Score: Type.Number() }), {
      description: 'What the log-odds of the score are the sum of; below 0 what speaks against the item',
    }),
  ),
  Recommenders: Type.Array(
    Type.Object(
      { Name: Type.String(), Score: Type.Number() },
      { description: 'One in use that can score the item' },
    ),
  ),
  Contributions: Type.Array(
    Type.Object({
      ItemId: Type.String({ description: "One of the user's own items" }),
      Score: Type.Number({
        description: 'What it adds to the log-odds of the score, or to the collaborative score',
      }),
      Share: Type.Number({ description: 'The same as a part of all pull, -1 to 1' }),
    }),
  ),
});
export type Explanation = Static<typeof ExplanationSchema>;

export const WriteResultSchema = named('Write result', {
  RowAffected: Type.Integer({ minimum: 0, description: 'Rows inserted, overwritten or removed' }),
});

const cursor = Type.String({ description: 'Passed back as `cursor` for the next page; "" on the last page' });
export const UsersPageSchema = named('Users page', { Cursor: cursor, Users: Type.Array(UserSchema) });
export const ItemsPageSchema = named('Items page', { Cursor: cursor, Items: Type.Array(ItemSchema) });
export const VectorsPageSchema = named('Vectors page', { Cursor: cursor, Vectors: Type.Array(VectorSchema) });
export const FeedbackPageSchema = named('Feedback page', { Cursor: cursor, Feedback: FeedbackListSchema });

export const HealthReportSchema = named('Health report', {
  CacheStoreConnected: Type.Boolean(),
  CacheStoreError: Type.String({ description: '"" when all is well' }),
  DataStoreConnected: Type.Boolean(),
  DataStoreError: Type.String({ description: '"" when all is well' }),
  Ready: Type.Boolean({ description: 'True when requests can be handled' }),
});
export type HealthReport = Static<typeof HealthReportSchema>;

export const ProblemSchema = Type.Object(
  {
    type: Type.String({ description: 'Where the code is described, relative to this server' }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: 'One sentence on this case' }),
    code: Type.String({ description: 'Stable name of the error' }),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          path: Type.String({ description: 'JSON pointer into the body, or the name of the parameter' }),
          message: Type.String(),
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
