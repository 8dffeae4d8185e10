import { describe, expect, it } from 'vitest';
import { describePlan } from '../../src/exchange/describe-plan.ts';
import { type FilePlan, planFile, type Wishes } from '../../src/exchange/import-plan.ts';
import { recordOf } from '../../src/exchange/rows-to-records.ts';

const plan = (head: string, wishes: Wishes = {}): Promise<FilePlan> => planFile('a.csv', head, true, wishes);

describe('the guess of what a file holds', () => {
  it('finds feedback by the names of its columns', async () => {
    const found = await plan('ts,uid,sku,stars\n1700000000,ann,tea,5\n', { ratingMin: 4 });
    expect(found).toMatchObject({ kind: 'feedback', hasHeader: true, timeForm: 'seconds' });
    expect(found.mapping).toEqual({ UserId: 1, ItemId: 2, Timestamp: 0, Rating: 3 });
    expect(describePlan(found)).toBe(
      'feedback: UserId from "uid", ItemId from "sku", Timestamp from "ts" (seconds), Rating from "stars", "like" from a rating of 4 on, else "read"',
    );
  });

  it('takes categories apart at semicolons where no cell has a bar, and says so', async () => {
    const read = async (...cells: string[]) => {
      const found = await plan(`Kategorie,Tytuł,ISBN\n${cells.map((cell) => `${cell},A,1\n`).join('')}`);
      const { record } = recordOf([cells[0]!, 'A', '1'], found) as { record: { Categories: string[] } };
      return [record.Categories, found.separator, describePlan(found).includes('(several, with ";" between')];
    };
    const [path, both] = ['Kuchnia > Wypieki', 'Kuchnia > Wypieki; Nauka'];
    expect(await read(both, path)).toEqual([[path, 'Nauka'], ';', true]);
    expect(await read(both, 'a|b')).toEqual([[both], '|', false]);
    expect(await read('Toys &amp; Games;Kids')).toEqual([['Toys & Games', 'Kids'], ';', true]);
    expect(await read('Toys &amp; Games')).toEqual([['Toys & Games'], '|', false]);
    expect((await plan('isbn,category\n1,a;b\n', { separator: ',' })).separator).toBe(',');
  });

  it('knows the columns of a Polish shop, of a Czech, a Brazilian, a Turkish and a Japanese', async () => {
    const orders = await plan(
      'Wartość,Ilość,Data zamówienia,Kod towaru,Nr klienta\n9,1,6.4.2024 14:26,a,b\n',
    );
    expect(orders.mapping).toEqual({ UserId: 4, ItemId: 3, Timestamp: 2, Value: 1 });
    const turkish = await plan('Müşteri No,Ürün Kodu,Ürün Adı,Adet,Sipariş Tarihi\na,b,c,1,3.1.2024\n');
    expect(turkish.mapping).toEqual({ UserId: 0, ItemId: 1, Comment: 2, Value: 3, Timestamp: 4 });
    const japanese = await plan('商品コード,会員番号,注文日,数量\nb,a,2024/01/03,1\n');
    expect(japanese.mapping).toEqual({ UserId: 1, ItemId: 0, Timestamp: 2, Value: 3 });
    expect((await plan('商品コード,書名,ジャンル\na,b,c\n')).kind).toBe('items');
    const czech = await plan('Zákazník,Kód zboží,Množství,Datum objednávky\nb,a,1,6.4.2024\n');
    expect(czech.mapping).toEqual({ UserId: 0, ItemId: 1, Value: 2, Timestamp: 3 });
    const items = await plan('Código do produto,Nome do produto,Categoria do produto\na,A,c\n');
    expect(items.mapping).toMatchObject({ ItemId: 0, Comment: 1, Categories: 2 });
  });

  it('knows the columns of a Korean shop and of an Arabic one, their halves of the day and digits', async () => {
    const korean = await plan(
      '주문번호\t주문일시\t회원아이디\t상품코드\t상품명\t수량\n1\t2024-03-05 오후 2:03:04\ta\tb\tc\t1\n',
    );
    expect(korean.mapping).toEqual({ UserId: 2, ItemId: 3, Timestamp: 1, Value: 5, Comment: 4 });
    expect(recordOf(['1', '2024-03-05 오후 2:03:04', 'a', 'b', 'c', '1'], korean)).toMatchObject({
      record: { Timestamp: '2024-03-05T14:03:04Z' },
    });
    const arabic = await plan('تاريخ الطلب;رقم العميل;رقم المنتج;الكمية\n٢٥/٠٣/٢٠٢٤ ٠٨:٠٩;a;b;١٢\n');
    expect(arabic.mapping).toEqual({ UserId: 1, ItemId: 2, Timestamp: 0, Value: 3 });
    expect(recordOf(['٢٥/٠٣/٢٠٢٤ ٠٨:٠٩', 'a', 'b', '١٢٫٥'], arabic)).toMatchObject({
      record: { Timestamp: '2024-03-25T08:09:00Z', Value: 12.5 },
    });
  });

  it('refuses a list or an object in place of an id', async () => {
    const events = await plan('{"user_id":"a","items":["b"],"time":1700000000}\n', {
      map: [['item', 'items']],
    });
    expect(recordOf(['a', ['b'], 1_700_000_000], events)).toEqual({
      refusal: 'the ItemId is a list or an object, not a text',
    });
  });

  it('passes over what stands in brackets behind a name', async () => {
    const found = await plan(
      'Email (Billing),SKU,Item Name,Quantity (- Refund),Order Date\na@x.example,b,c,1,2024-03-05 10:00\n',
    );
    expect(found.mapping).toEqual({ UserId: 0, ItemId: 1, Comment: 2, Value: 3, Timestamp: 4 });
  });

  it('finds times in a file without names of columns, and takes no long texts for types', async () => {
    const rows = Array.from(
      { length: 40 },
      (_, at) => `u${at % 5}\t2009-05-04T23:08:${10 + at}Z\ti${at}\tSong ${at}\n`,
    );
    expect((await plan(rows.join(''))).mapping).toEqual({ UserId: 0, Timestamp: 1, ItemId: 2 });
  });

  it('reads wide digits of numbers and times as those of ASCII', async () => {
    const found = await plan('会員番号,商品コード,注文日,数量\na,１,２０２４／０３／０５,１２\n');
    expect(recordOf(['a', '１', '２０２４／０３／０５', '１２'], found)).toMatchObject({
      record: { ItemId: '１', Timestamp: '2024-03-05', Value: 12 },
    });
  });

  it.each([
    ['1700000000', 'seconds'],
    ['1700000000000', 'milliseconds'],
    ['2024-05-01 10:00:00', 'date'],
  ])('takes times such as %s as %s', async (time, unit) => {
    expect((await plan(`user,item,time\nann,tea,${time}\n`)).timeForm).toBe(unit);
  });

  it('tells the unit by the column: one small number in it changes nothing', async () => {
    const found = await plan('user,item,time\nann,tea,1\nbob,tea,1700000000\n');
    expect(found.timeForm).toBe('seconds');
    expect(recordOf(['ann', 'tea', '1'], found)).toMatchObject({
      record: { Timestamp: '1970-01-01T00:00:01.000Z' },
    });
  });

  it('loses nothing that the beginning of a file leaves out', async () => {
    const head = 'item_id,title,created_at\na,A,\n';
    const read = (rest: string) =>
      planFile('a.csv', head, false, {}, {}, async function* () {
        yield head;
        yield rest;
      });
    expect((await read('b,B,2024-05-01T10:00:00Z\n')).timeForm).toBe('date');
    expect((await read('b,B,1714557600\n')).timeForm).toBe('seconds');
    const none = await read('b,B,\n');
    expect(recordOf(['a', 'A', ''], none)).toMatchObject({ record: { Timestamp: '' } });
    // As of standard input, which is read once.
    expect(recordOf(['b', 'B', '2024-05-01'], none)).toEqual({ refusal: '"2024-05-01" is no time' });
    const records = '{"FeedbackType":"like","UserId":"ann","ItemId":"tea"}\n';
    const { columns, isApiForm } = await plan(records);
    expect([isApiForm, columns.includes('Value'), columns.includes('Timestamp')]).toEqual([true, true, true]);
  });

  it('needs no whole rows at the end of the beginning', async () => {
    const text = `user,item,comment\n${'ann,tea,"a\nb\nc"\n'.repeat(3)}`;
    for (let end = text.indexOf('bc') + 40; end < text.length; end++)
      expect((await planFile('a.csv', text.slice(0, end), false, {})).kind).toBe('feedback');
    expect((await planFile('a.csv', 'user,item\rann,tea\rbob,a', false, {})).columns).toEqual([
      'user',
      'item',
    ]);
  });

  it('reads on until a date tells the month from the day, and asks where none does', async () => {
    const head = 'user,item,time\nann,tea,12/1/2010 8:26\n';
    const planOf = (rest: string, wishes: Wishes = {}) =>
      planFile('a.csv', head, false, wishes, {}, async function* () {
        yield head + rest;
      });
    expect((await planOf('ann,ale,12/13/2010 8:26\n')).timeForm).toBe('month-first');
    expect((await planOf('ann,ale,13/12/2010 8:26\n')).timeForm).toBe('day-first');
    await expect(planOf('ann,ale,11/12/2010\n')).rejects.toThrow(
      /say --time-format month-first or day-first/,
    );
    expect((await planOf('', { timeForm: 'day-first' })).timeForm).toBe('day-first');
    // A time of another form further on tells nothing of the order, and takes nothing from what does.
    expect((await planOf('ann,ale,2010-12-13\nann,ale,13/12/2010\n')).timeForm).toBe('day-first');
    await expect(planOf('ann,ale,2010-12-13\n')).rejects.toThrow(/--time-format month-first or day-first/);
    // The order of one file's dates means nothing where another has other times, or the other order.
    const american = 'user,item,time\nann,tea,1/2/2010\nann,ale,1/13/2010\n';
    expect((await plan(american, { timeForm: 'day-first' })).timeForm).toBe('month-first');
    const dotted = 'user,item,time\nann,tea,1.2.2010\n';
    expect((await plan(dotted, { timeForm: 'month-first' })).timeForm).toBe('month-first');
    expect((await plan('user,item,time\nann,tea,1700000000\n', { timeForm: 'day-first' })).timeForm).toBe(
      'seconds',
    );
  });

  it('tells the order by the whole file where a said one does not fit, and says so', async () => {
    const head = 'user,item,time\nann,tea,01.12.10 08:26\n';
    const planOf = (first: string, rest: string, timeForm?: Wishes['timeForm']) =>
      planFile('a.csv', first, false, { timeForm }, {}, async function* () {
        yield first + rest;
      });
    expect((await planOf(head, '')).timeForm).toBe('day-first');
    const found = await planOf(head, `${'ann,ale,02.12.10\n'.repeat(3000)}ann,ale,13.12.10\n`, 'month-first');
    expect(found.timeForm).toBe('day-first');
    expect(describePlan(found)).toMatch(
      /Timestamp from "time" \(day-first; month-first, as was said, does not fit\)/,
    );
    expect((await planOf(head, 'ann,ale,02.12.10\n', 'month-first')).timeForm).toBe('month-first');
    const short = 'user,item,time\nann,tea,01/12/10\n';
    const days = Array.from({ length: 28 }, (_, day) => `ann,ale,${day + 1}/11/10\n`).join('');
    expect((await planOf(short, days)).timeForm).toBe('day-first');
    expect((await planOf(short, 'ann,ale,12/13/10\n')).timeForm).toBe('month-first');
    expect((await planOf(short, 'ann,ale,12/13/10\n', 'day-first')).timeForm).toBe('month-first');
    await expect(planOf(short, 'ann,ale,13/12/10\n')).rejects.toThrow(/say --time-format/);
  });

  it('says which format fits where the one that was said fits no row', async () => {
    const text = 'user,item,time\nann,tea,2024-05-01\nann,ale,2024-05-02\n';
    await expect(plan(text, { timeForm: 'seconds' })).rejects.toThrow(
      /times in "time" \(such as "2024-05-01"\) are not seconds; --time-format date fits$/,
    );
    await expect(plan('user,item,time\nann,tea,01.12.2010\n', { timeForm: 'date' })).rejects.toThrow(
      /are not date; --time-format day-first fits$/,
    );
    await expect(plan('user,item,time\nann,tea,1/2/2010\n', { timeForm: 'date' })).rejects.toThrow(
      /are not date; --time-format month-first or day-first fits$/,
    );
    // As of standard input, which is read once: told row by row.
    const once = await plan('user,item,time\nann,tea,01/12/2010\n', { timeForm: 'month-first' });
    expect(recordOf(['ann', 'tea', '13/12/2010'], once)).toEqual({
      refusal: '"13/12/2010" is no time, month first; day first it is one',
    });
  });

  it('parts columns at what is said', async () => {
    const found = await plan('user#item,x\nann#tea\n', { delimiter: '#' });
    expect(found.columns).toEqual(['user', 'item,x']);
    expect((await plan('sep=#\nuser#sku#time\nann#tea#1700000000\n')).mapping).toEqual({
      UserId: 0,
      ItemId: 1,
      Timestamp: 2,
    });
  });

  it('takes numbers with decimal commas for ratings where no row names the columns', async () => {
    const { mapping } = await plan('ann;tea;12,50\nbob;ale;9,00\n');
    expect(mapping).toEqual({ UserId: 0, ItemId: 1, Rating: 2 });
  });

  it('reads times and numbers in formulas, and tells times where a database wrote that there are none', async () => {
    const found = await plan(
      'user;item;ordered at;value\nann;tea;="01.12.2010";="12,50"\nbob;ale;NULL;\\N\n',
    );
    expect(found).toMatchObject({ timeForm: 'day-first', hasDecimalCommas: true });
    expect(recordOf(['ann', 'tea', '="01.12.2010"', '="12,50"'], found)).toMatchObject({
      record: { Timestamp: '2010-12-01', Value: 12.5 },
    });
  });

  it('says that a file of names alone has nothing to store', async () => {
    expect(describePlan(await plan('sku,title\n'))).toMatch(/no row stands below these names/);
    expect(describePlan(await plan('sku,title\ntea,Tea\n'))).not.toMatch(/no row/);
  });

  it('names a value that is no time, not the first one', async () => {
    await expect(plan('user,item,time\nann,tea,2024-05-01\nann,ale,soon\n')).rejects.toThrow(
      /such as "soon"/,
    );
  });

  it('tells what is left out, and where the first row is taken for data', async () => {
    const orders = await plan('order_no;customer_email;sku;amount\n1;a@b.c;tea;12,50\n');
    expect(describePlan(orders)).toMatch(/; not used: order_no$/);
    expect(recordOf(['1', 'a@b.c', 'tea', '12,50'], orders)).toMatchObject({ record: { Value: 12.5 } });
    const bare = await plan('sku,wording,category\ntea,Green tea,Tea\n');
    expect(describePlan(bare)).toMatch(/no column of titles.*--map title=COLUMN.*not used: wording$/);
    expect(describePlan(await plan('ann,tea\nbob,ale\n'))).toMatch(/the first row is data \(--header if/);
  });

  it.each([
    ['::', 'u::i::4::1700000000\n'],
    ['\t', 'u\ti\t4\t1700000000\n'],
    [';', 'user;item;labels\nu;i;a|b\n'],
    [',', 'id,labels,name\ni,a|b,x\n'],
  ])('splits at %j', async (delimiter, head) => {
    expect((await plan(head)).format).toMatchObject({ delimiter });
  });

  it('takes a field by any name that a column of it may have', async () => {
    const found = await plan('a,b,c\nx,y,z\n', {
      kind: 'items',
      hasHeader: true,
      map: [
        ['item', 'a'],
        ['title', 'b'],
        ['genre', 'c'],
      ],
    });
    expect(found.mapping).toEqual({ ItemId: 0, Comment: 1, Categories: 2, Labels: 2 });
  });

  it('takes JSON in the form of the API as it is, and maps other keys', async () => {
    expect(await plan('{"UserId":"ann","ItemId":"tea","FeedbackType":"like"}\n')).toMatchObject({
      isApiForm: true,
      kind: 'feedback',
    });
    // The API would refuse each row for want of its type.
    const untyped = await plan('{"UserId":"ann","ItemId":"tea"}\n', { type: 'view' });
    expect(untyped).toMatchObject({ isApiForm: false, kind: 'feedback' });
    expect(recordOf(['ann', 'tea'], untyped)).toMatchObject({ record: { FeedbackType: 'view' } });
    const other = await plan('{"uid":"ann","sku":"tea","when":1700000000}\n');
    expect(other).toMatchObject({ isApiForm: false, timeForm: 'seconds' });
    expect(recordOf(['ann', 'tea', 1700000000], other)).toMatchObject({
      record: { UserId: 'ann', ItemId: 'tea', Timestamp: '2023-11-14T22:13:20.000Z' },
    });
  });

  it.each([
    ['a,b\nx,y\n', { kind: 'items', hasHeader: true, map: [['item', 'c']] }, /no column "c"; it has a, b/],
    ['a,b\nx,y\n', { map: [['price', 'a']] }, /feedback have no field "price"/],
    [
      'Klient,Zeit\nx,2024-01-01\n',
      {
        map: [
          ['user', 'Klient'],
          ['time', 'Zeit'],
        ],
      },
      /taken for users, and users have no field "time".*If it is feedback.*--map item=COLUMN/,
    ],
    [
      'user,a,b\nx,y,z\n',
      {
        map: [
          ['item', 'a'],
          ['ItemId', 'b'],
        ],
      },
      /has both "a" and "b", which --map names for ItemId/,
    ],
    [
      'title,genres\nx,y\n',
      { kind: 'items' },
      /no column looks like the ItemId of items; name it with --map item=COLUMN/,
    ],
    ['user,item,time\nann,tea,yesterday\n', {}, /times in "time" \(such as "yesterday"\) are not understood/],
    [
      'user,item,time\na,b,2024-01-01\nc,d,01.02.2024\n',
      {},
      /times in "time" are of several forms, such as "2024-01-01" and "01.02.2024"; --time-format says which/,
    ],
    ['\n', {}, /holds no rows/],
    ['{\n  "users": [\n    {\n      "UserId": "a"\n    }\n  ]\n}', {}, /no line that is a JSON object/],
    ['user#item\nann#tea\nbob#ale\n', {}, /only one column was found, but "#" .* say --delimiter '#'$/],
    ['user#item\nann#tea\n', { map: [['user', 'user']] }, /say --delimiter '#'$/],
    [
      // What one person has watched, and some of it again.
      `Date,Name,Year\n${'1234567123456'.replaceAll(/./g, (at) => `2024-01-0${at},Film ${at},198${at}\n`)}`,
      {},
      /no column looks like the UserId of feedback/,
    ],
    ['user item\nann tea\nbob ale\n', {}, /only one column was found; .* name it with --delimiter$/],
    [
      'user,item\nann,tea\n',
      { map: [['item', 'user']] },
      /user and item are both from the column "user"; name another of the columns user, item/,
    ],
  ] as const)('refuses %j with %j', async (head, wishes, message) => {
    await expect(plan(head, wishes as Wishes)).rejects.toThrow(message);
  });

  it('says so where no row ends in the beginning of a file', async () => {
    const begun = planFile('a.csv', `user,item,"${'x'.repeat(70_000)}`, false, {});
    await expect(begun).rejects.toThrow(/^a\.csv has no end of a row in its first 64 KB; a quote/);
  });
});
