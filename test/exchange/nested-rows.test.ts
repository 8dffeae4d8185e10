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
