import { describe, expect, it } from 'vitest';
import { guess, timeUnit } from '../../src/exchange/columns.ts';
import { type Plan, recordOf } from '../../src/exchange/records.ts';

describe('the guess of a file', () => {
  it.each<[string, string[][], object]>([
    [
      'feedback by names',
      [['userId', 'movieId', 'rating', 'timestamp']],
      { kind: 'feedback', hasHeader: true, mapping: { UserId: 0, ItemId: 1, Rating: 2, Timestamp: 3 } },
    ],
    [
      'feedback with types',
      [['visitor_id', 'event', 'item-id', 'ts']],
      { kind: 'feedback', hasHeader: true, mapping: { UserId: 0, FeedbackType: 1, ItemId: 2, Timestamp: 3 } },
    ],
    [
      'items',
      [['movieId', 'title', 'genres']],
      { kind: 'items', hasHeader: true, mapping: { ItemId: 0, Comment: 1, Categories: 2 } },
    ],
    [
      'items whose key is called id',
      [['id', 'name', 'category']],
      { kind: 'items', hasHeader: true, mapping: { ItemId: 0, Comment: 1, Categories: 2 } },
    ],
    [
      'times by the end of the name and what the column holds',
      [
        ['Delivery date', 'InvoiceDate', 'Customer ID', 'StockCode', 'price at'],
        ['next week', '2010-12-01 08:26', '17850', '85123A', '2.55'],
      ],
      { kind: 'feedback', hasHeader: true, mapping: { Timestamp: 1, UserId: 2, ItemId: 3 } },
    ],
    [
      'times written in capitals',
      [
        ['user', 'item', 'purchasedAt'],
        ['ann', 'tea', '1700000000'],
      ],
      { kind: 'feedback', hasHeader: true, mapping: { UserId: 0, ItemId: 1, Timestamp: 2 } },
    ],
    ['users', [['user', 'tags']], { kind: 'users', hasHeader: true, mapping: { UserId: 0, Labels: 1 } }],
    [
      'ratings without names',
      [
        ['196', '242', '3', '881250949'],
        ['186', '302', '3', '891717742'],
      ],
      { kind: 'feedback', hasHeader: false, mapping: { UserId: 0, ItemId: 1, Rating: 2, Timestamp: 3 } },
    ],
    [
      'events without names',
      [['ann', 'film', 'buy', '2024-05-01']],
      {
        kind: 'feedback',
        hasHeader: false,
        mapping: { UserId: 0, ItemId: 1, FeedbackType: 2, Timestamp: 3 },
      },
    ],
  ])('knows %s', (_, rows, expected) => {
    expect(guess(rows)).toEqual(expected);
  });

  it('tells times by the whole column', () => {
    expect(timeUnit(['881250949', '891717742'])).toBe('seconds');
    // The first of these alone would be seconds of a far future.
    expect(timeUnit(['99999999999', '1700000000000'])).toBe('milliseconds');
    expect(timeUnit(['2024-05-01', '2024-05-01T10:00:00Z', ''])).toBe('date');
    expect(timeUnit(['5', '4'])).toBeUndefined();
    expect(timeUnit(['yesterday'])).toBeUndefined();
  });
});

describe('the record of a row', () => {
  const plan: Plan = {
    kind: 'feedback',
    mapping: { UserId: 0, ItemId: 1, Rating: 2, Timestamp: 3 },
    timeUnit: 'seconds',
    type: 'like',
    ratingMin: 4,
    lowType: 'read',
    separator: '|',
  };

  it('has the type that its rating means', () => {
    const typeOf = (rating: string) => recordOf(['u', 'i', rating, '0'], plan);
    expect(typeOf('4')).toMatchObject({ record: { FeedbackType: 'like' } });
    expect(typeOf('3.5')).toMatchObject({ record: { FeedbackType: 'read' } });
    expect(typeOf('good')).toEqual({ refusal: '"good" is no rating' });
    expect(typeOf('')).toMatchObject({ record: { FeedbackType: 'like' } });
  });

  it('is refused with a reason where it cannot be stored', () => {
    expect(recordOf(['', 'i', '5', '0'], plan)).toEqual({ refusal: 'the user id is empty' });
    expect(recordOf(['u', ' ', '5', '0'], plan)).toEqual({ refusal: 'the item id is empty' });
    expect(recordOf(['u', 'a/b', '5', '0'], plan)).toEqual({ refusal: 'the item id holds a slash' });
    expect(recordOf(['u', 'i', '5', 'soon'], plan)).toEqual({ refusal: '"soon" is no time' });
    expect(recordOf(['u', 'i', '5', '1e300'], plan)).toEqual({ refusal: '"1e300" is no time' });
  });

  it('of an item has its categories apart', () => {
    const mapping = { ItemId: 0, Comment: 1, Categories: 2, IsHidden: 3 };
    const items: Plan = { ...plan, kind: 'items', mapping, timeUnit: undefined };
    expect(recordOf(['1', 'Heat, 1995', 'Crime| Action', 'TRUE'], items)).toEqual({
      record: {
        ItemId: '1',
        IsHidden: true,
        Categories: ['Crime', 'Action'],
        Timestamp: '',
        Labels: [],
        Comment: 'Heat, 1995',
      },
    });
    expect(recordOf(['1', '', '(no genres listed)', ''], items)).toMatchObject({
      record: { Categories: [] },
    });
  });
});
