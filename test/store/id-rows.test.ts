import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, expect, test } from 'vitest';
import { createRandom } from '../../src/domain/random.ts';
import { openDataTables } from '../../src/store/lmdb/tables/data-tables.ts';
import { readState } from '../../src/store/lmdb/tables/meta-table.ts';
import { IdRows } from '../../src/store/lmdb/writer/id-rows.ts';
import { tempFolder } from './helpers.ts';

const tables = openDataTables(tempFolder());
afterAll(() => tables.engine.close());

/** Ids `item-0` and so on, that stand in rows of these numbers. */
function itemRows(count: number) {
  const asked: string[] = [];
  const stored = (id: string) => {
    asked.push(id);
    const row = Number(id.slice('item-'.length));
    return row < count ? row : -1;
  };
  return { asked, rows: new IdRows('items', tables.itemIds, readState(tables), stored) };
}

test('an id that is asked for again and again is looked up once, however many others are', () => {
  const { asked, rows } = itemRows(500_000);
  const wrong: number[] = [];
  for (let row = 0; row < 300_000; row++) {
    if (rows.find(`item-${row}`) !== row) wrong.push(row);
    if (row % 10_000 === 0) expect(rows.find('item-0')).toBe(0);
  }
  expect(wrong).toEqual([]);
  expect(asked.filter((id) => id === 'item-0')).toHaveLength(1);
  expect(asked).toHaveLength(300_000);
});

test('whatever is added, removed and asked for, an id has the row that it was given last', () => {
  const random = createRandom(4);
  const now = new Map<string, number>();
  const rows = new IdRows('users', tables.userIds, readState(tables), (id) => now.get(id) ?? -1);
  const wrong: string[] = [];
  tables.engine.transact(() => {
    for (let step = 0; step < 400_000; step++) {
      const id = `user-${Math.floor(200_000 * random.float() ** 2)}`;
      const row = rows.find(id);
      if (row !== (now.get(id) ?? -1)) wrong.push(id);
      if (row < 0) now.set(id, rows.add(id));
      else if (random.below(3) === 0) {
        rows.remove(id);
        now.delete(id);
      }
    }
  });
  expect(wrong).toEqual([]);
  expect(now.size).toBeGreaterThan(50_000);
});

test('an id that was remembered long ago has no row once it is removed', () => {
  const { asked, rows } = itemRows(100_000);
  for (let row = 0; row < 100_000; row++) rows.find(`item-${row}`);
  asked.length = 0;
  tables.engine.transact(() => rows.remove('item-1'));
  expect(rows.find('item-2')).toBe(2);
  expect(asked).toEqual([]);
  rows.find('item-1');
  expect(asked).toEqual(['item-1']);
});

test('an id that was put in another row, as a copy of other tables does, and is removed has none', () => {
  const { asked, rows } = itemRows(100);
  rows.find('item-7');
  tables.engine.transact(() => rows.place('item-7', 90));
  expect(rows.find('item-7')).toBe(90);
  tables.engine.transact(() => rows.remove('item-7'));
  asked.length = 0;
  rows.find('item-7');
  expect(asked).toEqual(['item-7']);
});

test('ids that were cut out of long texts do not keep these in memory', () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const { asked, rows } = itemRows(500);
  const heapMb = () => {
    collect();
    return process.memoryUsage().heapUsed / 1e6;
  };
  const beforeMb = heapMb();
  for (let row = 0; row < 500; row++) {
    // As the parser of rows cuts cells out of what it has read.
    const text = Buffer.from(`item-${String(row).padStart(40, '0')},${'x'.repeat(100_000)}`).toString();
    expect(rows.find(text.slice(0, text.indexOf(',')))).toBe(row);
    asked.length = 0;
  }
  expect(heapMb() - beforeMb).toBeLessThan(25);
});
