import { expect, test } from 'vitest';
import { createRandom } from '../../../src/domain/random.ts';
import { loadKernels } from '../../../src/kernel/load-kernels.ts';
import { bitWords, setBit } from '../../../src/memory/bits.ts';
import { sharedBytesOf } from '../../../src/memory/find-shared-buffers.ts';
import { filled, sharedF32, sharedU32 } from '../../../src/memory/shared-arrays.ts';
import { createSharedMemory, MEMORY_BYTES_MAX, PAGE_BYTES } from '../../../src/memory/shared-memory.ts';
import type { NeighborTable } from '../../../src/model/neighbors/neighbor-table.ts';
import {
  openSums,
  placedSumsBytes,
  placeSums,
  SUMMED_ROWS_MAX,
} from '../../../src/model/neighbors/row-sums.ts';

const ROWS = 900;
const ENTRIES = 50;
const SERVING = { slots: 2, listLengthMax: 100 };
const SHAPE = { learnedItems: ROWS, entriesARow: ENTRIES, rowCount: ROWS };

/** Tables with a sum for each row, and with a hash table of sums. */
const TABLES = [
  { rowCount: ROWS, entries: ENTRIES },
  { rowCount: 20_000, entries: 3 },
];

/** Each row speaks for others, some against. */
function tableOf(rowCount: number, entries = ENTRIES): NeighborTable {
  const random = createRandom(rowCount);
  const count = rowCount * entries;
  const drawn = (draw: (at: number) => number, length = count) => Array.from({ length }, (_, at) => draw(at));
  const rows = filled(
    sharedU32(count),
    drawn(() => random.below(rowCount)),
  );
  const scores = filled(
    sharedF32(count),
    drawn(() => random.below(11) - 4),
  );
  const starts = filled(
    sharedU32(rowCount + 1),
    drawn((row) => row * entries, rowCount + 1),
  );
  return { rowCount, fingerprint: 1, recall: 1, starts, rows, scores };
}

function placed(table: NeighborTable, kinds = 1) {
  const of = placeSums(table, SERVING, { kinds });
  return { of, sums: (slot: number, kind: number) => openSums(of, loadKernels, slot)[kind]! };
}

function expectedSums(table: NeighborTable, items: readonly number[], weights: Float64Array) {
  const { starts, rows, scores, rowCount } = table;
  const sums = new Map<number, number>();
  items.slice(0, weights.length).forEach((item, at) => {
    if (item >= rowCount) return;
    for (let entry = starts[item]!; entry < starts[item + 1]!; entry++)
      sums.set(rows[entry]!, (sums.get(rows[entry]!) ?? 0) + weights[at]! * scores[entry]!);
  });
  return sums;
}

/** The rows with the highest sums above 0, by row. */
function expectedTop(
  sums: ReadonlyMap<number, number>,
  k: number,
  accept: (row: number) => boolean,
): number[] {
  const best = [...sums].filter(([row, sum]) => sum > 0 && accept(row));
  best.sort(([row, sum], [other, otherSum]) => otherSum - sum || row - other);
  return best
    .slice(0, k)
    .map(([row]) => row)
    .sort((a, b) => a - b);
}

test.each(TABLES)(
  'sums are those of a map, from one user to the next, for each slot and kind: %o',
  (shape) => {
    const { rowCount, entries } = shape;
    const table = tableOf(rowCount, entries);
    const { of, sums } = placed(table, 2);
    expect(of.bits > 0).toBe(rowCount > ROWS);
    const others = sums(1, 1);
    others.sumUp([7], Float64Array.of(0.5));
    for (const kind of [0, 1]) {
      const one = sums(0, kind);
      for (const items of [[3, 800, 3, rowCount, 12], [], [5, rowCount - 1]]) {
        const weights = Float64Array.of(1 / 3, 2, 1, 5);
        one.sumUp(items, weights);
        const expected = expectedSums(table, items, weights);
        const found = new Float64Array(rowCount + 1);
        one.copy([...found.keys()], found);
        expect([...found]).toEqual([...found.keys()].map((row) => expected.get(row) ?? 0));
        expect(one.largest).toBe(Math.max(0, ...expected.values()));
      }
    }
    expect(others.get(table.rows[7 * entries]!)).not.toBe(0);
  },
);

