import { describe, expect, it } from 'vitest';
import { likelyPositive } from '../../src/domain/feedback-troubles.ts';
import { likelyEncoding } from '../../src/exchange/guess-encoding.ts';
import { readPlan } from '../../src/exchange/import-plan.ts';
import { isGone } from '../../src/exchange/order-states.ts';
import { otherKeyOf, readProposed } from '../../src/exchange/proposals.ts';
import { recordOf } from '../../src/exchange/rows-to-records.ts';
import { readTime } from '../../src/exchange/time-formats.ts';

const day = (at: number) => `2024-03-${String(1 + (at % 28)).padStart(2, '0')}`;
const textOf = (names: string, row: (at: number) => string, rows = 120) =>
  `${names}\n${Array.from({ length: rows }, (_, at) => row(at)).join('\n')}\n`;
const text = (head: string) => ({ path: 'a.csv', head, isWhole: true });
/** The columns of what is proposed. */
async function columnsOf(head: string) {
  const { plan } = await readProposed(text(head), {});
  return Object.fromEntries(Object.entries(plan.mapping).map(([field, at]) => [field, plan.columns[at]]));
}

describe('a key by what its column holds', () => {
  it.each(['Mediennummer', 'rating_key', 'release_id', 'bid', 'Barkod', 'ISBN/UID'])(
    '%s goes before the titles that it goes with',
    async (key) => {
      const head = textOf(
        `Username,Title,${key},date`,
        (at) => `u${at % 17},Tea ${at % 9},${500 + (at % 9)},${day(at)}`,
      );
      expect(await columnsOf(head)).toMatchObject({ UserId: 'Username', ItemId: key, Comment: 'Title' });
    },
  );

  it('is that of the titles where no other goes with them, unless all are alike', async () => {
    const named = (title: (at: number) => string) =>
      textOf('Username,Title,note_id,date', (at) => `u${at % 17},${title(at)},n${at},${day(at)}`);
    expect(await columnsOf(named((at) => `Tea ${at % 9}`))).toMatchObject({ ItemId: 'Title' });
    const { plan } = await readPlan(text(named(() => '')), {});
    expect(otherKeyOf(plan)).toEqual([]);
  });

  it('of users is another where each order has a number of its own', async () => {
    const head = textOf(
      'customer_id,customer_unique_id,product_id,order_purchase_timestamp',
      (at) => `c${at >> 1},p${(at >> 1) % 13},i${at % 7},${day(at >> 1)} 10:${10 + ((at >> 1) % 50)}:00`,
    );
    expect(await columnsOf(head)).toMatchObject({ UserId: 'customer_unique_id' });
    expect(await columnsOf(head.replaceAll(/^c(\d+)/gm, 'c1'))).toMatchObject({ UserId: 'customer_id' });
  });

  it('is no address where a name stands beside it, and no type that is the name of an event', async () => {
    const sales = textOf(
      'Buyer Name,Purchase Email,Product ID,Event Name,Purchase Date',
      (at) => `Ann,a${at % 9}@ex.com,p${at % 7},Evening ${at % 40},${day(at)}`,
    );
    const columns = await columnsOf(sales);
    expect([columns.UserId, columns.FeedbackType]).toEqual(['Purchase Email', undefined]);
  });
});

it('ratings that are not given, scores, hours and states of others are understood', async () => {
  const { plan } = await readPlan(text('user,item,rating_score\nann,tea,N/A\nann,ale,2\n'), { ratingMin: 4 });
  expect(
    [
      ['ann', 'tea', 'N/A'],
      ['ann', 'ale', '2'],
    ].map((row) => recordOf(row, plan)),
  ).toMatchObject([{ record: { FeedbackType: 'like' } }, { record: { FeedbackType: 'read' } }]);
  expect(readTime('3 de noviembre de 2025 14:22 hs.', 'date')).toBe('2025-11-03T14:22:00Z');
  expect(
    likelyPositive(['view', 'transaction'].map((Name) => ({ Name, Count: 1, Positive: false, Read: false }))),
  ).toEqual(['transaction']);
  const bytes = Uint8Array.from('Öàòà;Íîìåð\nÖÁ-000001;Ê2001\nÖÁ-000002;Ê2002\nÖÁ-000003;Ê2003', (sign) =>
    sign.charCodeAt(0),
  );
  expect(likelyEncoding(bytes).encoding).toBe('windows-1251');
});

