import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AnswerBuilder } from '../../../src/recommend/answers/answer-builder.ts';
import { withPins } from '../../../src/recommend/placements/placement.ts';
import { ShownCounts } from '../../../src/recommend/placements/shown-counts.ts';

const LABELS = ['a', 'b', 'c', 'd'];
/** Rows of a catalogue with up to two labels each, in the order in which they are offered. */
const offers = fc.array(fc.subarray(LABELS, { maxLength: 2 }), { minLength: 1, maxLength: 80 });

interface World {
  readonly labels: readonly (readonly string[])[];
  readonly most: number;
  readonly window: number;
  readonly wanted: number;
  readonly pinPlaces: readonly number[];
}

/** An answer out of all rows in order, those of pins aside. */
function answerOf({ labels, most, window, wanted, pinPlaces }: World) {
  const pins = pinPlaces.map((place, at) => ({ row: labels.length - 1 - at, place }));
  const caps = new ShownCounts([{ most, namesAt: (row) => labels[row]! }], window, pins);
  const answer = new AnswerBuilder(wanted, caps);
  for (let row = 0; row < labels.length - pins.length; row++) answer.take(row, -row);
  return { answer, all: withPins(answer.rows, pins, wanted + pins.length), pins };
}

/** The fullest of the windows that hold an entry which is no pin: how often a name stands in it. */
function fullest(rows: readonly number[], { labels, window }: World, isPin: (row: number) => boolean) {
  let most = 0;
  for (let end = 1; end <= rows.length; end++) {
    const inside = rows.slice(Math.max(0, end - window), end);
    for (const label of LABELS) {
      const having = inside.filter((row) => labels[row]!.includes(label));
      if (!having.every(isPin)) most = Math.max(most, having.length);
    }
  }
  return most;
}

const worlds = fc.record({
  labels: offers,
  most: fc.integer({ min: 1, max: 3 }),
  window: fc.integer({ min: 1, max: 12 }),
  wanted: fc.integer({ min: 1, max: 60 }),
  pinPlaces: fc.constant([]),
});

test('no window of a list, however long, has more of a label than may be', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      const { answer, all } = answerOf(world);
      expect(fullest(all, world, () => false)).toBeLessThanOrEqual(world.most);
      expect(new Set(all).size).toBe(all.length);
      const scores = all.map((row) => answer.scoreOf(row));
      expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    }),
    { numRuns: 500 },
  );
});

test('at each place stands the best row that may, and a list ends where none does', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      const { labels, most, window, wanted } = world;
      const rest = labels.map((_, row) => row);
      const greedy: number[] = [];
      while (greedy.length < wanted) {
        const before = greedy.slice(Math.max(0, greedy.length - window + 1));
        const fits = (row: number) =>
          labels[row]!.every(
            (label) => before.filter((other) => labels[other]!.includes(label)).length < most,
          );
        const at = rest.findIndex(fits);
        if (at < 0) break;
        greedy.push(...rest.splice(at, 1));
      }
      expect(answerOf(world).all).toEqual(greedy);
    }),
    { numRuns: 500 },
  );
});

test('pins are never refused, and what stands around them keeps to the window with them in it', () => {
  const places = fc.uniqueArray(fc.integer({ min: 1, max: 20 }), { maxLength: 5 });
  fc.assert(
    fc.property(worlds, places, (world, chosen) => {
      const pinPlaces = chosen.slice(0, world.labels.length - 1).toSorted((a, b) => a - b);
      const pinned = { ...world, pinPlaces };
      const { answer, all, pins } = answerOf(pinned);
      const isPin = (row: number) => pins.some((pin) => pin.row === row);
      expect(all.filter(isPin)).toHaveLength(pins.length);
      // Where the list is shorter, a pin stands at the end, for which nothing made room.
      fc.pre(pinPlaces.every((place) => place <= answer.rows.length + pins.length));
      expect(fullest(all, pinned, isPin)).toBeLessThanOrEqual(world.most);
    }),
    { numRuns: 500 },
  );
});

test('without a window a cap holds for the whole list', () => {
  const labels = [['a'], ['a'], ['a'], [], ['a'], ['b']];
  const world = { labels, most: 2, window: Number.POSITIVE_INFINITY, wanted: 6, pinPlaces: [] };
  expect(answerOf(world).all).toEqual([0, 1, 3, 5]);
});
