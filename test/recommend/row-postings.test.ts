import fc from 'fast-check';
import { expect, it } from 'vitest';
import { setBit } from '../../src/memory/bits.ts';
import { atOnce } from '../../src/platform/concurrency/event-loop-turns.ts';
import { RowPostings } from '../../src/recommend/catalogue/row-postings.ts';

/** Rows that crowd one chunk, so that it becomes a bitmap and goes back, and some beside it. */
const step = fc.record({
  adds: fc.boolean(),
  first: fc.integer({ min: 0, max: 140_000 }),
  length: fc.constantFrom(1, 3, 5000),
  stride: fc.constantFrom(1, 2, 7),
});

it('holds what a Set of rows would, ascending', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const rows = new RowPostings();
      const expected = new Set<number>();
      for (const { adds, first, length, stride } of steps) {
        for (let at = 0; at < length; at++) {
          const row = first + at * stride;
          if (adds) rows.add(row);
          else rows.delete(row);
          if (adds) expected.add(row);
          else expected.delete(row);
        }
      }
      expect(rows.size).toBe(expected.size);
      expect([...rows]).toEqual([...expected].sort((a, b) => a - b));
      for (let row = 0; row < 150_000; row += 997) expect(rows.has(row)).toBe(expected.has(row));
      const given = Uint32Array.from({ length: 4700 }, (_, at) => Math.imul(at + 1, 0x9e3779b1));
      const [kept, left] = [given.slice(), given.slice()];
      rows.keepIn(kept);
      rows.removeFrom(left);
      const more = given.slice();
      atOnce(rows.addTo(more));
      const own = new Uint32Array(given.length);
      for (const row of expected) if (row < 32 * own.length) setBit(own, row);
      expect(kept).toEqual(given.map((bits, at) => bits & own[at]!));
      expect(more).toEqual(given.map((bits, at) => (bits | own[at]!) >>> 0));
      expect(left).toEqual(given.map((bits, at) => bits & ~own[at]!));
    }),
    { numRuns: 40 },
  );
});

it('is gone through once though rows come and go meanwhile', () => {
  for (const change of [(rows: RowPostings) => rows.delete(10), (rows: RowPostings) => rows.add(5)]) {
    const rows = new RowPostings();
    for (let row = 0; row < 100; row += 10) rows.add(row);
    const before = [...rows];
    const seen: number[] = [];
    for (const row of rows) {
      seen.push(row);
      if (row === 30) change(rows);
    }
    expect(seen).toEqual(before);
  }
});

it('tells its lowest rows at once, of few and of crowded chunks', () => {
  const rows = new RowPostings();
  expect(rows.first(3)).toEqual([]);
  for (let row = 7; row < 200; row += 31) rows.add(row);
  for (let row = 70_001; row < 80_000; row += 2) rows.add(row);
  rows.add(4_000_000_000);
  const all = [...rows];
  for (const limit of [0, 1, 7, 8, 4000, all.length - 1, all.length, all.length + 1])
    expect(rows.first(limit)).toEqual(all.slice(0, limit));
});

it('holds rows up to the highest number', () => {
  const rows = new RowPostings();
  for (const row of [0, 65_535, 65_536, 4_000_000_000]) rows.add(row);
  expect([...rows]).toEqual([0, 65_535, 65_536, 4_000_000_000]);
  rows.delete(65_535);
  expect(rows.has(65_535)).toBe(false);
  expect(rows.size).toBe(3);
});

it('holds more rows than a Set can', () => {
  const count = 2 ** 24 + 2;
  const rows = new RowPostings();
  for (let row = 0; row < count; row++) rows.add(row);
  expect(rows.size).toBe(count);
  expect(rows.has(count - 1)).toBe(true);
  expect(rows.has(count)).toBe(false);
});