describe('an export in another language', () => {
  it.each([
    'Номер замовлення;Дата замовлення;Покупець;Артикул;Назва товару;Кількість',
    'Номер;Дата;Код контрагента;Код номенклатуры;Номенклатура;Количество',
    'Поръчка №;Дата на поръчка;ID на клиент;Код на продукт;Продукт;Количество',
    'Kód objednávky;Dátum;E-mail;Kód produktu;Názov položky;Množstvo',
    'Rendelés azonosító;Dátum;Vevő azonosító;Cikkszám;Terméknév;Mennyiség',
    'Nr. comandă;Data comenzii;ID client;Cod produs;Denumire produs;Cantitate',
    'Κωδικός Παραγγελίας;Ημερομηνία;Κωδικός Πελάτη;Κωδικός Προϊόντος;Προϊόν;Ποσότητα',
    'Tilausnumero;Tilauspäivä;Asiakasnumero;Tuotekoodi;Tuotenimi;Määrä',
    'Arve nr;Kuupäev;Kliendi kood;Tootekood;Toote nimetus;Kogus',
    'Užsakymo nr.;Data;Kliento ID;Prekės kodas;Prekė;Kiekis',
    'No. Pesanan;Waktu Pesanan Dibuat;Username (Pembeli);Nomor Referensi SKU;Nama Produk;Jumlah',
    'Mã đơn hàng;Ngày đặt hàng;Mã khách hàng;Mã sản phẩm;Tên sản phẩm;Số lượng',
    'หมายเลขคำสั่งซื้อ;วันที่ทำการสั่งซื้อ;ชื่อผู้ใช้ (ผู้ซื้อ);เลขอ้างอิง SKU;ชื่อสินค้า;จำนวน',
    'מספר הזמנה;תאריך;מספר לקוח;מק"ט;שם מוצר;כמות',
    'شماره سفارش;تاریخ;کد مشتری;کد کالا;نام کالا;تعداد',
    '订单编号;订单创建时间;买家会员名;宝贝编号;宝贝标题;数量',
    'Ordrenr;Ordredato;Kundenr;Varenr;Varenavn;Antal',
  ])('is known: %s', async (names) => {
    const [, time, user, item, title, value] = names.split(';');
    const head = textOf(names.replace('"', '""').replace(/[^;]*""[^;]*/, '"$&"'), (at) =>
      [`o${at >> 1}`, `${day(at >> 1)}`, `c${(at >> 1) % 13}`, `i${at % 7}`, `Tea ${at % 7}`, '1'].join(';'),
    );
    const told = await readProposed(text(head), {});
    const { columns, mapping, taken = [] } = told.plan;
    const named = Object.fromEntries(Object.entries(mapping).map(([field, at]) => [field, columns[at]]));
    expect(named).toMatchObject({ Timestamp: time, UserId: user, ItemId: item, Value: value });
    expect(taken).toContain(columns.indexOf(title!));
  });

  it('of which no name is known is told by what its columns hold', async () => {
    const shop = textOf('შეკვეთა,თარიღი,ქალაქი,მომხმარებელი,კოდი,პროდუქტი,ფასი', (at) =>
      [
        at >> 1,
        day((at >> 1) % 28),
        `t${((at >> 1) % 12) % 6}`,
        `m${(at >> 1) % 12}`,
        `G${(at * 3) % 7}`,
        'x',
        `${at}.50`,
      ].join(','),
    );
    expect(await columnsOf(shop)).toEqual({ UserId: 'მომხმარებელი', ItemId: 'კოდი', Timestamp: 'თარიღი' });
    const till = textOf('F1,F2,F3,F4,F5,F6', (at) =>
      [
        5000 + (at >> 1),
        day(at >> 1).replaceAll('-', ''),
        200 + ((at >> 1) % 12),
        40 + (at % 7),
        `Tea ${at % 7}`,
        1,
      ].join(','),
    );
    expect(await columnsOf(till)).toEqual({ UserId: 'F3', ItemId: 'F4', Timestamp: 'F2' });
    // Items have no times of their own, so that their groups are no users.
    expect(await columnsOf(textOf('კოდი,ჯგუფი', (at) => `g${at},${at % 9}`))).toEqual({});
  });

  it.each([
    ['отменён', true],
    ['Скасовано', true],
    ['Törölve', true],
    ['Ακυρώθηκε', true],
    ['Đã hủy', true],
    ['Trả hàng', true],
    ['ยกเลิกแล้ว', true],
    ['交易关闭', true],
    ['בוטל', true],
    ['Timed out', true],
    ['Виконано', false],
    ['交易成功', false],
    ['Hoàn thành', false],
  ])('has orders that are %s: left out %s', (state, isLeft) => {
    expect(isGone(state)).toBe(isLeft);
  });
});

