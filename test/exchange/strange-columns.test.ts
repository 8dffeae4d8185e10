import { describe, expect, it, test } from 'vitest';
import { describePlan } from '../../src/exchange/describe-plan.ts';
import { guess } from '../../src/exchange/guess-columns.ts';
import { itemsWithin, planFile } from '../../src/exchange/import-plan.ts';
import { recordOf } from '../../src/exchange/rows-to-records.ts';

const mapping = async (head: string) => (await planFile('a.csv', head, true, {})).mapping;

test('a column that is empty in all first rows gives way to one that is not, and stays where there is none', async () => {
  const head = 'Sale Date,Item Name,Buyer,Quantity,Listing ID,SKU\n';
  const rows = '03/05/2025,Tea,ann,2,110,\n03/25/2025,Cup,bob,1,111,\n';
  expect(await mapping(head + rows)).toMatchObject({ UserId: 2, ItemId: 4, Value: 3, Timestamp: 0 });
  expect(await mapping('Buyer,SKU,Date\nann,,2025-03-05\n')).toMatchObject({ UserId: 0, ItemId: 1 });
});

test('who reviews is a user', async () => {
  const head = 'reviewer,product,stars,reviewed on\n';
  expect(await mapping(`${head}ann,Tea,5,"Monday, 03 March 2025"\n`)).toEqual({
    UserId: 0,
    ItemId: 1,
    Rating: 2,
    Timestamp: 3,
  });
});

describe.each([
  ['24 h', 'Datum;Uhrzeit;Kunde;Artikel', '31.03.2025;14:05', '2025-03-31T14:05:00Z'],
  ['AM and PM', 'Date;Time;Customer ID;SKU', '03/31/2025;12:05:33 AM', '2025-03-31T00:05:33Z'],
  [
    'an Order Date beside Time',
    'Time;Order Date;Customer ID;SKU',
    '2:05 pm;2025-03-31',
    '2025-03-31T14:05:00Z',
  ],
  ['midnights', 'Data;Godzina;Klient;Towar', '2025-03-31 00:00:00;07:30', '2025-03-31T07:30:00Z'],
])('a day and a time of day in two columns, %s', (_, head, when, at) => {
  it('are one moment, and a row without the latter is of the day', async () => {
    const day = when.split(';').find((text) => /\d{4}/.test(text))!;
    const alone = when
      .split(';')
      .map((text) => (text === day ? day : ''))
      .join(';');
    const plan = await planFile('a.csv', `${head}\n${when};ann;tea\n${alone};bob;tea\n`, true, {});
    const times = [when, alone, when.replace(/\d+:/, '77:')].map((text) => {
      const made = recordOf([...text.split(';'), 'ann', 'tea'], plan);
      return 'record' in made ? Reflect.get(made.record, 'Timestamp') : made;
    });
    expect(times[0]).toBe(at);
    expect(Date.parse(times[1])).toBe(Date.parse('2025-03-31T00:00:00Z'));
    expect(times[2]).toEqual({ refusal: expect.stringMatching(/77:.*is no time/) });
    expect(describePlan(plan)).toContain('Clock from');
  });
});

test('a time of day says nothing beside whole moments, or beside another column that is named', async () => {
  const rows = 'created at,Date,Time,user,item\n2025-03-31T10:00:00Z,2025-03-31,14:05,ann,tea\n';
  expect(await mapping(rows)).not.toHaveProperty('Clock');
  const named = (map: [string, string][]) => planFile('a.csv', rows, true, { map });
  expect((await named([['time', 'Date']])).mapping).not.toHaveProperty('Clock');
  const both = await named([
    ['time', 'Date'],
    ['clock', 'Time'],
  ]);
  expect(both.mapping).toMatchObject({ Timestamp: 1, Clock: 2 });
});

describe('times among what is none', () => {
  const orders = (odd: string, rows = 20) =>
    `customer_id,product_id,quantity,date_added (UTC)\n${odd}\n${'7,40,1,2025-03-05 10:00:00\n'.repeat(rows)}`;

  it('are found where names of columns come again, in a second line of names and above a total', async () => {
    for (const odd of [
      'customer_id,product_id,quantity,date_added (UTC)',
      'Kunde,Artikel,Menge,Datum',
      ',,60,Total',
    ]) {
      const plan = await planFile('a.csv', orders(odd), true, {});
      expect([plan.mapping.Timestamp, plan.timeForm]).toEqual([3, 'date']);
      expect(recordOf(['7', '40', '1', 'Datum'], plan)).toEqual({ refusal: '"Datum" is no time' });
    }
  });

  it('are not taken for times where more than one of ten is none, nor all of it for of now', async () => {
    const text = orders('7,40,1,soon', 5);
    await expect(planFile('a.csv', text, true, {})).rejects.toThrow('"date_added (UTC)" looks as if');
    const plan = await planFile('a.csv', text, true, { missingTime: 'now' });
    expect(plan.mapping.Timestamp).toBeUndefined();
  });
});

test('what differs between the rows of an item is none of its own', async () => {
  const loans = Array.from(
    { length: 60 },
    (_, at) => `p${at},${at % 20},Book ${at % 20},${at % 3 === 0 ? 'Child' : 'Adult'},s${at % 4}`,
  );
  const plan = await planFile(
    'a.csv',
    `patron id,book id,title,category,shelf\n${loans.join('\n')}\n`,
    true,
    {},
  );
  const { items } = itemsWithin(plan)!;
  expect(items.mapping).toEqual({ ItemId: 1, Comment: 2 });
});

