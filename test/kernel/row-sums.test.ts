import { describe, expect, test } from 'vitest';
import { bitsBytes, rowSumsBytes } from '../../src/kernel/scratch-sizes.ts';
import { createWorld, IMPLEMENTATIONS, LENGTHS, putFloats, putInts, type World } from './world.ts';

interface Shape {
  readonly rows: number;
  /** Entries of each row of the table. */
  readonly entries: number;
  readonly items: number;
  /** Sums stand in a hash table. */
  readonly isHashed?: boolean;
  /** Whole numbers, so that many sums are equal. */
  readonly isWhole?: boolean;
}

/** A random table and items of it, of which some are unknown and some come twice. */
function prepare(world: World, { rows, entries, items, isHashed, isWhole }: Shape) {
  const { arena, random } = world;
  const bits = isHashed ? Math.ceil(Math.log2(2 * entries * items)) : 0;
  const draw = (n: number) =>
    Array.from({ length: n }, () => (isWhole ? random.below(5) - 1 : random.normal()));
  const lengths = Array.from({ length: rows }, () => random.below(entries + 1));
  const starts = [0];
  for (const length of lengths) starts.push(starts.at(-1)! + length);
  const count = starts.at(-1)!;
  const weights = arena.alloc(items * 8, 8);
  const job = {
    ...{ rows, bits },
    starts: putInts(arena, starts),
    columns: putInts(
      arena,
      Array.from({ length: count }, () => random.below(rows)),
    ),
    scores: putFloats(arena, draw(count)),
    items: putInts(
      arena,
      Array.from({ length: items }, () => random.below(rows + 2)),
    ),
    weights,
    count: items,
    sums: arena.alloc(rowSumsBytes(rows, bits), 16),
  };
  new Float64Array(world.memory.buffer, weights, items).set(draw(items).map(Math.abs));
  return job;
}

type Job = ReturnType<typeof prepare>;

/** The sum of each row. */
function sumsOf(world: World, { sums, rows, bits }: Job): number[] {
  const { buffer } = world.memory;
  if (bits === 0) return [...new Float64Array(buffer, sums, rows)];
  const places = new Float64Array(buffer, sums, 2 ** bits);
  const of = new Array<number>(rows).fill(0);
  for (const [place, key] of new Uint32Array(buffer, sums + 8 * 2 ** bits, 2 ** bits).entries())
    if (key > 0) of[key - 1] = places[place]!;
  return of;
}

/** By the kernels under test and by their oracle. */
function summed(world: World, job: Job) {
  const largest = world.kernels.sumRows(job);
  const sums = sumsOf(world, job);
  const other = { ...job, sums: world.arena.alloc(rowSumsBytes(job.rows, job.bits), 16) };
  return { largest, sums, expected: { largest: world.plain.sumRows(other), sums: sumsOf(world, other) } };
}

/** The best rows with their sums, by row. */
function topOf(world: World, kernels: World['kernels'], job: Job, k: number, allowedBits: number) {
  const outRows = world.arena.alloc(k * 4);
  const outScores = world.arena.alloc(k * 8, 8);
  const { sums, rows } = job;
  const count = kernels.topSums({ sums, rows, bits: job.bits, k, allowedBits, outRows, outScores });
  const scores = new Float64Array(world.memory.buffer, outScores, count);
  const pairs = [...world.arena.u32(outRows, count)].map((row, at) => [row, scores[at]!] as const);
  return pairs.sort(([row], [other]) => row - other);
}

function bits(world: World, rows: number, share: number): number {
  const words = new Uint32Array(bitsBytes(rows) / 4);
  for (let row = 0; row < rows; row++) if (world.random.float() < share) words[row >>> 5]! |= 1 << (row & 31);
  return putInts(world.arena, words);
}

const WAYS = IMPLEMENTATIONS.flatMap((name) => [
  { name, isHashed: false },
  { name, isHashed: true },
]);

describe.each(WAYS)('$name, in a hash table $isHashed: sums of rows', ({ name, isHashed }) => {
  test.each(LENGTHS.filter((rows) => rows > 0))(
    'are those of the plain twin, bit for bit: %i rows',
    (rows) => {
      const world = createWorld(name, rows);
      const { expected, ...found } = summed(world, prepare(world, { rows, entries: 9, items: 7, isHashed }));
      expect(found).toEqual(expected);
    },
  );

  test.each([1, 10, 100, 5000])('have the best %i rows, by rows allowed', (k) => {
    const world = createWorld(name, k);
    for (const isWhole of [false, true]) {
      for (const [entries, items] of [
        [2, 3],
        [40, 30],
        [40, 300],
      ] as const) {
        const job = prepare(world, { rows: 1500, entries, items, isHashed, isWhole });
        const { expected, ...found } = summed(world, job);
        expect(found).toEqual(expected);
        for (const allowed of [0, bits(world, 1500, 0.9), bits(world, 1500, 0.05), bits(world, 1500, 0)])
          expect(topOf(world, world.kernels, job, k, allowed)).toEqual(
            topOf(world, world.plain, job, k, allowed),
          );
      }
    }
  });

  test('forget what was summed before', () => {
    const world = createWorld(name);
    const job = prepare(world, { rows: 3000, entries: 30, items: 40, isHashed });
    world.kernels.sumRows(job);
    for (const count of [1, 0, 20]) {
      const { expected, ...found } = summed(world, { ...job, count });
      expect(found).toEqual(expected);
      expect(topOf(world, world.kernels, job, 50, 0)).toEqual(topOf(world, world.plain, job, 50, 0));
    }
  });
});
