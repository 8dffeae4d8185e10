import { describe, expect, it, test } from 'vitest';
import { detectFormat } from '../../src/exchange/file-format.ts';
import { guess } from '../../src/exchange/guess-columns.ts';
import { likelyKey } from '../../src/exchange/keys-by-content.ts';
import { hasDecimalCommas, type Plan, recordOf } from '../../src/exchange/rows-to-records.ts';
import { readTime, type TimeForm, timeForm } from '../../src/exchange/time-formats.ts';

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
      'events whose type says that they are events',
      [
        ['type', 'profile.id', 'ProductID', 'metric_name'],
        ['event', 'a', 'P1', 'Viewed Product'],
        ['event', 'b', 'P2', 'Placed Order'],
        ['event', 'b', 'P1', 'Viewed Product'],
      ],
      { kind: 'feedback', hasHeader: true, mapping: { UserId: 1, ItemId: 2, FeedbackType: 3 } },
    ],
    [
      'purchases beside which each has a state',
      [
        ['type', 'user_id', 'item_id', 'status'],
        ['purchase', 'a', 'P1', 'ordered'],
        ['purchase', 'b', 'P2', 'ordered'],
      ],
      { kind: 'feedback', hasHeader: true, mapping: { FeedbackType: 0, UserId: 1, ItemId: 2 } },
    ],
    [
      'items',
      [['movieId', 'title', 'genres']],
      { kind: 'items', hasHeader: true, mapping: { ItemId: 0, Comment: 1, Categories: 2 } },
    ],
    [
      'feedback by German names',
      [['Kunde', 'Artikel', 'Menge', 'Einzelpreis', 'Datum']],
      { kind: 'feedback', hasHeader: true, mapping: { UserId: 0, ItemId: 1, Value: 2, Timestamp: 4 } },
    ],
    [
      'items by German names',
      [['Artikelnummer', 'Bezeichnung', 'Warengruppe', 'Preis']],
      { kind: 'items', hasHeader: true, mapping: { ItemId: 0, Comment: 1, Categories: 2 } },
    ],
    [
      'names with accents',
      [['Client', 'Produit', 'Quantité']],
      { kind: 'feedback', hasHeader: true, mapping: { UserId: 0, ItemId: 1, Value: 2 } },
    ],
    [
      'a number with an umlaut',
      [['Kunde', 'Artikel', 'Stückzahl']],
      { kind: 'feedback', hasHeader: true, mapping: { UserId: 0, ItemId: 1, Value: 2 } },
    ],
    [
      'keys before names and visits, and a date before a time of day',
      [['session_id', 'client', 'Time', 'Date', 'type', 'event', 'user_id', 'product', 'product_code']],
      {
        kind: 'feedback',
        hasHeader: true,
        mapping: { UserId: 6, ItemId: 8, FeedbackType: 5, Timestamp: 3, Comment: 7 },
      },
    ],
    [
      'numbers of articles before their names',
      [['Artikel', 'Artikelnummer', 'Kunde', 'Kundennummer', 'Datum']],
      { kind: 'feedback', hasHeader: true, mapping: { UserId: 3, ItemId: 1, Timestamp: 4, Comment: 0 } },
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
    [
      'orders of a shop',
      [
        ['order_no', 'customer_email', 'sku', 'ordered_at', 'qty', 'amount'],
        ['1', 'a@b.c', 'tea', '12/1/2010 8:26', '1', '2.5'],
      ],
      { kind: 'feedback', hasHeader: true, mapping: { UserId: 1, ItemId: 2, Timestamp: 3, Value: 4 } },
    ],
    [
      'a key before an address',
      [['customer_email', 'cust_id', 'product_sku', 'product_name']],
      { kind: 'feedback', hasHeader: true, mapping: { UserId: 1, ItemId: 2, Comment: 3 } },
    ],
    [
      'users with addresses',
      [['id', 'email', 'created_at']],
      { kind: 'users', hasHeader: true, mapping: { UserId: 0, Timestamp: 2 } },
    ],
    [
      'names of another language by the numbers under them',
      [
        ['Bezeroa', 'Salgaia', 'Zenbat'],
        ['ann', 'tea', '1,5'],
      ],
      { kind: 'feedback', hasHeader: true, mapping: {} },
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
    [
      'plays without names, which go on and on',
      [
        ['ann', 'song-1', '1'],
        ['bob', 'song-1', '2139'],
      ],
      { kind: 'feedback', hasHeader: false, mapping: { UserId: 0, ItemId: 1, Value: 2 } },
    ],
    [
      'plays that are mostly one',
      Array.from({ length: 20 }, (_, at) => ['ann', `song-${at}`, at < 12 ? '1' : String(at)]),
      { kind: 'feedback', hasHeader: false, mapping: { UserId: 0, ItemId: 1, Value: 2 } },
    ],
    [
      'ratings without names of a scale up to 100',
      [
        ['ann', 'film-1', '1'],
        ['ann', 'film-2', '85'],
        ['bob', 'film-1', '100'],
        ['bob', 'film-2', '40'],
      ],
      { kind: 'feedback', hasHeader: false, mapping: { UserId: 0, ItemId: 1, Rating: 2 } },
    ],
    [
      'visits without names, with the place on a map',
      [
        ['0', '2010-10-19T23:55:27Z', '30.2359091167', '-97.7951395833', '22847'],
        ['0', '2010-10-18T22:17:43Z', '30.2691029532', '-97.7493953705', '420315'],
      ],
      { kind: 'feedback', hasHeader: false, mapping: { UserId: 0, Timestamp: 1, ItemId: 4 } },
    ],
    [
      'clicks without names, with a category that nobody has filled in',
      [
        ['1', '2014-04-07T10:51:09.277Z', '214536502', '0'],
        ['1', '2014-04-07T10:54:09.868Z', '214536500', '0'],
      ],
      { kind: 'feedback', hasHeader: false, mapping: { UserId: 0, Timestamp: 1, ItemId: 2 } },
    ],
    [
      'rows without names that are numbered',
      Array.from({ length: 20 }, (_, at) => [String(at + 7), `user-${at % 4}`, `item-${at % 5}`, '4']),
      { kind: 'feedback', hasHeader: false, mapping: { UserId: 1, ItemId: 2, Rating: 3 } },
    ],
    [
      'ratings without names of users who are numbered and came once',
      Array.from({ length: 20 }, (_, at) => [String(at + 1), `item-${at % 5}`, String(1 + (at % 5))]),
      { kind: 'feedback', hasHeader: false, mapping: { UserId: 0, ItemId: 1, Rating: 2 } },
    ],
    [
      'ratings that are called after what is rated',
      [
        ['User-ID', 'ISBN', 'Book-Rating'],
        ['276725', '034545104X', '0'],
        ['276726', '034545104X', '8'],
      ],
      { kind: 'feedback', hasHeader: true, mapping: { UserId: 0, ItemId: 1, Rating: 2 } },
    ],
    [
      'plays whose product is that which played them',
      [
        ['date', 'user', 'product', 'title', 'rating_key'],
        ...Array.from({ length: 20 }, (_, at) => [
          String(1_700_000_000 + at),
          `u${at % 3}`,
          'Plex',
          `Film ${at % 6}`,
          String(4000 + (at % 6)),
        ]),
      ],
      { kind: 'feedback', hasHeader: true, mapping: { UserId: 1, ItemId: 4, Timestamp: 0, Comment: 3 } },
    ],
    [
      'plays with the day on which their record was made',
      [['DateCreated', 'UserId', 'ItemId', 'ItemName', 'PlayDuration']],
      { kind: 'feedback', hasHeader: true, mapping: { Timestamp: 0, UserId: 1, ItemId: 2, Comment: 3 } },
    ],
    [
      'orders with what all think of a product',
      [
        ['customer_id', 'product_id', 'product_rating'],
        ['ann', 'tea', '4.1'],
        ['bob', 'tea', '4.1'],
        ['bob', 'ale', '3.9'],
      ],
      { kind: 'feedback', hasHeader: true, mapping: { UserId: 0, ItemId: 1 } },
    ],
    [
      'reviews whose users are names of profiles',
      [['review_time', 'review_overall', 'review_profilename', 'beer_name', 'beer_beerid']],
      {
        kind: 'feedback',
        hasHeader: true,
        mapping: { UserId: 2, ItemId: 4, Rating: 1, Comment: 3 },
      },
    ],
  ])('knows %s', (_, rows, expected) => {
    expect(guess(rows)).toEqual(expected);
  });

  it('tells times by the whole column', () => {
    expect(timeForm(['881250949', '891717742'])).toBe('seconds');
    // The first of these alone would be seconds of a far future.
    expect(timeForm(['99999999999', '1700000000000'])).toBe('milliseconds');
    expect(timeForm(['2024-05-01', '2024-05-01T10:00:00Z', ''])).toBe('date');
    expect(timeForm(['1700000000000000'])).toBe('microseconds');
    expect(timeForm(['5', '4'])).toBeUndefined();
    // Of two units, of which one would be taken for 1970.
    expect(timeForm(['1700000000', '1700000000000'])).toBeUndefined();
    expect(timeForm(['17000000000000000000'])).toBeUndefined();
    expect(timeForm(['yesterday'])).toBeUndefined();
  });

  it.each([
    ['month-first', ['12/1/2010 8:26', '12/13/2010 14:05']],
    ['day-first', ['01/12/2010', '13/12/2010']],
    ['day-first', ['01.12.2010 08:26']],
    ['open', ['12/1/2010 8:26', '1/12/2010']],
    ['month-first', ['12/13/10']],
    ['day-first', ['01.12.10 08:26', '02.12.10 09:00']],
    // One that is mistyped changes nothing.
    ['day-first', ['31.12.10', '12.13.10']],
    // The year may come first where it has two digits, unless there are more of the first numbers than of the last.
    ['open', ['13/12/10']],
    ['day-first', ['13/12/10', '14/12/10', '01/12/10']],
    ['open', ['21/12/13', '21/12/14', '21/12/01']],
    ['year-first', ['99/12/13', '99/12/14']],
    ['year-first', ['05', '12', '13', '14', '15', '16', '17', '18'].map((day) => `24-01-${day}`)],
    [undefined, ['99/13/12']],
    // A mistyped day is no year.
    [undefined, ['13/12/10', '14/12/10', '99/12/10']],
    [undefined, ['99/12/32']],
    [undefined, ['99/12/13', '01/12/2013']],
    [undefined, ['13/12/2010', '12/13/2010']],
    // As SAP and AS/400 write them, with zeros where there is none.
    ['date', ['20101201', '20101213', '00000000']],
    ['date', ['20101201082600']],
    ['date', ['201012010826', '201012010900']],
    ['date', ['20101201T082600Z', '20101201 08:26']],
    // Mistyped ones make no milliseconds of the others.
    [undefined, ['20101201082600', '20101201090000', '20101301082600']],
    [undefined, ['201012010826', '201012010900', '201012012400']],
    [undefined, ['20101301']],
    ['day-first', ['01.12.2010', '00.00.0000']],
    ['date', ['2010-12-01 08:26:00', '0000-00-00 00:00:00']],
    [undefined, ['2010-12-01', '12/1/2010']],
    ['date', ['2010/12/1 8:26', '1 Dec 2010', 'Wed, 01 Dec 2010 08:26:00 GMT', 'Dec 1, 2010']],
  ])('tells the order of days and months by the column: %s', (form, values) => {
    expect(timeForm(values)).toBe(form);
  });

  it.each<[string, TimeForm, string | undefined]>([
    ['12/1/2010 8:26', 'month-first', '2010-12-01T08:26:00Z'],
    ['12/1/2010 8:26', 'day-first', '2010-01-12T08:26:00Z'],
    ['1/12/10 12:05:07 AM', 'day-first', '2010-12-01T00:05:07Z'],
    ['12/1/99 12:05 p.m.', 'month-first', '1999-12-01T12:05:00Z'],
    ['01-Dec-2010', 'date', '2010-12-01'],
    ['01/Dec/2010:08:26:00 +0100', 'date', '2010-12-01T08:26:00+01:00'],
    ['Wednesday, December 1, 2010 8:26 PM', 'date', '2010-12-01T20:26:00Z'],
    ['2010/12/1', 'date', '2010-12-01'],
    ['31/12/2010', 'month-first', undefined],
    ['30/2/2010', 'day-first', undefined],
    ['2010-12-01', 'day-first', undefined],
    ['1/12/2010 13:00 PM', 'day-first', undefined],
    ['1/12/2010 soon', 'day-first', undefined],
    ['soon', 'date', undefined],
    ['20101201', 'date', '2010-12-01'],
    ['20101201082600', 'date', '2010-12-01T08:26:00Z'],
    ['20101232', 'date', undefined],
    ['01.12.2010, 08:26 Uhr', 'day-first', '2010-12-01T08:26:00Z'],
    ['01/12/2010 08h26', 'day-first', '2010-12-01T08:26:00Z'],
    ['1.12.2010 8.26.07', 'day-first', '2010-12-01T08:26:07Z'],
    ['201012010826', 'date', '2010-12-01T08:26:00Z'],
    ['24-01-15 08:26', 'year-first', '2024-01-15T08:26:00Z'],
    ['99/1/05', 'year-first', '1999-01-05'],
    ['2024-01-15', 'year-first', undefined],
    ['24-01-2015', 'year-first', undefined],
    ['20101201T082607Z', 'date', '2010-12-01T08:26:07Z'],
    ['1291191960000001', 'microseconds', '2010-12-01T08:26:00.000Z'],
    // Milliseconds in a column of seconds would be a year that no four digits write.
    ['1291191960000', 'seconds', undefined],
  ])('reads %s, %s', (text, form, expected) => {
    expect(readTime(text, form)).toBe(expected);
  });

  it('tells decimal commas by the column', () => {
    expect(hasDecimalCommas(['1,250', '12,5', '3'])).toBe(true);
    expect(hasDecimalCommas(['1,250', '3'])).toBe(false);
    expect(hasDecimalCommas(['1,250.50', '12,5'])).toBe(false);
    expect(hasDecimalCommas(['12.5'])).toBe(false);
    expect(hasDecimalCommas(['1.250,00', '3'])).toBe(true);
    expect(hasDecimalCommas(['1 250,00-'])).toBe(true);
    expect(hasDecimalCommas(['6,000', '0,500'])).toBe(true);
    // Where semicolons part the columns, commas are within numbers.
    expect([hasDecimalCommas(['6,000']), hasDecimalCommas(['6,000'], detectFormat('a;b'))]).toEqual([
      false,
      true,
    ]);
    expect(hasDecimalCommas(['1,250.50'], detectFormat('a;b'))).toBe(false);
  });

  it('tells points in thousands by two of them, or by the prices beside them', () => {
    expect(hasDecimalCommas(['1.250.000', '1.250'])).toBe(true);
    expect(hasDecimalCommas(['1.250', '3'])).toBe(false);
    expect(hasDecimalCommas(['1.250', '3'], undefined, ['k1', '1.250', '12,50'])).toBe(true);
    expect(hasDecimalCommas(['1.250', '0.5'], undefined, ['12,50'])).toBe(false);
    expect(hasDecimalCommas(['1.250'], undefined, ['12,50', '9.5'])).toBe(false);
  });
});