test('loans that nearly all came back are not left out', async () => {
  const loans = (returned: number) =>
    `patron id,book id,Checked Out,Returned\n${Array.from({ length: 20 }, (_, at) => `p${at},b,2025-03-05,${at < returned ? '2025-03-09' : ''}\n`).join('')}`;
  const statesOf = async (text: string) => (await planFile('a.csv', text, true, {})).states?.length;
  expect(await statesOf(loans(18))).toBe(0);
  expect(await statesOf(loans(2))).toBe(1);
});

test('a second line of names is no item, and a row without time is one', async () => {
  const sold = 'c1,m1,Cup,2025-03-05\n'.repeat(20);
  const head = `KUNAG,MATNR,ARKTX,FKDAT\nKunde,Material,Bezeichnung,Datum\n${sold}`;
  const { items } = itemsWithin(await planFile('a.csv', head, true, {}))!;
  expect(recordOf(['Kunde', 'Material', 'Bezeichnung', 'Datum'], items)).toEqual({
    refusal: '"Datum" is no time',
  });
  for (const time of ['', '2025-03-05'])
    expect(recordOf(['c1', 'm1', 'Cup', time], items)).toMatchObject({
      record: { ItemId: 'm1', Comment: 'Cup', Timestamp: '' },
    });
});

test.each([
  [
    'of scrobbles',
    'user,utc_time,artist,track\nann,2024-01-01 10:00,Abba,SOS\n',
    { UserId: 0, ItemId: 3, Timestamp: 1 },
  ],
  [
    'of a school',
    'Student ID,Student Name,Course ID,Rating Given\n7,Ann,9,4.5\n',
    { UserId: 0, ItemId: 2, Rating: 3 },
  ],
  ['of votes', 'Id,PostId,VoteTypeId,UserId,CreationDate\n1,9,5,7,2024-01-01\n', { UserId: 3, ItemId: 1 }],
  ['of a diary', 'Member,Date,Film,Watched Date\nann,2024-01-09,Alien,2024-01-02\n', { Timestamp: 3 }],
  ['of books', 'Member,Book Id,Date Added,Date Read\nann,9,2024-01-01,2024-02-01\n', { Timestamp: 3 }],
  [
    'of streams',
    'username,endTime,artistName,trackName,artist\nann,2024-01-01 10:00,Abba,SOS,x\nann,2024-01-01 10:05,Abba,Eva,x\n',
    { Comment: 3 },
  ],
  [
    'of Allegro',
    'Data zakupu,Login kupującego,ID oferty,Tytuł oferty\n1.02.2025 10:00,ann_7,9,Herbata\n',
    { UserId: 1, ItemId: 2, Timestamp: 0 },
  ],
  [
    'of a till',
    'Kortnummer,Datum,Tid,Artikelnr\n7,2025-02-01,10:00:00,9\n',
    { UserId: 0, ItemId: 3, Timestamp: 1, Clock: 2 },
  ],
  [
    'of eBay',
    'Order Number,Buyer Username,Buyer Email,Item Number,Item Title,Sale Date\n1,ann_7,a@b.c,9,Tea,Feb-03-25\n',
    { UserId: 1, ItemId: 3, Timestamp: 5, Comment: 4 },
  ],
  [
    'of a Portuguese bookshop',
    'Data da Encomenda,Cliente,ISBN,Título do Livro,Qtd.\n1/02/2025 10:00,Ann,9,Chá,1\n',
    { UserId: 1, ItemId: 2, Comment: 3, Value: 4 },
  ],
  [
    'of MyAnimeList',
    'user_name,series_animedb_id,series_title,my_start_date,my_finish_date,my_score\nann,9,Tea,2024-01-01,2024-02-01,8\n',
    { UserId: 0, ItemId: 1, Comment: 2, Timestamp: 4, Rating: 5 },
  ],
  [
    'of a Czech shop',
    'Datum objednávky,E-mail (fakturační),SKU,Název položky\n1.02.2025 10:00,a@b.c,9,Čaj\n',
    { UserId: 1, ItemId: 2, Comment: 3 },
  ],
  [
    'of a restaurant',
    'Order Date,Loyalty Number,Item Id,Menu Item\n2/13/25 9:10 PM,7,9,Tea\n',
    { UserId: 1, ItemId: 2, Comment: 3 },
  ],
  [
    'of Moodle',
    'Time,User full name,Event context,Event name\n2024-01-01,Ann,Quiz: A,Quiz viewed\n',
    { ItemId: 2, FeedbackType: 3 },
  ],
])('columns %s are known', (_, text, found) => {
  const rows = text
    .trim()
    .split('\n')
    .map((row) => row.split(','));
  expect(guess(rows).mapping).toMatchObject(found);
});

test('lines without a value are passed over, also above the names of the columns', async () => {
  const text = ',,\nUser,SKU,Date\n,,\nann,9,2025-03-05\n';
  expect(await mapping(text)).toEqual({ UserId: 0, ItemId: 1, Timestamp: 2 });
});

test('a dot behind a short word does not part a name as those of objects are', async () => {
  const found = await mapping(
    'Kundennr;Artikelnr;Bestelldatum;Lief.Name;product.label.text\n7;9;2025-03-05;Acme;x\n',
  );
  expect(found).not.toHaveProperty('Comment');
});
