import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import Papa from 'papaparse';
import { afterAll, describe, expect, test } from 'vitest';
import { lookAt } from '../../src/cli/import/run-import.ts';
import { decodeFeedback, decodeItems, decodeUsers } from '../../src/domain/decode-bodies.ts';
import { withGivenLabels } from '../../src/domain/labels.ts';
import { DEFAULT_LIMITS } from '../../src/domain/request-limits.ts';
import { formatTimestamp } from '../../src/domain/rfc3339.ts';
import type { Source } from '../../src/exchange/copy-sources.ts';
import { EXPORT_FORMATS, type ExportFormat, exportTo } from '../../src/exchange/export-file.ts';
import type { Kind } from '../../src/exchange/guess-columns.ts';
import { importFile } from '../../src/exchange/import-file.ts';
import type { Target } from '../../src/exchange/import-targets.ts';

const folder = mkdtempSync(join(tmpdir(), 'furze-round-trip-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What a store gives back of records as they are sent. */
function stored(kind: Kind, records: readonly object[]): object[] {
  const json = Buffer.from(JSON.stringify(records)) as Uint8Array<ArrayBuffer>;
  const batch = { json, single: false };
  if (kind === 'users') return decodeUsers(batch, DEFAULT_LIMITS).map(withGivenLabels);
  if (kind === 'items') return decodeItems(batch, DEFAULT_LIMITS).map(withGivenLabels);
  return decodeFeedback(batch, DEFAULT_LIMITS, 0);
}

/** What a store has after an import of an export of another one. */
async function roundTrip(
  kind: Kind,
  format: Exclude<ExportFormat, 'parquet'>,
  records: readonly object[],
  isKindSaid: boolean,
  isRaw = false,
): Promise<object[]> {
  const path = join(folder, `records.${format}`);
  async function* source(): ReturnType<Source> {
    yield { rows: [...records], cursor: '' };
  }
  await exportTo(path, kind, { format, isRaw }, source, () => {});
  const { plan } = await lookAt({ path, wishes: { isRaw, ...(isKindSaid && { kind }) } });
  expect(plan.kind).toBe(kind);
  const back: object[] = [];
  const target: Target = {
    name: 'this test',
    async write(_, json) {
      back.push(...stored(kind, JSON.parse(Buffer.from(json).toString())));
      return 0;
    },
  };
  const signal = new AbortController().signal;
  const onRefused = (row: object) => expect.unreachable(JSON.stringify(row));
  await importFile({ plan, target, skipsBad: false, signal, onRefused, onProgress: () => {} });
  return back;
}

/** Texts that are hard on a cell: quotes, bars, line ends, what looks like JSON, and any other character. */
const text = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '"',
    '|',
    ',',
    '\r',
    '\n',
    '5',
    ' 5',
    'true',
    'null',
    '[',
    '{}',
    '(no genres listed)',
    '-',
  ),
  fc.string({ unit: 'binary', maxLength: 5 }).filter((given) => !given.includes('\0')),
  // What a spreadsheet runs, and what looks like it was kept from it.
  fc
    .tuple(
      fc.constantFrom('', "'", "''"),
      fc.constantFrom(...'=+-@\t\r\n＝＋－＠'),
      fc.constantFrom('', '2+3', ' a'),
    )
    .map((parts) => parts.join('')),
  fc
    .array(fc.constantFrom(...'ab "\'|,;[]{}\\\r\n\t5\ufeff\u2028'), { maxLength: 5 })
    .map((parts) => parts.join('')),
);
const name = text.filter((given) => given !== '');
const id = name.filter((given) => !given.includes('/'));
const names = fc.array(name, { maxLength: 3 });
const { value: labels } = fc.letrec((tie) => ({
  value: fc.oneof(
    names,
    text,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    tie('list'),
    tie('object'),
  ),
  list: fc.array(fc.oneof(text, fc.integer(), tie('object')), { maxLength: 3 }),
  object: fc.dictionary(text, fc.oneof(text, fc.integer(), names), { maxKeys: 3, noNullPrototype: true }),
}));
const time = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9999-01-01'), noInvalidDate: true })
  .map((date) => formatTimestamp(date.getTime()));
const value = fc.double({ noNaN: true, noDefaultInfinity: true });
const RECORDS: Readonly<Record<Kind, fc.Arbitrary<object>>> = {
  users: fc.record({ UserId: id, Labels: labels, Comment: text, Subscribe: names }),
  items: fc.record({
    ItemId: id,
    IsHidden: fc.boolean(),
    Categories: names,
    Timestamp: fc.oneof(time, fc.constant('')),
    Labels: labels,
    Comment: text,
  }),
  feedback: fc.record({
    FeedbackType: id,
    UserId: id,
    ItemId: id,
    Timestamp: time,
    Comment: text,
    Value: value,
  }),
};

test('no cell of CSV is a formula for a spreadsheet, but for --raw', async () => {
  const record = fc
    .tuple(fc.constantFrom<Kind>('users', 'items', 'feedback'))
    .chain(([kind]) => RECORDS[kind].map((one) => ({ kind, records: stored(kind, [one]) })));
  await fc.assert(
    fc.asyncProperty(record, async ({ kind, records }) => {
      await roundTrip(kind, 'csv', records, true);
      const text = readFileSync(join(folder, 'records.csv'), 'utf8');
      const [, cells = []] = Papa.parse<string[]>(text, { delimiter: ',' }).data;
      expect(cells.filter((cell) => /^[=+\-@\t\r\n]/.test(cell) && !Number.isFinite(Number(cell)))).toEqual(
        [],
      );
    }),
    { numRuns: 300 },
  );
});

// Parquet has tests of its own: users and items are imported from text alone.
describe.each(EXPORT_FORMATS.filter((format) => format !== 'parquet'))('an export as %s', (format) => {
  test.each(Object.entries(RECORDS) as [Kind, fc.Arbitrary<object>][])(
    'gives the same %s again',
    async (kind, record) => {
      const given = fc.tuple(fc.array(record, { minLength: 1, maxLength: 6 }), fc.boolean(), fc.boolean());
      await fc.assert(
        fc.asyncProperty(given, async ([records, isKindSaid, isRaw]) => {
          const before = stored(kind, records);
          expect(await roundTrip(kind, format, before, isKindSaid, isRaw)).toEqual(before);
        }),
        { numRuns: 250 },
      );
    },
  );

  test('of a store without records is read as none', async () => {
    expect(await roundTrip('users', format, [], true)).toEqual([]);
  });

  test('gives labels again that are no list', async () => {
    const before = ['x', '5', 5, 0, false, '', 'a|b', ' x', { a: 1 }, ['x'], ['5'], [5]].map(
      (Labels, at) => ({
        UserId: `u${at}`,
        Labels,
        Comment: '',
        Subscribe: [],
      }),
    );
    expect(await roundTrip('users', format, before, true)).toEqual(before);
  });
});
