import { describe, expect, it, test } from 'vitest';
import { ratingOf } from '../../src/exchange/cell-text.ts';
import { describePlan } from '../../src/exchange/describe-plan.ts';
import { likelyEncoding } from '../../src/exchange/guess-encoding.ts';
import { itemsWithin, planFile, readPlan } from '../../src/exchange/import-plan.ts';
import { madeRows } from '../../src/exchange/made-rows.ts';
import { isGone } from '../../src/exchange/order-states.ts';
import { readProposed } from '../../src/exchange/proposals.ts';
import { once } from '../../src/exchange/read-rows.ts';
import { readTime } from '../../src/exchange/time-formats.ts';

const plan = (head: string) => planFile('a.csv', head, true, {});
const proposed = async (head: string) =>
  (await readProposed({ path: 'a.csv', head, isWhole: true }, {})).plan;

/** What an import makes of a text. */
async function made(text: string) {
  const all = [];
  for await (const rows of madeRows(await plan(text), once(text))) all.push(...rows.map((row) => row.made));
  return all;
}

/** Rows of some users and items, each by a template. */
function rows(row: (user: number, item: number, at: number) => string, count = 40): string {
  return Array.from({ length: count }, (_, at) => row(at % 7, (at * at + at) % 23, at)).join('\n');
}
const day = (at: number) => `2025-03-${String(10 + (at % 20)).padStart(2, '0')}`;

describe('lines above the names of columns are no rows', () => {
  const body = 'Kunde;Artikel;Datum;Menge\n7;tea;31.03.2025;2\n8;cup;30.03.2025;1\n';
  const record = { UserId: '7', ItemId: 'tea', FeedbackType: 'like', Value: 2 };

  it.each([
    ['the title of a report', 'Umsatz;01.01. - 31.03.;;\nWerk 7;;;\n;;;\n', 4],
    ['remarks', '# GA4\n# 20250101-20250331\n\n', 4],
    ['an empty line', '\n', 2],
    ['a line of names of several columns each', 'Wer;;Wann;\n;;;\n', 3],
    ["Excel's own line", 'sep=;\n', 2],
  ])('such as %s', async (_, above, line) => {
    const found = await plan(above + body);
    expect(describePlan(found)).toContain(`names of columns in line ${line}`);
    const [first, ...others] = await made(above + body);
    expect(first).toEqual({ record: expect.objectContaining(record) });
    expect(others).toHaveLength(1);
  });

  it('and neither are those that databases draw, but a first row of data is one', async () => {
    const drawn = '+------+-----+\n| user | sku |\n+------+-----+\n| ann  | tea |\n+------+-----+\n';
    expect(await made(drawn)).toEqual([
      { record: expect.objectContaining({ UserId: 'ann', ItemId: 'tea' }) },
    ]);
    const sparse = 'ann,tea,,,,\nbob,cup,1,2,3,4\ncid,pot,1,2,3,4\n';
    expect(await made(sparse)).toHaveLength(3);
  });
});

