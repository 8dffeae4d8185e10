import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { lookAt } from '../../src/cli/import/run-import.ts';
import type { Feedback } from '../../src/domain/entities.ts';
import { importFile } from '../../src/exchange/import-file.ts';
import type { Wishes } from '../../src/exchange/import-plan.ts';
import type { RefusedRow } from '../../src/exchange/refused-rows.ts';

const folder = mkdtempSync(join(tmpdir(), 'furze-rows-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The reasons of refused rows by line, and the records of the others. */
async function read(text: string, wishes: Wishes = {}) {
  const path = join(folder, 'orders.csv');
  writeFileSync(path, text);
  const { plan } = await lookAt({ path, wishes });
  const refused = new Map<number, string>();
  const records: object[] = [];
  const result = await importFile({
    ...{ plan, skipsBad: true, onProgress: () => {} },
    onRow: ({ made }) => 'record' in made && records.push(made.record),
    onRefused: ({ line, reason }: RefusedRow) => refused.set(line, reason),
    signal: new AbortController().signal,
  });
  expect(result.kept + result.refused).toBe(result.rows);
  return { records, refused };
}

test('a row with fewer or more columns than the first is refused, wherever it is cut off', async () => {
  const whole = ['ann', 'tea', '1700000000', '2', 'x'];
  const row = fc.integer({ min: 1, max: 8 }).map((width) => ({
    width,
    text: [...whole, 'y', 'z', ''].slice(0, width).join(','),
  }));
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 20 }), async (rows) => {
      const head = `user,item,time,quantity,note\n${whole.join(',')}\n`;
      const { refused } = await read(head + rows.map(({ text }) => `${text}\n`).join(''));
      const unfit = rows.flatMap(({ width }, at) => (width === whole.length ? [] : [[at + 3, width]]));
      expect([...refused].map(([line, reason]) => [line, Number(/^\d+/.exec(reason)![0])])).toEqual(unfit);
    }),
    { numRuns: 100 },
  );
});

test('empty cells behind a row, as spreadsheets leave them, are no columns', async () => {
  const { records, refused } = await read('user,item,time\nann,tea,1700000000,,\nbob,tea,1700000000,,x\n');
  expect(records).toHaveLength(1);
  expect([...refused]).toEqual([[3, '5 columns where the first row has 3']]);
});

test('a row without a time among rows with times is refused, unless it is said that it is of now', async () => {
  const text = 'user,item,time\nann,tea,1700000000\nbob,tea,\ncy,tea,1700000000\n';
  expect([...(await read(text)).refused]).toEqual([
    [3, expect.stringMatching(/^no time.*--missing-time now/)],
  ]);
  const { records, refused } = await read(text, { missingTime: 'now' });
  expect(refused.size).toBe(0);
  expect(records[1]).toMatchObject({ UserId: 'bob', Timestamp: '' });
});

test('rows of which none has a time are of now where that is said or no column has times, and items need none', async () => {
  const empty = 'user,item,time\nann,tea,\nbob,tea,\n';
  await expect(read(empty)).rejects.toThrow(/no row has a time in "time".*--missing-time now/);
  expect((await read(empty, { missingTime: 'now' })).records).toHaveLength(2);
  expect((await read('user,item\nann,tea\nbob,tea\n')).records).toHaveLength(2);
  expect((await read('sku,title,created\na,A,2024-01-01\nb,B,\n')).records).toHaveLength(2);
});

test('files that were put behind one another are read as one, with their marks and first lines', async () => {
  const cell = fc.constantFrom('ann', 'bob', 'a "b"', 'tea', '1700000000');
  const part = fc.record({
    rows: fc.array(fc.tuple(cell, cell), { maxLength: 3 }),
    isMarked: fc.boolean(),
    isQuoted: fc.boolean(),
    isHeaded: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 4 }), async (parts) => {
      const texts = parts.map(({ rows, isMarked, isQuoted, isHeaded }, at) => {
        const written = (given: string) =>
          isQuoted || given.includes('"') ? `"${given.replaceAll('"', '""')}"` : given;
        const lines = [...(isHeaded || at === 0 ? [['user', 'item']] : []), ...rows];
        const body = lines.map((cells) => `${cells.map(written).join(',')}\n`).join('');
        return body === '' ? '' : (isMarked ? '\uFEFF' : '') + body;
      });
      const { records, refused } = await read(`${texts.join('')}zoe,last\n`);
      expect(refused.size).toBe(0);
      const pairs = (records as Feedback[]).map(({ UserId, ItemId }) => [UserId, ItemId]);
      expect(pairs).toEqual([...parts.flatMap(({ rows }) => rows), ['zoe', 'last']]);
    }),
  );
  const lines = ['{"UserId":"ann","ItemId":"tea"}\n', '{"UserId":"bob","ItemId":"tea"}\n'];
  const { records } = await read(lines.map((line) => `\uFEFF${line}`).join(''));
  expect((records as Feedback[]).map(({ UserId }) => UserId)).toEqual(['ann', 'bob']);
});
