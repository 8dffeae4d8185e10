import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatDuration, parseDuration } from '../../src/domain/duration.ts';

test.each([
  ['1h30m', 5_400_000],
  ['0h10m0s', 600_000],
  ['1.5h', 5_400_000],
  ['100ms', 100],
  ['0s', 0],
  ['0h0m0s', 0],
  ['.5s', 500],
  ['1.s', 1000],
  ['250us', 0.25],
  ['250\u00b5s', 0.25],
  ['720h', 2_592_000_000],
])('%s is %d ms', (text, expectedMs) => {
  expect(parseDuration(text)).toBe(expectedMs);
});

test.each(['', '0', '10', '1h30', 'h', '1d', '-1h', '+1h', '1h 30m', '1.2.3s', '.s', '1H'])(
  '%s is refused',
  (text) => {
    expect(parseDuration(text)).toBeNaN();
  },
);

test.each([
  [0, '0s'],
  [100, '100ms'],
  [1500, '1.5s'],
  [5_400_000, '1h30m0s'],
  [600_000, '10m0s'],
  [259_200_000, '72h0m0s'],
  [0.25, '250\u00b5s'],
  [0.00025, '250ns'],
])('%d ms is written %s', (durationMs, expected) => {
  expect(formatDuration(durationMs)).toBe(expected);
});

test('what is written is read back', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e13 }), (durationMs) => {
      expect(parseDuration(formatDuration(durationMs))).toBeCloseTo(durationMs, 3);
    }),
  );
});
