import { expect, test } from 'vitest';
import { describePlan } from '../../src/exchange/describe-plan.ts';
import { planFile } from '../../src/exchange/import-plan.ts';
import { once, readRows } from '../../src/exchange/read-rows.ts';
import { recordOf } from '../../src/exchange/rows-to-records.ts';

/** The plan of a text and the records that it gives. */
async function read(...lines: readonly object[]) {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const plan = await planFile('a.json', text, true, { type: 'purchase' });
  const records: unknown[] = [];
  for await (const rows of readRows('a.json', once(text), plan.format, plan.columns))
    for (const row of rows)
      if ('cells' in row) records.push({ line: row.line, ...Object.values(recordOf(row.cells, plan))[0] });
  return { plan, records };
}

test('an order with its lines is a row for each of them, and one without any is none', async () => {
  const { plan, records } = await read(
    {
      id: 7,
      name: '#1001',
      created_at: '2025-03-01T08:00:00Z',
      customer: { id: 'ann', email: 'ann@example.com' },
      line_items: [
        { id: 1, sku: 'tea', name: 'Tea', quantity: 2 },
        { id: 2, sku: 'cup', name: 'Cup', quantity: 1 },
      ],
    },
    { id: 8, name: '#1002', created_at: '2025-03-02T08:00:00Z', customer: { id: 'bob' }, line_items: [] },
  );
  const time = { Timestamp: '2025-03-01T08:00:00Z', UserId: 'ann', FeedbackType: 'purchase' };
  expect(records).toMatchObject([
    { line: 1, ItemId: 'tea', Value: 2, ...time },
    { line: 1, ItemId: 'cup', Value: 1, ...time },
  ]);
  expect(describePlan(plan)).toContain('a row for each of "line_items", and none for a line without any');
  expect(describePlan(plan)).toContain('Comment from "line_items[].name"');
});

test('events of Google Analytics are taken by the visitor where no user is named', async () => {
  const event = { event_date: '20250301', event_timestamp: '1740816000000000', event_params: [{ key: 'a' }] };
  const { records } = await read(
    {
      ...event,
      event_name: 'view_item',
      user_id: null,
      user_pseudo_id: '7.1',
      items: [{ item_id: 'tea', item_name: 'Tea', quantity: '1' }],
    },
    { ...event, event_name: 'session_start', user_id: null, user_pseudo_id: '7.1', items: [] },
  );
  expect(records).toMatchObject([
    { FeedbackType: 'view_item', UserId: '7.1', ItemId: 'tea', Timestamp: '2025-03-01T08:00:00.000Z' },
  ]);
});

test('items with lists of others stay one row each', async () => {
  const { plan } = await read({ id: 'tea', title: 'Tea', related: [{ sku: 'cup' }] });
  expect(plan).toMatchObject({ kind: 'items', format: { list: undefined } });
});

test('values of objects within are columns of their own, known by the whole name or by its last part', async () => {
  const watched = { watched_at: '2025-02-04T06:44:00.000Z', type: 'movie' };
  const movie = {
    title: 'Tea',
    year: 1990,
    released_at: '1990-01-01',
    rating: 7,
    ids: { trakt: 504, imdb: 'tt5' },
  };
  const { plan, records } = await read(
    { ...watched, user: { username: 'ann', created_at: '2001-01-01' }, movie },
    { ...watched, user: { username: 'bob' }, movie },
  );
  expect(plan.columns).toContain('movie.ids.imdb');
  expect(plan.mapping).not.toHaveProperty('Rating');
  const common = {
    FeedbackType: 'movie',
    ItemId: '504',
    Comment: 'Tea',
    Timestamp: '2025-02-04T06:44:00.000Z',
  };
  expect(records).toMatchObject([
    { UserId: 'ann', ...common },
    { UserId: 'bob', ...common },
  ]);
});

test('documents of MongoDB, and events that hold the product and the shopper, are taken', async () => {
  const { records } = await read({
    _id: { $oid: 'a1' },
    shopperRef: { shopperId: 'ann' },
    payload: { product: { id: 'tea', type: 'drink', created_at: '2001-01-01' } },
    createdAt: { $date: '2025-03-01T08:00:00Z' },
  });
  expect(records).toMatchObject([
    { UserId: 'ann', ItemId: 'tea', FeedbackType: 'purchase', Timestamp: '2025-03-01T08:00:00Z' },
  ]);
});

test('a key within that would be another number is refused, in a list as well', async () => {
  const [user, time] = [{ id: 'ann' }, '2025-03-01T08:00:00Z'];
  const text = (key: string, within: string) =>
    `{"created_at":"${time}","user":${JSON.stringify(user)},"${key}":${within}}\n`;
  for (const given of [
    text('movie', '{"id":9007199254740993}'),
    text('lines', '[{"sku":9007199254740993}]'),
  ]) {
    const plan = await planFile('a.json', given, true, {});
    for await (const rows of readRows('a.json', once(given), plan.format, plan.columns))
      for (const row of rows) expect('cells' in row && recordOf(row.cells, plan)).toHaveProperty('refusal');
  }
});

test('an object that is named for labels is one column, and so are labels by their own name', async () => {
  const plan = await planFile('a.json', '{"sku":"tea","look":{"color":"red"}}', true, {
    map: [
      ['item', 'sku'],
      ['labels', 'look'],
    ],
  });
  for await (const rows of readRows(
    'a.json',
    once('{"sku":"tea","look":{"color":"red"}}'),
    plan.format,
    plan.columns,
  ))
    for (const row of rows)
      expect('cells' in row && recordOf(row.cells, plan)).toMatchObject({
        record: { Labels: { color: 'red' } },
      });
  const own = await planFile('a.json', '{"sku":"tea","title":"Tea","tags":{"color":"red"}}', true, {});
  expect(own.columns).toEqual(['sku', 'title', 'tags']);
});

test('keys that objects of JavaScript have themselves are columns like others', async () => {
  const event = '{"user":"ann","item":"tea","__proto__":[1],"constructor":{"__proto__":"x"}}';
  const { plan, records } = await read(JSON.parse(event));
  expect(plan.columns).toEqual(['user', 'item', '__proto__', 'constructor.__proto__']);
  expect(records).toMatchObject([{ UserId: 'ann', ItemId: 'tea' }]);
});
