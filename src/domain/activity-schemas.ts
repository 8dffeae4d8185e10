import Type, { type Static } from 'typebox';
import { ItemCardSchema, titled } from './admin-schemas.ts';
import { count, flag, integer, named, number, text, time } from './schema-helpers.ts';

/** The shapes of what admin routes answer of users and items that are active. */

export const RecentEventSchema = named('Feedback that came lately', {
  Number: integer('Counts up with each record'),
  UserId: text(),
  ...titled,
  FeedbackType: text(),
  Positive: flag(),
  Timestamp: time,
  CameAt: time,
  Answer: Type.Optional(
    Type.Object(
      {
        Items: Type.Array(ItemCardSchema),
        New: Type.Optional(
          Type.Array(text(), {
            description: 'Ids of those that the list of before did not show; absent without one',
          }),
        ),
      },
      { description: 'In a stream: what the user is recommended since' },
    ),
  ),
});
export type RecentEvent = Static<typeof RecentEventSchema>;
export const RecentEventsSchema = named('The latest feedback', {
  Feedback: Type.Array(RecentEventSchema, { description: 'As it came, newest first' }),
  Missed: Type.Optional(integer('In a stream: records that came since the event before and are not told')),
});
export type RecentEventsView = Static<typeof RecentEventsSchema>;

export const ActiveUsersSchema = named('Users lately active', {
  Users: Type.Array(
    Type.Object({
      ...{ UserId: text(), Labels: Type.Array(text()), Comment: text(), FeedbackCount: count() },
      LastSeen: text('Latest time of feedback, RFC 3339; "" without any'),
    }),
    { description: 'Who was active last first; of those with feedback among the latest thousand records' },
  ),
});
export type ActiveUsersView = Static<typeof ActiveUsersSchema>;

const byDay = Type.Array(count());
export const DailyFiguresSchema = named('The last days', {
  Times: Type.Array(number(), { description: 'When each day began (UTC), seconds since the epoch' }),
  Feedback: Type.Record(text(), byDay, {
    description: 'Records by type, on the day of their own time',
  }),
  ActiveUsers: Type.Array(count(), { description: 'Users with feedback of that day; an estimate, 3 % off' }),
  Counts: Type.Record(text(), byDay, {
    description:
      'new_users, new_items, answers, answers without_list, and those to which each fallback added (filled_by_popular)',
  }),
});
export type DailyFiguresView = Static<typeof DailyFiguresSchema>;

export const PopularItemsSchema = named('Items by likes', {
  Items: Type.Array(
    Type.Object({
      ...titled,
      Likes: number('Positive feedback within `[recommend.popular] popular_window`'),
      Categories: Type.Array(text()),
      Timestamp: text(),
    }),
    { description: 'Most liked first; hidden items are left out' },
  ),
});
export type PopularItemsView = Static<typeof PopularItemsSchema>;
