import { describe, expect, test } from 'vitest';
import {
  bitsBytes,
  headBytes,
  paddedFactors,
  panelBytes,
  topKScratchBytes,
} from '../../src/kernel/scratch-sizes.ts';
import { Arena } from '../../src/memory/arena.ts';
import { headScratchBytes, placeHeads } from '../../src/model/als/place-heads.ts';
import { createWorld, IMPLEMENTATIONS, putFactors, putInts, type World, wholes } from './world.ts';

interface Case {
  readonly items: number;
  readonly rows: number;
  readonly f: number;
  readonly k: number;
}

const BUILDS = IMPLEMENTATIONS.filter((name) => name !== 'plain');

/** Numbers whose sizes fall along a row, of rows whose norms differ, as learned ones are. */
function learned(world: World, rows: number, f: number): Float32Array {
  const { random } = world;
  return Float32Array.from({ length: rows * f }, (_, at) => random.normal() / (1 + (at % f))).map(
    (value, at) => value * (0.02 + ((Math.imul(Math.floor(at / f), 0x9e3779b1) >>> 0) / 2 ** 32) ** 12),
  );
}

function prepare(
  world: World,
  { items, rows, f, k }: Case,
  change: (factors: Float32Array, queries: Float32Array) => void,
) {
  const { arena, kernels } = world;
  const [queries, factors] = [putFactors(world, rows, f), putFactors(world, items, f)];
  const [panels, heads] = [arena.alloc(panelBytes(items, f)), arena.alloc(headBytes(items, f))];
  change(arena.f32(factors, items * f), arena.f32(queries, rows * f));
  kernels.packPanels(factors, items, f, panels);
  const gramian = arena.alloc(f * f * 4);
  kernels.gramian(factors, items, f, gramian);
  const start = arena.alloc(headScratchBytes(f));
  const scratch = new Arena(world.memory, start, start + headScratchBytes(f));
  const isHeaded = placeHeads(kernels, { factors, items, f, gramian, heads, scratch });
  return {
    ...{
      queries,
      rows,
      panels,
      items,
      f: paddedFactors(f),
      k,
      factors,
      readStarts: 0,
      readItems: 0,
      isHeaded,
      heads: isHeaded ? heads : 0,
    },
    scratch: arena.alloc(topKScratchBytes(f)),
    outItems: arena.alloc(rows * k * 4 + 4),
    outScores: arena.alloc(rows * k * 4 + 4),
    outCounts: arena.alloc(rows * 4),
  };
}

type Job = ReturnType<typeof prepare> & { allowedBits?: number };

function listsOf({ arena, kernels }: World, job: Job) {
  kernels.batchTopK(job);
  const counts = arena.u32(job.outCounts, job.rows);
  return Array.from(counts, (count, row) => ({
    items: [...arena.u32(job.outItems + row * job.k * 4, count)],
    scoreBits: [...arena.u32(job.outScores + row * job.k * 4, count)],
  }));
}

/** Lists by heads must be those of the plain scan, to the last bit. */
function check(world: World, job: Job): void {
  const exact = listsOf(world, { ...job, heads: 0 });
  expect(listsOf(world, job)).toEqual(exact);
}

