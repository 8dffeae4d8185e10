import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { lookAt } from '../../src/cli/import/run-import.ts';
import type { Feedback } from '../../src/domain/entities.ts';
import { findContinued } from '../../src/exchange/continued-rows.ts';
import { importFile } from '../../src/exchange/import-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'furze-continued-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** @param doneLine rows up to there were stored by an import that was cut off */
async function read(text: string, doneLine = 0) {
  const path = join(folder, 'orders_export.csv');
  writeFileSync(path, text);
  const { plan } = await lookAt({ path, wishes: {} });
  const records: Feedback[] = [];
  const refused: string[] = [];
  const { leftOut } = await importFile({
    ...{ plan, skipsBad: true, onProgress: () => {}, signal: new AbortController().signal },
    onRow: ({ made }) => 'record' in made && records.push(made.record as Feedback),
    onRefused: ({ reason }) => refused.push(reason),
    resumePoint: { read: () => ({ line: doneLine }), write: () => {}, remove: () => {} } as never,
  });
  return { plan, records, refused, leftOut };
}

const HEAD =
  'Name,Email,Financial Status,Total,Created at,Lineitem quantity,Lineitem name,Lineitem sku,Cancelled at,Vendor\n';
const order = (number: number, who: string, status: string, cancelled: string, skus: readonly string[]) =>
  skus
    .map((sku, at) =>
      at === 0
        ? `#${number},${who},${status},20,2024-03-0${number} 10:00:00 +0100,1,Tea ${sku},${sku},${cancelled},Own\n`
        : `#${number},,,,,1,Tea ${sku},${sku},,Own\n`,
    )
    .join('');

describe('an export of orders of which the first row alone has what is of the order', () => {
  const text =
    HEAD +
    order(1, 'ann@x.example', 'paid', '', ['a', 'b', 'c']) +
    order(2, 'bob@x.example', 'voided', '2024-03-02 12:00:00 +0100', ['a', 'c']) +
    order(3, 'cy@x.example', 'paid', '', ['b']) +
    order(4, 'ann@x.example', 'refunded', '', ['c', 'd']);

  it('gives each row the customer, the time and the state of its order', async () => {
    const { plan, records, refused, leftOut } = await read(text);
    expect(plan.continued?.key).toBe(0);
    expect(records.map(({ UserId, ItemId, Timestamp }) => [UserId, ItemId, Timestamp.slice(8, 10)])).toEqual([
      ['ann@x.example', 'a', '01'],
      ['ann@x.example', 'b', '01'],
      ['ann@x.example', 'c', '01'],
      ['cy@x.example', 'b', '03'],
    ]);
    expect(refused).toEqual([]);
    expect(leftOut).toEqual({ voided: 2, refunded: 2 });
  });

  it('takes titles from the rows, not from the number of the order', async () => {
    const { plan } = await read(text);
    expect(plan.columns[plan.mapping.Comment!]).toBe('Lineitem name');
  });

  it('goes on within an order where an import was cut off', async () => {
    const { records } = await read(text, 3);
    expect(records[0]).toMatchObject({ UserId: 'ann@x.example', ItemId: 'c' });
  });
});

describe('an export of orders of which the first row alone has the number, too', () => {
  const text = `Reference,Customer,Order date,Sku,Qty
S1,ann,2024-03-01,a,1
,,,b,1
,,,c,1
S2,bob,2024-03-02,a,1
S3,ann,2024-03-03,b,1
,,,a,1
`;

  it('gives each row the customer and the time of its order', async () => {
    const { records, refused } = await read(text);
    const ids = records.map(
      ({ UserId, ItemId, Timestamp }) => `${UserId} ${ItemId} ${Timestamp.slice(8, 10)}`,
    );
    expect(ids).toEqual(['ann a 01', 'ann b 01', 'ann c 01', 'bob a 02', 'ann b 03', 'ann a 03']);
    expect(refused).toEqual([]);
  });

  it('takes no row without a customer for one that goes on where it has a time of its own', async () => {
    const { records, refused } = await read(text.replace(',,,b', ',,2024-03-01,b'));
    expect(records).toHaveLength(3);
    expect(refused).toHaveLength(3);
  });

  it('takes what comes again later for no number of an order', () => {
    const rows = [
      ['', '', 'a', 'x'],
      ['', '0', 'b', 'y'],
      ['', '0', 'c', ''],
      ['ann', '', 'a', 'x'],
      ['ann', '0', 'b', 'y'],
      ['', '0', 'c', ''],
    ];
    expect(findContinued(rows, { UserId: 0, ItemId: 2 }, [])).toBeUndefined();
  });
});

it('leaves rows as they are where no column tells that they go on', () => {
  const filled = (rows: string[][]) => findContinued(rows, { UserId: 0 }, []);
  // The second row without a user has an order of its own; all have one shop.
  expect(
    filled([
      ['ann', '1', 'x'],
      ['', '1', 'x'],
      ['', '2', 'x'],
      ['', '2', 'x'],
    ]),
  ).toBeUndefined();
  expect(
    filled([
      ['ann', '1', 'x'],
      ['', '1', 'x'],
      ['bob', '1', 'x'],
      ['', '1', 'x'],
    ]),
  ).toBeUndefined();
  expect(
    filled([
      ['ann', '1', 'x'],
      ['', '1', 'x'],
    ]),
  ).toBeUndefined();
  const whole = [
    ['ann', '1', 'x'],
    ['', '1', 'x'],
    ['', '1', 'x'],
    ['bob', '2', 'x'],
    ['', '2', 'x'],
  ];
  expect(filled(whole)).toEqual({ key: 1, columns: [0] });
  // A list by items, with the title of each once, is none of orders.
  expect(findContinued(whole, { UserId: 0, ItemId: 1 }, [])).toBeUndefined();
});