it('a verdict is a rating of 1 or 0, and an address of mail goes before names of people', async () => {
  const reviews = textOf(
    'user_id,item_id,recommended,timestamp',
    (at) => `u${at % 9},i${at % 7},${at % 4 === 0 ? 'False' : 'True'},${day(at)}`,
  );
  const { plan } = await readPlan(text(reviews), { ratingMin: 1 });
  expect(plan.mapping.Rating).toBe(2);
  expect(
    [
      ['u', 'i', 'True', day(1)],
      ['u', 'i', 'False', day(1)],
    ].map((row) => recordOf(row, plan)),
  ).toMatchObject([{ record: { FeedbackType: 'like' } }, { record: { FeedbackType: 'read' } }]);
  const sales = textOf(
    'Customer,Contact,Item,Date',
    (at) => `Ann Ash,a${at % 9}@ex.com,Tea ${at % 7},${day(at)}`,
  );
  expect(await columnsOf(sales)).toMatchObject({ UserId: 'Contact' });
});

it('times of C, of a clock before the day and of the last change are times', async () => {
  expect(readTime('Tue Apr 03 18:00:09 +0000 2012', 'date')).toBe('2012-04-03T18:00:09+00:00');
  expect(readTime('04.02.2025. 03:10', 'day-first')).toBe('2025-02-04T03:10:00Z');
  expect(readTime('11:38 PM, September 10 2024', 'date')).toBe('2024-09-10T23:38:00Z');
  const games = textOf('username,objectid,lastmodified', (at) => `u${at % 9},${at % 7},${day(at)} 10:00:00`);
  expect(await columnsOf(games)).toMatchObject({ Timestamp: 'lastmodified' });
  // A column of a file without names is asked for by its number, which names nothing.
  const visits = textOf(
    '9,v0,-240,Ann,2024-03-01 of March',
    (at) => `${at % 9},v${at % 7},-240,Ann,${day(at)} of March`,
  );
  const { plan } = await readPlan(text(visits), { map: [['value', 'column 3']] });
  expect([plan.hasHeader, plan.mapping.Value]).toEqual([false, 2]);
});

it('where times are not understood another column is asked for, or that all of it is of now', async () => {
  const head = textOf('user,item,date,seen', (at) => `u${at % 9},i${at % 7},day ${at},${day(at)}`);
  const { open } = await readPlan(text(head), {});
  expect(open).toMatchObject({ open: 'time', guessInWords: 'seen' });
  expect(await columnsOf(head)).toMatchObject({ Timestamp: 'seen' });
  const now = await readPlan(text(head), { missingTime: 'now' });
  expect([now.open, now.plan.mapping.Timestamp]).toEqual([undefined, undefined]);
});