describe('cells with a list of items', () => {
  const history = (at: number) => Array.from({ length: (at % 5) + 1 }, (_, n) => `N${n + at}`).join(' ');
  const mind = rows(
    (user, _, at) =>
      `${at}\tU${user}\t3/${10 + (at % 9)}/2025 9:08:07 AM\t${history(at)}\tN1-0 N${at}-1${' N7-0'.repeat(at % 3)}`,
  );

  it.each([
    [
      'clicks and what was shown',
      `id\tuser_id\ttime\thistory\timpressions\n${mind}`,
      'history", "impressions',
    ],
    ['without names of columns', mind, 'column 4", "column 5'],
    [
      'numbers of articles',
      `customer,date,product_ids\n${rows((user, item, at) => `c${user},${day(at)},"${item},${item + 1}${',9'.repeat(at % 3)}"`)}`,
      'product_ids',
    ],
    [
      'lists of Python',
      `customer,date,product_ids\n${rows((user, item, at) => `c${user},${day(at)},"['p${item}', 'p9']"`)}`,
      'product_ids',
    ],
    [
      'numbers and names',
      `customer,date,items\n${rows((user, item, at) => `c${user},${day(at)},"2x Tea ${item}, 1x Cup"`)}`,
      'items',
    ],
    [
      'titles',
      `customer,date,Item Description\n${rows((user, item, at) => `c${user},${day(at)},"Tea ${item % 7}${', Cup 1'.repeat(at % 2)}${`, Pot ${at % 5}`.repeat(at % 3)}"`)}`,
      'Item Description',
    ],
    [
      'all that is known of each',
      `customer,date,details\n${rows((user, item, at) => `c${user},${day(at)},"SKU: ${item}, Name: Tea|SKU: 9, Name: Cup"`)}`,
      'details',
    ],
  ])('are named and never taken for items, %s', async (_, text, names) => {
    const { plan: found, open } = await readProposed({ path: 'a.csv', head: text, isWhole: true }, {});
    expect(found.mapping).not.toHaveProperty('ItemId');
    expect(`${open?.message}${describePlan(found)}`).toContain(`"${names}" ha`);
    expect(`${open?.message}${describePlan(found)}`).toContain('a list in a cell');
  });

  it('are labels of users where a column is called so', async () => {
    const text = `user,labels\n${rows((user, item) => `u${user},"a${item},b${item}${',c1'.repeat(item % 3)}"`)}`;
    expect(describePlan(await plan(text))).not.toContain('list');
  });

  it('are none where keys have blanks or commas, all as many', async () => {
    const text = `user,isbn,date\n${rows((user, item, at) => `u${user},978 3 ${1000 + item},${day(at)}`)}`;
    expect((await plan(text)).mapping).toMatchObject({ UserId: 0, ItemId: 1 });
  });
});

