import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatTimestamp, parseTimestamp } from '../../src/domain/rfc3339.ts';

test.each([
  ['2022-03-04T05:06:07Z', '2022-03-04T05:06:07Z'],
  ['2022-03-04T05:06:07.678Z', '2022-03-04T05:06:07.678Z'],
  ['2022-03-04T05:06:07.6Z', '2022-03-04T05:06:07.600Z'],
  ['2022-03-04T05:06:07.678999999Z', '2022-03-04T05:06:07.678Z'],
  ['2022-03-04T05:06:07.000Z', '2022-03-04T05:06:07Z'],
  ['2022-03-04 05:06:07', '2022-03-04T05:06:07Z'],
  ['2022-03-04T05:06:07', '2022-03-04T05:06:07Z'],
  ['2022-03-04t05:06z', '2022-03-04T05:06:00Z'],
  ['2022-03-04T05:06:07+08:00', '2022-03-03T21:06:07Z'],
  ['2022-03-04T05:06:07-0130', '2022-03-04T06:36:07Z'],
  ['2022-03-04', '2022-03-04T00:00:00Z'],
  ['2024-02-29', '2024-02-29T00:00:00Z'],
  ['2000-02-29', '2000-02-29T00:00:00Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
  ['1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59.999Z'],
])('%s reads as %s', (text, expected) => {
  expect(formatTimestamp(parseTimestamp(text))).toBe(expected);
});

test.each([
  '',
  'yesterday',
  '1646370367',
  '2022-02-30',
  '2023-02-29',
  '1900-02-29',
  '2022-13-01',
  '2022-00-01',
  '2022-01-00',
  '2022-3-4',
  '2022-03-04T24:00:00Z',
  '2022-03-04T05:60:00Z',
  '2022-03-04T05:06:60Z',
  '2022-03-04T05:06:07.67xZ',
  '2022-03-04T05:06:60.678Z',
  '2022-03-04T05:06:07+24:00',
  '2022-03-04T05:06:07Zjunk',
  '2022-03-04Z',
  ' 2022-03-04',
  '9999-12-31T23:59:59-01:00',
  '0000-01-01T00:00:00+01:00',
])('%s is refused', (text) => {
  expect(parseTimestamp(text)).toBeNaN();
});

test('every day is where Date has it', () => {
  const wrong: string[] = [];
  for (let day = -719_528; day <= 2_932_896; day += 13) {
    const text = new Date(day * 86_400_000).toISOString().slice(0, 10);
    if (parseTimestamp(text) !== day * 86_400_000) wrong.push(text);
  }
  expect(wrong).toEqual([]);
});

test('what is written is read back, to the millisecond', () => {
  fc.assert(
    fc.property(fc.integer({ min: -62_167_219_200_000, max: 253_402_300_799_999 }), (timeMs) => {
      expect(parseTimestamp(formatTimestamp(timeMs))).toBe(timeMs);
    }),
  );
});
