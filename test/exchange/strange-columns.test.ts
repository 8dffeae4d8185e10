import { expect, test } from 'vitest';
import { planFile } from '../../src/exchange/import-plan.ts';

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