describe('a table with a column for each item', () => {
  const titles = Array.from({ length: 12 }, (_, at) => `${at % 2 ? 'Tea' : 'Book'} ${at}`);
  const table = (head: readonly string[], cell: (row: number, column: number) => string, own = 'customer') =>
    [
      `${own};${head.join(';')}`,
      ...titles.map((_, row) => `k${row};${head.map((_, at) => cell(row, at)).join(';')}`),
    ].join('\n');
  const wide = (row: number, column: number) => (row * 7 + column * 3) % 5;

  it.each([
    ['of ratings', table(titles, (row, at) => `${1 + wide(row, at)}`), 'Rating', 144],
    [
      'whose 99 is no rating',
      table(titles, (row, at) => (wide(row, at) < 2 ? '99' : `${at - 6},${row}`)),
      'Rating',
      86,
    ],
    [
      'of quantities, with their sum',
      table([...titles, 'Summe'], (row, at) => (at === 12 ? '77' : `${Math.max(0, wide(row, at) - 2)}`)),
      'Value',
      57,
    ],
    ['whose users have no name', table(titles, (row, at) => `${1 + wide(row, at)}`, ''), 'Rating', 144],
    [
      'of answers',
      table(
        titles.map((title) => `How was it? [${title}]`),
        (row, at) => `${1 + wide(row, at)}`,
      ),
      'Rating',
      144,
    ],
  ])('%s is read by its cells', async (_, text, field, count) => {
    const { mapping } = await plan(text);
    expect([...Object.keys(mapping)].sort()).toEqual(['ItemId', field, 'UserId'].sort());
    const found = (await made(text)).map((row) => ('record' in row ? row.record : row));
    expect(found).toHaveLength(count);
    expect(found[0]).toMatchObject({ UserId: 'k0', ItemId: expect.stringMatching(/^(?:Tea|Book) \d+$/) });
    expect(describePlan(await plan(text))).toContain('a row for each filled cell of 12 columns');
  });

  it('whose columns are the items of a user, one behind the other', async () => {
    const text = `order,customer,product_1,product_2\n${rows((user, item, at) => `${at},c${user},Tea ${item},${at % 3 ? '' : `Cup ${item}`}`)}`;
    const found = (await made(text)).map((row) => ('record' in row ? row.record : row));
    expect(found).toHaveLength(54);
    expect(found[1]).toMatchObject({ UserId: 'c0', ItemId: 'Cup 0' });
  });

  it('has nothing where programs write that there is none', async () => {
    const text = table(titles, (row, at) => ['NA', 'NULL', '3', '4', '5'][wide(row, at)]!);
    expect(await made(text)).toHaveLength(86);
  });

  it('has no user that is the sum of others', async () => {
    const text = table(titles, (row, at) => `${1 + wide(row, at)}`);
    expect(await made(`${text}\nGesamt${';99'.repeat(12)}`)).toHaveLength(144);
  });

  it('refuses a row with other columns', async () => {
    const text = `${table(titles, (row, at) => `${1 + wide(row, at)}`)}\nk99;3;4`;
    expect((await made(text)).at(-1)).toEqual({ refusal: '3 columns where the first row has 13' });
  });

  it('of words is named, and no answer is an item', async () => {
    const words = ['Never', 'Seldom', 'Often', 'Always', 'No answer'];
    const { plan: found } = await readPlan(
      { path: 'a.csv', head: table(titles, (row, at) => words[wide(row, at)]!), isWhole: true },
      {},
    );
    expect(found).toMatchObject({ kind: 'users', otherKey: undefined });
    expect(describePlan(found)).toContain('no items: "Book 0" and 11 more columns have the same few words');
  });

  it.each([
    ['months', ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September']],
    ['years', titles.map((_, at) => `${2010 + at}`)],
  ])('is none where the columns are %s', async (_, head) => {
    expect((await plan(table(head, (row, at) => `${wide(row, at)}`))).kind).toBe('users');
  });
});

test.each([
  ['15/03/2567', 'day-first', '2024-03-15T00:00:00.000Z'],
  ['2567-03-15 14:05', 'date', '2024-03-15T14:05:00.000Z'],
  ['1403/01/01', 'date', '2024-03-20T00:00:00.000Z'],
  ['۱۴۰۲/۱۲/۲۹', 'date', '2024-03-19T00:00:00.000Z'],
  ['1402/07/01 08:30', 'date', '2023-09-23T08:30:00.000Z'],
  ['令和6年3月5日', 'date', '2024-03-05T00:00:00.000Z'],
  ['平成元年12月1日', 'date', '1989-12-01T00:00:00.000Z'],
  ['2024年03月15日 14:05', 'date', '2024-03-15T14:05:00.000Z'],
  ['民國113年3月5日', 'date', '2024-03-05T00:00:00.000Z'],
  ['1969-03-15', 'date', '1969-03-15T00:00:00.000Z'],
] as const)('the date %s of another calendar is a day of ours', (text, form, at) => {
  const read = readTime(text, form)!;
  expect(new Date(Date.parse(read.length === 10 ? `${read}T00:00Z` : read)).toISOString()).toBe(at);
});

test.each([
  ['★★★½', '3.5'],
  ['★★☆☆☆', '2'],
  ['4/5', '4'],
  ['4.0 out of 5 stars', '4.0'],
  ['4,5 von 5', '4,5'],
  ['5 Sterne', '5'],
  ['80%', '80'],
  ['4.5', '4.5'],
  ['TRUE', '1'],
  ['n/a', 'n/a'],
  ['', ''],
])('the rating %s is %s', (text, rating) => expect(ratingOf(text)).toBe(rating));

test('ratings of so many with decimal commas are numbers', async () => {
  const text = 'user,movie,rating,date\nann,Up,"4,5/5",2025-03-05\nbob,Up,"2,5/5",2025-03-06\n';
  const all = [];
  for await (const some of madeRows({ ...(await plan(text)), ratingMin: 4 }, once(text)))
    all.push(
      ...some.map((row) => ('record' in row.made ? Reflect.get(row.made.record, 'FeedbackType') : row.made)),
    );
  expect(all).toEqual(['like', 'read']);
});

test('a colour and what is reduced are no states of orders', () => {
  for (const word of ['Red', 'Color:Red', 'reduced']) expect(isGone(word)).toBe(false);
  expect(isGone('Reddedildi')).toBe(true);
});

test('names of events that go with the items are no types of feedback', async () => {
  const text = `email,event id,Event Name,order date\n${rows((user, item, at) => `u${user}@x.example,e${item},Talk ${item},${day(at)}`)}`;
  const { mapping } = await proposed(text);
  expect(mapping).toMatchObject({ UserId: 0, ItemId: 1 });
  expect(mapping).not.toHaveProperty('FeedbackType');
});

test('a number that goes with each item, as that of its category, is no value', async () => {
  const text = rows(
    (user, item, at) => `${user + 100},${item + 2000},${(item % 3) + 4000000},buy,${1.7e9 + at * 1000}`,
  );
  const { mapping } = await plan(text);
  expect(mapping).toMatchObject({ UserId: 0, ItemId: 1, FeedbackType: 3, Timestamp: 4 });
  expect(mapping).not.toHaveProperty('Value');
});

test('a title that is the same for all items gives way to another', async () => {
  const text = rows((user, item, at) =>
    JSON.stringify({
      page: { title: 'Shop' },
      user_id: `u${user}`,
      p: { product_id: `p${item}`, name: `Tea ${item}` },
      timestamp: `${day(at)}T00:00:00Z`,
    }),
  );
  const found = await plan(text);
  expect(found.columns[itemsWithin(found)!.items.mapping.Comment!]).toBe('p.name');
});

test('names of users are no items, and a column of the same name is told by its number', async () => {
  const text = `id,name,email,id,title,date\n${rows((user, item, at) => `${user},Ann ${user},u${user}@x.example,${item},Tea,${day(at)}`)}`;
  const { plan: found } = await readPlan({ path: 'a.csv', head: text, isWhole: true }, {});
  expect(found.otherKey).not.toBe('name');
  expect(found.columns).toEqual(['id', 'name', 'email', 'id (column 4)', 'title', 'date']);
});

test('who pays is told by the addresses of mail, and a visitor by what all rows have', async () => {
  const paid = `Date,From Address,To Address,Item ID\n${rows((user, item, at) => `${day(at)},u${user}@x.example,shop@x.example,P${item}`)}`;
  expect((await plan(paid)).mapping).toMatchObject({ UserId: 1, ItemId: 3 });
  const seen = rows((user, item, at) =>
    JSON.stringify({
      userId: user === 3 ? 'ann' : null,
      anonymousId: `a${user}`,
      productId: `p${item}`,
      timestamp: `${day(at)}T00:00:00Z`,
    }),
  );
  const found = await plan(seen);
  expect(found.columns[found.mapping.UserId!]).toBe('anonymousId');
});

test('a few letters of Chinese or Japanese are told by the names of columns', () => {
  const head = (names: Uint8Array) =>
    new Uint8Array([...names, ...new TextEncoder().encode('\n7,tea,2025-03-05,1\n')]);
  // 会员名,商品编号,下单时间,数量 in GB 18030 and 会員番号,商品コード,購入日,数量 in Shift-JIS.
  const chinese = Buffer.from('bbe1d4b1c3fb2cc9ccc6b7b1e0bac52ccfc2b5a5cab1bce42ccafdc1bf', 'hex');
  const japanese = Buffer.from('89ef88f594d48d862c8fa4956983528361838b2c8d77936593fa2c909497ca', 'hex');
  expect(likelyEncoding(head(chinese)).encoding).toBe('gb18030');
  expect(likelyEncoding(head(japanese)).encoding).toBe('shift_jis');
});

test('an object of objects is refused with what to do', async () => {
  const books = JSON.stringify({ 5: { book_id: '5', title: 'Emma' }, 6: { book_id: '6', title: 'Dune' } });
  await expect(plan(books)).rejects.toThrow("objects; write each on a line of its own, as jq -c '.[]' does");
});

test('deals that were lost and returns marked in Dutch are states', async () => {
  const text = `Account ID,Product Code,Close Date,Stage,Retour\n${rows((user, item, at) => `a${user},p${item},${day(at)},${['Closed Won', 'Closed Lost', 'Negotiation'][at % 3]},${at % 8 === 0 ? 'Ja' : 'Nee'}`)}`;
  const all = await made(text);
  expect(all.filter((one) => 'leftOut' in one && one.leftOut === 'Closed Lost').length).toBeGreaterThan(10);
  expect(all.filter((one) => 'leftOut' in one && one.leftOut === 'Retour').length).toBeGreaterThan(2);
  expect(all.filter((one) => 'record' in one).length).toBeGreaterThan(20);
});

test('titles tell the items apart where many have no number', async () => {
  const text = `Contact email,Item,SKU,Date\n${rows((user, item, at) => `u${user}@x.example,Tea ${item},${item % 2 ? '' : `S${item}`},${day(at)}`)}`;
  expect((await plan(text)).mapping).toMatchObject({ UserId: 0, ItemId: 1, Timestamp: 3 });
});

test('kinds of votes are types, of which none is taken for a liking unasked', async () => {
  const text = `PostId,VoteTypeId,UserId,CreationDate\n${rows((user, item, at) => `${item},${2 + (at % 2)},${user},${day(at)}`)}`;
  expect((await plan(text)).mapping).toMatchObject({ FeedbackType: 1 });
});

test('remarks of users are no items', async () => {
  const text = `,user,rating,comment,ID,name\n${rows((user, item, at) => `${at},u${user},${at % 9},fun ${at % 8},${item + 70},Game ${item}`, 60)}`;
  const found = await proposed(text);
  expect([found.mapping.UserId, found.mapping.ItemId]).toEqual([1, 4]);
  expect(found.columns[itemsWithin(found)!.items.mapping.Comment!]).toBe('name');
});

test.each([
  ['a book and not its copy', 'borrowernumber;biblionumber;itemnumber;issuedate;title', 'biblionumber'],
  [
    'an article of Shopware',
    'ordernumber;ordertime;customernumber;articleordernumber;name',
    'articleordernumber',
  ],
  ['a hotel', 'Confirmation No;Guest Email;Property Code;Property Name;Booked On', 'Property Code'],
])('%s is the item', async (_, head, column) => {
  const cells = (user: number, item: number, at: number) =>
    head.split(';').map((name) => {
      if (/^(?:borrower|customer)number$|Email/.test(name)) return `u${user}@x.example`;
      if (/date|time|Booked/.test(name)) return day(at);
      if (/^(?:title|name)$|Property Name/.test(name)) return `The title ${item}`;
      return name === column ? `A${item}` : `${name.slice(0, 1)}${at}`;
    });
  const text = `${head}\n${rows((user, item, at) => cells(user, item, at).join(';'))}\n`;
  const { kind, mapping, columns } = await plan(text);
  expect([kind, columns[mapping.ItemId!]]).toEqual(['feedback', column]);
});

test('columns that are called as the fields of the API are these fields, whatever is in them', async () => {
  const text = `ItemId,IsHidden,Categories,Timestamp,Labels,Comment\n${rows((_, item) => ` ,false,,2443-01-01T00:00:00Z,,tea ${item}`)}\n`;
  const { kind, mapping } = await plan(text);
  expect([kind, mapping]).toEqual([
    'items',
    { ItemId: 0, IsHidden: 1, Categories: 2, Timestamp: 3, Labels: 4, Comment: 5 },
  ]);
  expect(readTime('2443-01-01T00:00:00Z', 'date')).toBe('2443-01-01T00:00:00Z');
  expect(readTime('2566-03-01', 'date')).toContain('2023-03-01');
});

test('a row of signs is a row, unless somebody has drawn a line of them', async () => {
  const text = 'UserId,Labels,Comment\n-,,=\n+,,=\n---,---,---\nann,,tea\n';
  const found = (await made(text)).map((row) => ('record' in row ? row.record : row));
  expect(found).toEqual(['-', '+', 'ann'].map((UserId) => expect.objectContaining({ UserId })));
});

test.each([
  ['who plays and not the artist', 'ts,artistName,trackName', 'artistName'],
  ['who plays and no title', 'endTime,trackName,msPlayed', 'trackName'],
])('of the plays of one person %s is a user', async (_, head, column) => {
  const cell = (name: string, item: number, at: number) =>
    ({ artistName: `Band ${item % 5}`, trackName: `Song ${item}`, msPlayed: `${at}000` })[name] ?? day(at);
  const text = `${head}\n${rows((_user, item, at) =>
    head
      .split(',')
      .map((name) => cell(name, item, at))
      .join(','),
  )}`;
  const found = await proposed(text);
  expect(found.columns[found.mapping.UserId ?? -1]).not.toBe(column);
});

test('a device tells people apart rather than a visit', async () => {
  const text = `user_id,session_id,device_id,item_id,event_time\n${rows((user, item, at) => `${at % 3 ? '' : `u${user}`},${90 + at},d${user},p${item},${day(at)}`)}`;
  const found = await plan(text);
  expect(found.columns[found.mapping.UserId!]).toBe('device_id');
});

test('a number of each row is no item where another column has items', async () => {
  const text = `Book number,Booked by,Booked on,Property id\n${rows((user, item, at) => `${3000 + at},Ann ${user},${day(at)},${500 + (item % 9)}`)}`;
  expect((await plan(text)).mapping).toMatchObject({ UserId: 1, ItemId: 3 });
});

test.each([
  ['stars in Chinese', '用户ID,电影ID,评分', (at: number) => `${1 + (at % 5)}`],
  ['votes for and against', 'username,link_id,vote', (at: number) => (at % 4 ? '1' : '-1')],
  ['ratings beside one kind of item', 'username,type,movie_id,rating', (at: number) => `${1 + (at % 9)}`],
])('%s are ratings and no likes', async (_, head, rating) => {
  const cells = (user: number, item: number, at: number) =>
    head.split(',').map((name) => {
      if (name === 'type') return 'movie';
      if (/^user|用户/.test(name)) return `u${user}`;
      return /id$/i.test(name) ? `m${item}` : rating(at);
    });
  const found = await proposed(`${head}\n${rows((user, item, at) => cells(user, item, at).join(','))}`);
  expect(found.columns[found.mapping.Rating!]).toBe(head.split(',').at(-1));
  expect(found.mapping).not.toHaveProperty('FeedbackType');
});

test('titles are told by what they are where no name does', async () => {
  const text = `Kundennr.;Veranstaltungsnr.;Veranstaltung;Datum\n${rows((user, item, at) => `${user};${400 + item};Tea and talk ${item};${day(at)}`)}`;
  const found = await proposed(text);
  expect(found.columns[itemsWithin(found)!.items.mapping.Comment!]).toBe('Veranstaltung');
});

test('what comes back to a library is no return', async () => {
  const text = `Library card,Title ID,Title,Checkout date,Return date\n${rows((user, item, at) => `${user},${item},Tea ${item},${day(at)},${at % 3 ? '' : day(at)}`)}`;
  expect(await proposed(text)).toMatchObject({ kind: 'feedback', states: [] });
});

test('of a sale in advance its day counts, and of a loan the work and not its copy', async () => {
  const sale = `event_id,order_email,sale_time,event_start_date\n${rows((user, item, at) => `e${item},u${user}@x.example,${day(at)},2025-12-24`)}`;
  expect((await proposed(sale)).mapping.Timestamp).toBe(2);
  const loan = `OCLC Number,Item Barcode,Patron Barcode,Loan Date\n${rows((user, item, at) => `7${item},3${item}${at % 3},2${user},${day(at)}`)}`;
  expect((await proposed(loan)).mapping).toMatchObject({ UserId: 2, ItemId: 0 });
});

test('wide brackets behind a name say more of it, as narrow ones do', async () => {
  expect((await plan('顧客ID,商品管理番号（商品URL）,注文日時\nk1,t1,2025-03-01\n')).mapping.ItemId).toBe(1);
});
