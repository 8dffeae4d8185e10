import { describe, expect, it } from 'vitest';
import { parseTimestamp } from '../../src/domain/rfc3339.ts';
import { type Plan, recordOf } from '../../src/exchange/rows-to-records.ts';

const PLAN: Plan = {
  kind: 'feedback',
  mapping: { UserId: 0, ItemId: 1, Timestamp: 2 },
  timeForm: 'date',
  type: 'like',
  ratingMin: undefined,
  lowType: 'read',
  separator: '|',
};

describe('the time of a record', () => {
  it.each([
    ['as Gorse exports it', '2021-05-01 06:07:08 +0000 UTC', '2021-05-01T06:07:08Z'],
    [
      'as Gorse exports it, to the nanosecond',
      '2021-05-01 06:07:08.250000001 +0000 UTC',
      '2021-05-01T06:07:08.25Z',
    ],
    ['as Go prints another zone', '2021-05-01 06:07:08 +0530 IST', '2021-05-01T00:37:08Z'],
    ['as PostgreSQL exports it', '2021-05-01 06:07:08.25+00', '2021-05-01T06:07:08.25Z'],
    ['as MySQL exports it', '2021-05-01 06:07:08', '2021-05-01T06:07:08Z'],
    ['of RFC 3339', '2021-05-01T06:07:08-01:00', '2021-05-01T07:07:08Z'],
    ['a date alone', '2021-05-01', '2021-05-01T00:00:00Z'],
  ])('is understood %s', (_, text, expected) => {
    const made = recordOf(['ann', 'tea', text], PLAN);
    expect(parseTimestamp((made as { record: { Timestamp: string } }).record.Timestamp)).toBe(
      Date.parse(expected),
    );
  });
});

describe('entities of HTML', () => {
  const items: Plan = {
    ...PLAN,
    kind: 'items',
    mapping: { ItemId: 0, Comment: 1, Categories: 2 },
    separator: ';',
  };
  const row = ['a&amp;b', '6&quot; pan &#8211; caf&eacute; &amp; more, AT&T', 'Tea &amp; Cups;Men&#39;s'];

  it('are read in texts for people, and neither in ids nor where a furze has exported the file', () => {
    expect(recordOf(row, items)).toMatchObject({
      record: {
        ItemId: 'a&amp;b',
        Comment: '6" pan – café & more, AT&T',
        Categories: ['Tea & Cups', "Men's"],
      },
    });
    expect(recordOf(row, { ...items, separator: '|', keepsBlanks: true })).toMatchObject({
      record: { Comment: row[1], Categories: [row[2]] },
    });
    const feedback = { ...PLAN, mapping: { UserId: 0, ItemId: 1, Comment: 2 } };
    expect(recordOf(['&lt;ann&gt;', 'tea', '&lt;3'], feedback)).toMatchObject({
      record: { UserId: '&lt;ann&gt;', Comment: '<3' },
    });
  });
});
