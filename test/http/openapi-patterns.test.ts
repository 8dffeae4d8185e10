import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FurzeError } from '../../src/domain/furze-error.ts';
import { DEFAULT_LIMITS } from '../../src/domain/request-limits.ts';
import { parseTimestamp } from '../../src/domain/rfc3339.ts';
import { FACTOR, TIMESTAMP } from '../../src/http/openapi/openapi.ts';
import { parseQuery, type QueryName } from '../../src/http/route/query-parameters.ts';

const rules = { defaultN: 10, limits: DEFAULT_LIMITS };

/** True where the service takes a value of a query parameter. */
function takes(name: QueryName, value: string): boolean {
  try {
    parseQuery(`${name}=${encodeURIComponent(value)}`, [name], rules);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(FurzeError);
    return false;
  }
}

const two = fc.integer({ min: 0, max: 99 }).map((n) => String(n).padStart(2, '0'));
const year = fc.integer({ min: 1, max: 9998 }).map((n) => String(n).padStart(4, '0'));
const month = fc.integer({ min: 0, max: 13 }).map((n) => String(n).padStart(2, '0'));
const day = fc.integer({ min: 0, max: 32 }).map((n) => String(n).padStart(2, '0'));
const clock = fc
  .tuple(two, two, fc.constantFrom('', ':00', ':59', ':60', ':07.5', ':07,123456789'))
  .map(([hour, minute, second]) => `${hour}:${minute}${second}`);
const moment = fc
  .tuple(
    year,
    month,
    day,
    fc.constantFrom('T', 't', ' ', '_'),
    clock,
    fc.constantFrom('', 'Z', 'z', '+02:00', '-1130', '+24:00', '+1'),
  )
  .map(([y, m, d, sign, time, zone]) => `${y}-${m}-${d}${sign}${time}${zone}`);
const date = fc.tuple(year, month, day).map((parts) => parts.join('-'));

test('the document takes a time where the service does', () => {
  const pattern = new RegExp(`^${TIMESTAMP}$`);
  const leaps = ['2000-02-29', '1900-02-29', '2024-02-29', '2023-02-29', '0400-02-29', '2100-02-29'];
  expect(leaps.map((text) => pattern.test(text))).toEqual([true, false, true, false, true, false]);
  fc.assert(
    fc.property(fc.oneof(moment, date), (text) => {
      expect([text, pattern.test(text)]).toEqual([text, !Number.isNaN(parseTimestamp(text))]);
    }),
    { seed: 3, numRuns: 5000 },
  );
});

test('the document takes a factor where the service does', () => {
  const pattern = new RegExp(`^[^\\u0000]+:${FACTOR}$`);
  const factor = fc.oneof(
    fc.constantFrom(
      '0',
      '0.001',
      '0.0009',
      '1000',
      '1000.0',
      '1000.1',
      '007',
      '.5',
      '1.',
      '00.010',
      '0.1',
      '1e3',
      '',
    ),
    fc.double({ min: 0, max: 1100, noNaN: true }).map((number) => number.toFixed(5)),
  );
  fc.assert(
    fc.property(factor, (text) => {
      expect([text, pattern.test(`a:${text}`)]).toEqual([text, takes('boost', `a:${text}`)]);
    }),
    { seed: 3, numRuns: 3000 },
  );
});
