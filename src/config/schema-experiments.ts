import { type Static, Type } from 'typebox';
import { choice, feedbackTypes, integer, number, text } from './schema-types.ts';

const variant = Type.Object(
  {
    name: Type.String({ pattern: '^[A-Za-z][\\w-]*$' }),
    share: Type.Number({ exclusiveMinimum: 0, maximum: 1 }),
    override: Type.Optional(Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object' })),
  },
  { additionalProperties: false },
);

export const experiment = Type.Object({
  placement: text('').means('The placement whose lists are varied.'),
  method: choice('split', ['split', 'interleave', 'estimate']).means(
    '"split" shows each user one variant; "interleave" shows all users lists of both of two, entry by entry; "estimate" shows the first alone and tells of the second by what exploration shows of it.',
  ),
  variants: Type.Array(variant, {
    default: [],
    maxItems: 10,
    form: 'a list of variants such as { name = "few", share = 0.5, override = { max_per_label = 1 } }',
    description:
      'The variants, the one that others are compared with first: a name, a share of the users, all shares together 1, and keys of the placement that are other than there.',
  }),
  traffic: number(1, 0, 1).means('Share of all users who take part.'),
  start: text('').means(
    'Lists of before this time do not count, such as "2030-01-31T18:00:00Z"; empty for all that are kept.',
  ),
  measure: text('').means(
    'The feedback type that decides, or what makes it positive, as in "rating>=4"; empty for any that is not of a read type.',
  ),
  counts: choice('users', ['users', 'feedback', 'value']).means(
    'Of the feedback that came of the lists: "users" the share of users with any, "feedback" how many a user, "value" the sum of Value a user.',
  ),
  guardrails: feedbackTypes(
    'Feedback types that must not fall: the share of users with any, of whichever list it came.',
  ),
  horizon_hours: integer(24, 1, 2160).means(
    'Hours after a user first saw a list whose feedback counts. A user counts once they are over.',
  ),
  plan_users: integer(10_000, 200, 1_000_000_000).means(
    'Users for whom the interval is to be tightest: about how many will take part.',
  ),
  alpha: number(0.05, 0.0001, 0.5).means('Chance of calling a difference certain where there is none.'),
});

/** Tables by the name of an experiment. */
export const experiments = Type.Unsafe<Readonly<Record<string, Static<typeof experiment>>>>({
  type: 'object',
  additionalProperties: experiment,
  default: {},
  description: 'Variants of placements that are compared on users; see docs/experiments.md.',
});