describe('the record of a row', () => {
  const plan: Plan = {
    kind: 'feedback',
    mapping: { UserId: 0, ItemId: 1, Rating: 2, Timestamp: 3 },
    timeForm: 'seconds',
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

  it('has a verdict for a rating alone', () => {
    expect(recordOf(['u', 'i', 'no', '0'], { ...plan, ratingMin: 1 })).toMatchObject({
      record: { FeedbackType: 'read' },
    });
    const amounts: Plan = { ...plan, mapping: { UserId: 0, ItemId: 1, Value: 2 } };
    expect(recordOf(['u', 'i', 'no'], amounts)).toEqual({ refusal: expect.stringContaining('"no"') });
  });

  it('is refused with a reason where it cannot be stored', () => {
    expect(recordOf(['', 'i', '5', '0'], plan)).toEqual({ refusal: 'the user id is empty' });
    expect(recordOf(['u', ' ', '5', '0'], plan)).toEqual({ refusal: 'the item id is empty' });
    expect(recordOf(['u', 'a/b', '5', '0'], plan)).toEqual({ refusal: 'the item id holds a slash' });
    expect(recordOf(['u', 'i', '5', 'soon'], plan)).toEqual({ refusal: '"soon" is no time' });
    expect(recordOf(['u', 'i', '5', '1e300'], plan)).toEqual({ refusal: '"1e300" is no time' });
  });

  it('has numbers and ids as bookkeeping writes them', () => {
    const columns: Plan = { ...plan, mapping: { UserId: 0, ItemId: 1, Value: 2 }, hasDecimalCommas: true };
    const numberOf = (text: string) => recordOf(['="0017"', 'i', text], columns);
    for (const [text, Value] of [
      ['12,5', 12.5],
      ['1.250,000', 1250],
      ['1.250', 1250],
      ['1.5', 1.5],
      ['1\u00a0250,5-', -1250.5],
      ['-3', -3],
    ] as const)
      expect(numberOf(text)).toMatchObject({ record: { UserId: '0017', Value } });
    expect(numberOf('1,2,3')).toEqual({ refusal: '"1,2,3" is no value' });
    const exported = recordOf(['="0017"', 'i', '1'], { ...columns, keepsBlanks: true });
    expect(exported).toMatchObject({ record: { UserId: '="0017"' } });
    const dated: Plan = { ...plan, mapping: { UserId: 0, ItemId: 1, Timestamp: 2 }, timeForm: 'day-first' };
    const zeros = ['u', 'i', '00.00.0000'];
    expect(recordOf(zeros, { ...dated, missingTime: 'now' })).toMatchObject({ record: { Timestamp: '' } });
    expect(recordOf(zeros, dated)).toEqual({ refusal: expect.stringMatching(/^no time/) });
  });

  it('takes commas before a point, and two of them, for those between thousands', () => {
    const columns: Plan = { ...plan, mapping: { UserId: 0, ItemId: 1, Value: 2 } };
    const numberOf = (text: string) => recordOf(['u', 'i', text], columns);
    expect(numberOf('1,250.50-')).toMatchObject({ record: { Value: -1250.5 } });
    expect(numberOf('1,250,000')).toMatchObject({ record: { Value: 1_250_000 } });
    for (const text of ['1,250', '12,50.5', '1,25,000'])
      expect(numberOf(text)).toEqual({ refusal: `"${text}" is no value` });
  });

  it('has no value where a database wrote that there is none', () => {
    const all: Plan = { ...plan, mapping: { UserId: 0, ItemId: 1, Value: 2, Timestamp: 3, Comment: 4 } };
    for (const none of ['NULL', '\\N']) {
      expect(recordOf([none, 'i', '1', '0', ''], all)).toEqual({ refusal: 'the user id is empty' });
      const record = { FeedbackType: 'like', UserId: 'u', ItemId: 'i', Timestamp: '', Comment: '' };
      const timeless = { ...all, missingTime: 'now' } as const;
      expect(recordOf(['u', 'i', none, none, none], timeless)).toEqual({ record });
    }
    expect(recordOf(['NULL', 'i', '1', '0', ''], { ...all, keepsBlanks: true })).toHaveProperty('record');
  });

  it('is refused where its id has been rounded', () => {
    const rounded = /^the id 4,00638E\+12 was rounded by a spreadsheet/;
    expect(recordOf(['u', '4,00638E+12', '5', '0'], plan)).toEqual({
      refusal: expect.stringMatching(rounded),
    });
    expect(recordOf(['4E+12', 'i', '5', '0'], plan)).toHaveProperty('refusal');
    expect(recordOf(['4E12', 'i', '5', '0'], plan)).toHaveProperty('record');
    const long: unknown = JSON.parse('12345678901234567890');
    expect(recordOf([long, 'i', '5', '0'], plan)).toEqual({
      refusal: expect.stringMatching(/write it in quotes$/),
    });
    expect(recordOf([2 ** 53 - 1, 'i', '5', '0'], plan)).toHaveProperty('record');
  });

  it('of an item has its categories apart', () => {
    const mapping = { ItemId: 0, Comment: 1, Categories: 2, IsHidden: 3 };
    const items: Plan = { ...plan, kind: 'items', mapping, timeForm: undefined };
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

test('a column may have the other key by what it holds, whatever its name', () => {
  const rows = Array.from({ length: 60 }, (_, at) =>
    [
      `c${(at >> 1) % 12}`,
      at >> 1,
      400 + (at % 7),
      `Tea ${at % 7}`,
      5 * (at % 20),
      `2024-01-${10 + (at % 9)}`,
    ].map(String),
  );
  const names = ['Customer ID', 'Sale ID', 'System ID', 'Label text', 'Minutes', 'Date'];
  expect(likelyKey([names, ...rows], [0, 5], [])).toBe('System ID');
  // Without a name of a key the texts are likelier than numbers.
  const plain = ['Customer ID', 'Sale', 'System', 'Label text', 'Minutes', 'Date'];
  expect(likelyKey([plain, ...rows], [0, 5], [])).toBe('Label text');
  // The number of a receipt comes again beside several items, and at one time alone.
  const receipts = ['Sale', 'Card', 'Date', 'Item'];
  const sold = Array.from({ length: 60 }, (_, at) => [
    `r${at >> 2}`,
    `k${(at >> 2) % 6}`,
    `d${at >> 2}`,
    `a${at % 9}`,
  ]);
  expect(likelyKey([receipts, ...sold], [3, 2], [])).toBe('Card');
  expect(likelyKey([names, ...rows.slice(0, 4)], [0, 5], [])).toBeUndefined();
});

test.each([
  ['4. März 2025', '2025-03-04'],
  ['4 févr. 2025 10:30', '2025-02-04T10:30'],
  ['15 de septiembre de 2025', '2025-09-15'],
  ['4 Ağustos 2025', '2025-08-04'],
  ['1 Kasım 2025', '2025-11-01'],
  ['Dienstag, 4. Dezember 2025', '2025-12-04'],
  ['4 lutego 2025', '2025-02-04'],
  ['3 Sept 2025', '2025-09-03'],
  ['12 července 2025', '2025-07-12'],
  ['Feb-03-25', '2025-02-03'],
  ['03-FEB-25 10:30', '2025-02-03T10:30'],
])('%s is a day of a month by its name', (text, day) => {
  expect(timeForm(['10 Mar 12:30'])).toBeUndefined();
  expect([timeForm([text]), readTime(text, 'date')?.slice(0, day.length)]).toEqual(['date', day]);
  expect(timeForm(['12 pieces 2025'])).toBeUndefined();
});
