import { type Static, Type } from 'typebox';
import { RECOMMENDERS, type RecommenderName } from '../domain/recommenders.ts';
import { bool, choice, duration, feedbackTypes, integer, number } from './schema-types.ts';

/** Kinds of lists that a placement may show; docs/placements.md says what each is. */
export const PLACEMENT_KINDS = [
  ...(['for-you', 'because', 'similar', 'together'] as const),
  ...(['trending', 'new', 'continue', 'again'] as const),
] as const;

const PLACES_MAX = 10_000;
const ENTRIES_MAX = 1000;

const names = (description: string) =>
  Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    uniqueItems: true,
    maxItems: ENTRIES_MAX,
    description,
  });

const pin = Type.Object(
  {
    item: Type.String({ minLength: 1 }),
    place: Type.Integer({ minimum: 1, maximum: PLACES_MAX }),
    until: Type.Optional(Type.String({ minLength: 1 })),
  },
  { additionalProperties: false },
);

const boost = Type.Object(
  { label: Type.String({ minLength: 1 }), factor: Type.Number({ minimum: 0.001, maximum: 1000 }) },
  { additionalProperties: false },
);

const recommenders = (description: string) =>
  Type.Array(Type.Unsafe<RecommenderName>(Type.String({ enum: [...RECOMMENDERS] })), {
    default: [],
    uniqueItems: true,
    description,
  });

export const placement = Type.Object({
  kind: choice('for-you', PLACEMENT_KINDS).means(
    'The list that is shown: "for-you"; "because" of an item that the user liked; "similar" to an item, for the user; often bought "together" with an item; "trending"; "new" for the user; to "continue" what was begun; to buy "again".',
  ),
  recommenders: recommenders(
    'Recommenders of a list "for-you", in place of all that is learned together: their lists are put together by places.',
  ),
  discovery: number(-1, -1, 1).means(
    'As [recommend] discovery, for the lists of this placement; below 0 for that one. The parameter of a question goes first.',
  ),
  new_share: number(0, 0, 1).means(
    'Least share of new items, along the whole list, as far as there are any.',
  ),
  new_days: integer(30, 1, 36_500).means('Days after its Timestamp for which an item is new.'),
  basket_hours: integer(24, 1, 87_600).means(
    'With kind "together": longest time between two likes of a user that are of one basket, hours.',
  ),
  begun: feedbackTypes('With kind "continue": feedback types that say that something was begun.'),
  finished: feedbackTypes('With kind "continue": feedback types after which there is nothing to continue.'),
  categories: names('Only items in all of these categories.'),
  filter: Type.Unsafe<Readonly<Record<string, unknown>>>({
    type: 'object',
    default: {},
    description:
      'Only items for which it is true: a table of conditions, as in { and = [{ label = "new" }, { not = { category = { in = ["toys", "games"] } } }, { age_days = { lt = 30 } }] }; see docs/placements.md.',
  }),
  boost: Type.Array(boost, {
    default: [],
    maxItems: 4,
    form: 'a list of at most 4 boosts such as { label = "new", factor = 2 }, factors from 0.001 to 1000',
    description: 'Labels by which the scores of items that have them are multiplied.',
  }),
  exclude: names('Ids of items that are never shown here.'),
  pins: Type.Array(pin, {
    default: [],
    maxItems: ENTRIES_MAX,
    form: 'a list of pins such as { item = "film-1", place = 3, until = "2030-01-31T18:00:00Z" }',
    description:
      'Items with a place of their own, from 1, until a time or for good. One that is hidden, or that the user has read, is left out.',
  }),
  max_per_label: integer(0, 0, PLACES_MAX).means(
    'Most entries of an answer with the same label; 0 for any number.',
  ),
  max_per_category: integer(0, 0, PLACES_MAX).means(
    'Most entries of an answer in the same category; 0 for any number.',
  ),
  cap_window: integer(0, 0, 1000).means(
    'Entries in a row, anywhere in an answer, within which these two hold: 2 of a label in 10; 0 for the whole answer.',
  ),
  explore: number(0, 0, 0.5).means(
    'Share of the places that items get which were shown little here; at most one place of a list, and 0 for none.',
  ),
  length: integer(0, 0, PLACES_MAX).means('Most entries in all, however many are asked for; 0 for no limit.'),
  tired_after: integer(0, 0, 1000).means(
    'An item that the user has seen in this many lists of this placement without feedback rests; 0 for never. Needs impressions.',
  ),
  rotate: bool(false).means(
    'Items that the user has seen here without feedback sink by a discount that is learned from impressions; until enough is known, tired_after holds. Needs impressions.',
  ),
  tired_hours: integer(168, 1, 8760).means(
    'Hours for which such an item rests or sinks: lists that were seen longer ago do not count.',
  ),
  fallback: recommenders(
    'Recommenders asked in this order once the list is used up; none for those of [recommend.online] fallback_recommend, and for no others where kind is not "for-you" or "new".',
  ),
});

/** Tables by the name of a placement. */
export const placements = Type.Unsafe<Readonly<Record<string, Static<typeof placement>>>>({
  type: 'object',
  additionalProperties: placement,
  default: {},
  description: 'Named places on pages with rules of their own; see docs/placements.md.',
});

/** The keys of `[attribution]`: how long it is kept what was shown, and to which list feedback belongs. */
export const attributionKeys = {
  window: duration('24h').means(
    'Feedback that names no recommendation belongs to the last list of a placement with the item that the user was shown within this time before.',
  ),
  retention_days: integer(90, 1, 3650).means('Days for which it is kept what users were shown.'),
  max_mb: integer(256, 1, 2 ** 20).means(
    'Most that is kept of what users were shown, in MiB; beyond it the oldest goes.',
  ),
};
