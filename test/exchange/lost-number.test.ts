import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { lookAt } from '../../src/cli/import/run-import.ts';
import { importFile } from '../../src/exchange/import-file.ts';
import type { Target } from '../../src/exchange/import-targets.ts';
import { isKept, lostNumbers } from '../../src/exchange/lost-number.ts';
import type { RefusedRow } from '../../src/exchange/refused-rows.ts';

const folder = mkdtempSync(join(tmpdir(), 'furze-numbers-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(['0', '-0', '0e999', '1e308', '5e-324', '9007199254740992', '1e21', '0.1', '+3', '.5', '1.0e+5'])(
  '%s is kept',
  (literal) => expect(isKept(literal)).toBe(true),
);
test.each([
  '1e999',
  '-1e309',
  '1e-999',
  '0.1e-400',
  '9007199254740993',
  '12345678901234567890',
  `1${'0'.repeat(400)}`,
])('%s is not kept', (literal) => expect(isKept(literal)).toBe(false));

test('every number that an export writes is kept, and of two whole numbers that become one at most one', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) =>
      isKept(JSON.stringify(value)),
    ),
    { numRuns: 2000 },
  );
  fc.assert(
    fc.property(fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n }), (value) => {
      const both = [String(value), String(value + 1n)];
      return Number(both[0]) !== Number(both[1]) || !both.every(isKept);
    }),
    { numRuns: 2000 },
  );
});

test('a lost number is found under its own key and those around it, outside of texts', () => {
  const text = String.raw`{"a":"1e999 \" , 2e999","b":{"x":[1,1e999]},"c":1e2,"d\"e":-1e999,"e":"12345678901234567890"}`;
  expect([...lostNumbers(text)!].map(([key, { literal }]) => [key, literal])).toEqual([
    ['b', '1e999'],
    ['b.x', '1e999'],
    ['b.x[]', '1e999'],
    ['d"e', '-1e999'],
  ]);
});

/** A value as a file writes it, and whether an import takes it. */
const value = fc.oneof(
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .map((number) => ({ text: JSON.stringify(number), isGood: true })),
  fc.integer({ min: 309, max: 999 }).map((power) => ({ text: `-1e${power}`, isGood: false })),
  fc.integer({ min: 330, max: 999 }).map((power) => ({ text: `1.5e-${power}`, isGood: false })),
  fc
    .bigInt({ min: 2n ** 60n, max: 2n ** 61n })
    .map((whole) => ({ text: String(whole * 2n + 1n), isGood: false })),
);
const line = fc.oneof(
  { weight: 9, arbitrary: value },
  // What is no row at all.
  { weight: 1, arbitrary: fc.constant({ text: undefined, isGood: false }) },
);

const FORMS: Readonly<Record<string, (values: readonly (string | undefined)[]) => string>> = {
  csv: (values) =>
    `user,item,time,value\n${values.map((text, at) => `u,${text === undefined ? '' : at},1700000000,${text ?? ''}\n`).join('')}`,
  'ndjson of other names': (values) =>
    values
      .map((text, at) =>
        text === undefined ? 'nothing\n' : `{"user":"u","item":"${at}","ts":1700000000,"qty":${text}}\n`,
      )
      .join(''),
  'ndjson of the API': (values) =>
    values
      .map((text, at) =>
        text === undefined
          ? '[]\n'
          : `{"FeedbackType":"like","UserId":"u","ItemId":"${at}","Timestamp":"","Value":${text}}\n`,
      )
      .join(''),
};

describe.each(Object.entries(FORMS))('numbers in %s', (name, write) => {
  test('are stored as they are or refused by line and field, and the counts add up', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 30 }), async (rest) => {
        const lines = [{ text: '2', isGood: true }, ...rest];
        const path = join(folder, `${name.replaceAll(' ', '-')}.txt`);
        writeFileSync(path, write(lines.map(({ text }) => text)));
        const { plan } = await lookAt({ path, wishes: { kind: 'feedback' } });
        const stored = new Map<string, number>();
        const target: Target = {
          name: 'this test',
          async write(_, json) {
            const records = JSON.parse(Buffer.from(json).toString()) as { ItemId: string; Value?: number }[];
            for (const { ItemId, Value = 0 } of records) stored.set(ItemId, Value);
            return records.length;
          },
        };
        const refused: RefusedRow[] = [];
        const result = await importFile({
          ...{ plan, target, skipsBad: true, onProgress: () => {} },
          onRefused: (row) => refused.push(row),
          signal: new AbortController().signal,
        });
        expect(result.rows).toBe(lines.length);
        expect(result.kept + result.refused).toBe(result.rows);
        expect(result.kept).toBe(stored.size);
        const header = name === 'csv' ? 2 : 1;
        expect(refused.map((row) => row.line - header)).toEqual(
          lines.flatMap(({ isGood }, at) => (isGood ? [] : [at])),
        );
        for (const [at, { text, isGood }] of lines.entries()) {
          if (isGood) expect(stored.get(String(at))).toBe(Number(text) || 0);
          else if (text !== undefined)
            expect(refused.find((row) => row.line - header === at)!.reason).toContain(
              `Value: the number ${text}`,
            );
        }
      }),
      { numRuns: 100 },
    );
  });
});

test('a lost number in labels, in an id or in a column that is not used', async () => {
  const path = join(folder, 'items.ndjson');
  writeFileSync(
    path,
    '{"sku":"a","tags":{"x":1},"other":1e999}\n{"sku":"b","tags":{"x":1e999}}\n{"sku":1e999,"tags":[]}\n{"sku":"c","tags":"{\\"x\\":1e-999}"}\n',
  );
  const { plan } = await lookAt({ path, wishes: { kind: 'items' } });
  const refused: RefusedRow[] = [];
  const signal = new AbortController().signal;
  const result = await importFile({
    plan,
    skipsBad: true,
    onRefused: (row) => refused.push(row),
    onProgress: () => {},
    signal,
  });
  expect(result).toMatchObject({ rows: 4, kept: 1, refused: 3 });
  expect(refused.map(({ line, reason }) => [line, reason.split(':')[0]])).toEqual([
    [2, 'Labels'],
    [3, 'ItemId'],
    [4, 'Labels'],
  ]);
});