test.each(TABLES)(
  'the best are those allowed, not read and accepted, however many are refused: %o',
  (shape) => {
    const { rowCount, entries } = shape;
    const table = tableOf(rowCount, entries);
    const sums = placed(table).sums(1, 0);
    const items = Array.from({ length: 60 }, (_, at) => at * 13);
    const weights = new Float64Array(60).fill(1);
    sums.sumUp(items, weights);
    const expected = expectedSums(table, items, weights);
    const allowed = new Uint32Array(bitWords(rowCount - 100));
    for (let row = 0; row < rowCount - 100; row++) if (row % 9 !== 0) setBit(allowed, row);
    const read = Array.from({ length: rowCount / 2 }, (_, at) => at * 2);
    const isAllowed = (row: number) => row < rowCount - 100 && row % 9 !== 0;
    for (const [bits, left, accept] of [
      [undefined, [], () => true],
      [allowed, read, () => true],
      [undefined, read, (row: number) => row % 5 !== 0],
      [allowed, [], (row: number) => row % 50 === 1],
      [undefined, [], () => false],
    ] as const) {
      for (const k of [0, 1, 20, 100]) {
        const found = sums.topRows(k, { read: left, allowed: bits }, accept);
        const passes = (row: number) =>
          (bits === undefined || isAllowed(row)) && !(left as readonly number[]).includes(row) && accept(row);
        expect([...found].sort((a, b) => a - b)).toEqual(expectedTop(expected, k, passes));
      }
    }
    expect(() => sums.topRows(101, {}, () => true)).toThrow(RangeError);
  },
);

test('what is placed takes no more memory than was said, and its arrays are the table', () => {
  const table = tableOf(ROWS);
  const { of } = placed(table, 2);
  const said = placedSumsBytes(SHAPE, 1, 100, { kinds: 2 });
  expect(2 * sharedBytesOf(of)).toBeLessThanOrEqual(said.models + said.scratch + 2 * PAGE_BYTES);
  for (const name of ['starts', 'rows', 'scores'] as const) expect([...of[name]]).toEqual([...table[name]]);
  expect(() => openSums(of, loadKernels, 2)).toThrow(RangeError);
  const [starts, none] = [filled(sharedU32(3), [0, 0, 0]), sharedU32(0)];
  const empty = { ...table, rowCount: 2, starts, rows: none, scores: sharedF32(0) };
  const sums = placed(empty).sums(0, 0);
  sums.sumUp([0, 1], Float64Array.of(1, 1));
  expect([sums.largest, sums.topRows(5, {}, () => true).length]).toEqual([0, 0]);
});

test('where one memory does not hold the sums of all threads, further ones hold the table again', () => {
  const table = tableOf(ROWS);
  const [threads, kinds] = [7, 2];
  const serving = { slots: threads + 2, listLengthMax: 100 };
  const bytesMax = 7 * PAGE_BYTES;
  const placedBytes: number[] = [];
  const allocate = (bytes: number) => {
    placedBytes.push(bytes);
    return createSharedMemory(bytes);
  };
  const of = placeSums(table, serving, { kinds, bytesMax }, allocate);
  expect(of.memories.length).toBeGreaterThan(1);
  const { piece, models, scratch } = placedSumsBytes(SHAPE, threads, 100, { kinds, bytesMax });
  expect(piece).toBeLessThanOrEqual(bytesMax);
  expect(new Set(placedBytes)).toEqual(new Set([piece]));
  expect(models + scratch).toBeGreaterThanOrEqual(2 * piece * of.memories.length);
  const all = Array.from({ length: serving.slots }, (_, slot) => openSums(of, loadKernels, slot));
  const weights = new Float64Array(SUMMED_ROWS_MAX).fill(1);
  // Each sums something else, all before anything is read.
  all.forEach((sums, slot) => {
    sums.forEach((one, kind) => {
      one.sumUp([slot, slot + 20 * kind], weights);
    });
  });
  all.forEach((sums, slot) => {
    sums.forEach((one, kind) => {
      const expected = expectedSums(table, [slot, slot + 20 * kind], weights);
      const rows = [...Array(ROWS).keys()];
      expect(rows.map((row) => one.get(row))).toEqual(rows.map((row) => expected.get(row) ?? 0));
    });
  });
});

test('the sums of 64 threads over five million items are planned within memories that there can be', () => {
  const [learnedItems, rowCount] = [5e6, 5e6];
  for (const entriesARow of [10, 60]) {
    const shape = { learnedItems, entriesARow, rowCount };
    const { piece, models } = placedSumsBytes(shape, 64, 1000, { kinds: 2 });
    expect(piece).toBeLessThanOrEqual(MEMORY_BYTES_MAX);
    expect(placedSumsBytes(shape, 2, 1000, { kinds: 2 }).models).toBe(models);
  }
  // A table of no item needs the room of its sums, which do not grow with the items beyond some: a hash table has them.
  const sumsOf = (rows: number) =>
    placedSumsBytes({ learnedItems: 0, entriesARow: 10, rowCount: rows }, 64, 1, { kinds: 2 }).piece;
  const bits = (rows: number) => (64 + 2) * Math.ceil(rows / 8);
  expect(sumsOf(5e6) - sumsOf(1e6)).toBeLessThan(bits(4e6) + 4 * 4e6 + PAGE_BYTES);
});