describe.each(BUILDS)('many queries by heads, %s', (name) => {
  test.each([
    { items: 1, rows: 1, f: 32, k: 1 },
    { items: 9, rows: 3, f: 32, k: 1 },
    { items: 4096, rows: 66, f: 32, k: 1 },
    { items: 5003, rows: 7, f: 64, k: 10 },
    { items: 9001, rows: 5, f: 48, k: 100 },
    { items: 3001, rows: 2, f: 128, k: 300 },
    { items: 700, rows: 4, f: 36, k: 700 },
  ])('finds the same as the plain scan: %o', (shape) => {
    for (const seed of [1, 2, 3]) {
      const world = createWorld(name, seed);
      const { arena, random } = world;
      const job = prepare(world, shape, (factors, queries) => {
        factors.set(learned(world, shape.items, shape.f));
        queries.set(learned(world, shape.rows, shape.f));
      });
      expect(job.isHeaded).toBe(shape.items > 1);
      check(world, job);
      const lists = Array.from({ length: shape.rows }, () =>
        Array.from({ length: shape.items }, (_, item) => item).filter(() => random.float() < 0.1),
      );
      const starts = lists.map((_, at) => lists.slice(0, at).flat().length);
      const read = {
        readStarts: putInts(arena, [...starts, lists.flat().length]),
        readItems: putInts(arena, lists.flat()),
      };
      check(world, { ...job, ...read });
      for (const share of [0.9, 0.5, 0.004]) {
        const bits = new Uint32Array(bitsBytes(shape.items) / 4);
        for (let item = 0; item < shape.items; item++)
          if (random.float() < share) bits[item >> 5]! |= 1 << (item & 31);
        check(world, { ...job, ...read, allowedBits: putInts(arena, [...bits]) });
      }
    }
  });

  test('puts equal scores in the order of rows, and the lower rows into the list', () => {
    const world = createWorld(name);
    const shape = { items: 4100, rows: 6, f: 32, k: 50 };
    const job = prepare(world, shape, (factors, queries) => {
      factors.set(wholes(world.random, factors.length, 1));
      // The same few items, each half as long as the one before, over and over: most scores are ties.
      for (let at = 0; at < 40 * 32; at++) factors[at]! *= 2 ** -Math.floor(at / 32);
      for (let row = 40; row < shape.items; row++)
        factors.copyWithin(row * 32, (row % 40) * 32, (row % 40) * 32 + 32);
      queries.set(wholes(world.random, queries.length, 2));
      queries.fill(0, 0, 32);
    });
    expect(job.isHeaded).toBe(true);
    check(world, job);
    expect(listsOf(world, job)[0]!.items).toEqual(Array.from({ length: 50 }, (_, row) => row));
  });

  test.each([1e-37, 1e-30, 1e-18, 1e-9, 1e9, 1e16, 1e30])('holds for factors about %d', (scale) => {
    const world = createWorld(name);
    for (const [ofItems, ofQueries] of [
      [scale, 1],
      [1, scale],
      [scale, scale],
    ] as const) {
      const job = prepare(world, { items: 1500, rows: 5, f: 32, k: 5 }, (factors, queries) => {
        factors.set(learned(world, 1500, 32).map((value) => value * ofItems));
        queries.set(learned(world, 5, 32).map((value) => value * ofQueries));
        factors.fill(0, 320, 640);
      });
      expect(job.isHeaded).toBe(ofItems < 1e18);
      check(world, job);
    }
  });

  test('makes no heads of what is not finite, and leaves queries that are not to the plain scan', () => {
    const world = createWorld(name);
    const shape = { items: 1000, rows: 2, f: 32, k: 10 };
    const broken = prepare(world, shape, (factors) => {
      factors[40] = Number.NaN;
    });
    expect(broken.isHeaded).toBe(false);
    const job = prepare(world, shape, (factors, queries) => {
      factors.set(learned(world, 1000, 32));
      queries[3] = Number.NaN;
      queries[35] = Number.POSITIVE_INFINITY;
    });
    check(world, job);
  });

  test('makes no heads where all norms are alike', () => {
    expect(prepare(createWorld(name), { items: 5000, rows: 1, f: 32, k: 1 }, () => {}).isHeaded).toBe(false);
  });

  test('goes over to the plain scan where bounds are loose', () => {
    const world = createWorld(name);
    const job = prepare(world, { items: 9000, rows: 9, f: 32, k: 20 }, (factors) => {
      // The longest thousand are alike, and then come short ones.
      for (let at = 1500 * 32; at < factors.length; at++) factors[at]! *= 0.2;
    });
    expect(job.isHeaded).toBe(true);
    check(world, job);
  });
});
