import { describe, expect, test } from 'vitest';
import {
  bitsBytes,
  coarseBytes,
  paddedFactors,
  panelBytes,
  topKScratchBytes,
} from '../../src/kernel/scratch-sizes.ts';
import {
  createWorld,
  IMPLEMENTATIONS,
  LENGTHS,
  normals,
  putFactors,
  putFloats,
  putInts,
  type World,
  wholes,
} from './world.ts';

interface Case {
  readonly items: number;
  readonly f: number;
  readonly k: number;
}

/** A query, items in panels and in bytes; `change` may alter the factors, row-major, before they are packed. */
function prepare(
  world: World,
  { items, f, k }: Case,
  draw = normals,
  change: (factors: Float32Array, query: Float32Array) => void = () => {},
) {
  const { arena, kernels } = world;
  const padded = paddedFactors(f);
  const [query, factors] = [putFactors(world, 1, f, draw, 1), putFactors(world, items, f, draw, 1)];
  change(arena.f32(factors, items * padded), arena.f32(query, padded));
  const [panels, coarse] = [arena.alloc(panelBytes(items, padded)), arena.alloc(coarseBytes(items, padded))];
  kernels.packPanels(factors, items, padded, panels);
  kernels.packCoarse(factors, items, padded, coarse);
  return {
    ...{ query, panels, coarse, items, f: padded, k, allowedBits: 0, readItems: 0, readCount: 0, factors },
    outItems: arena.alloc(k * 4),
    outScores: arena.alloc(k * 4),
    scratch: arena.alloc(topKScratchBytes(padded)),
  };
}

function listOf({ arena, kernels }: World, job: ReturnType<typeof prepare>) {
  const count = kernels.queryTopK(job);
  const bits = arena.u32(job.outScores, count);
  return { items: [...arena.u32(job.outItems, count)], scoreBits: [...bits] };
}

/** The list from bytes first must be that of the plain scan, to the last bit. @returns its items */
function check(world: World, job: ReturnType<typeof prepare>): number[] {
  const exact = listOf(world, { ...job, coarse: 0 });
  expect(listOf(world, job)).toEqual(exact);
  return exact.items;
}

describe.each(IMPLEMENTATIONS)('one query by bytes first, %s', (name) => {
  test.each(LENGTHS)('packs %i items as its twin does', (items) => {
    const world = createWorld(name, items);
    const { arena, plain } = world;
    const job = prepare(world, { items, f: (items % 13) + 1, k: 1 });
    const bytes = coarseBytes(items, job.f);
    const expected = arena.alloc(bytes);
    plain.packCoarse(job.factors, items, job.f, expected);
    expect(arena.u32(job.coarse, bytes / 4)).toEqual(arena.u32(expected, bytes / 4));
  });

  test.each(LENGTHS)('finds the same among %i items, ties too, whatever the factors', (items) => {
    const world = createWorld(name, items);
    for (const k of [1, 6, 100]) {
      check(world, prepare(world, { items, f: (items % 9) + 1, k }));
      check(world, prepare(world, { items, f: (items % 7) + 1, k }, wholes));
    }
  });

  test('finds the same among thousands, with both masks', () => {
    const world = createWorld(name);
    const { arena, random } = world;
    for (const [f, k] of [
      [64, 100],
      [12, 10],
      [128, 3],
    ] as const) {
      const job = prepare(world, { items: 3001, f, k });
      check(world, job);
      const bits = Array.from({ length: bitsBytes(3001) / 4 }, () => random.uint32());
      const read = Array.from({ length: 3001 }, (_, item) => item).filter(() => random.float() < 0.3);
      const masked = {
        readItems: putInts(arena, read),
        readCount: read.length,
        allowedBits: putInts(arena, bits),
      };
      const found = check(world, { ...job, ...masked });
      expect(found).toHaveLength(k);
      for (const item of found) {
        expect((bits[item >> 5]! >>> (item & 31)) & 1).toBe(1);
        expect(read).not.toContain(item);
      }
    }
  });

  test('tells apart items whose bytes are the same', () => {
    const world = createWorld(name);
    // All items are nearly one vector: only the exact scores can order them.
    const job = prepare(world, { items: 500, f: 16, k: 20 }, normals, (factors, query) => {
      for (let at = 0; at < factors.length; at++) {
        factors[at] = Math.fround(factors[at % 16]! * (1 + world.random.float() * 1e-5));
      }
      query.set(factors.subarray(0, 16));
    });
    check(world, job);
  });

  test.each([1e-37, 1e-30, 1e-18, 1e-9, 1e9, 1e18, 1e30])('holds for factors about %d', (scale) => {
    const world = createWorld(name);
    for (const [ofItems, ofQuery] of [
      [scale, 1],
      [1, scale],
      [scale, scale],
    ] as const) {
      const job = prepare(world, { items: 300, f: 20, k: 30 }, normals, (factors, query) => {
        factors.forEach((value, at) => {
          factors[at] = value * ofItems;
        });
        query.forEach((value, at) => {
          query[at] = value * ofQuery;
        });
      });
      check(world, job);
    }
  });

  test('leaves out what is not finite, and serves a query of zeros', () => {
    const world = createWorld(name);
    const job = prepare(world, { items: 70, f: 8, k: 70 }, normals, (factors) => {
      factors[8] = Number.NaN;
      factors[17] = Number.POSITIVE_INFINITY;
      factors[26] = Number.NEGATIVE_INFINITY;
      factors.fill(0, 32, 40);
    });
    const found = check(world, job);
    expect(found).toHaveLength(67);
    for (const item of [1, 2, 3]) expect(found).not.toContain(item);
    expect(found).toContain(4);
    const zeros = putFloats(world.arena, new Float32Array(8));
    expect(check(world, { ...job, query: zeros }).slice(0, 3)).toEqual([0, 4, 5]);
    const broken = putFloats(world.arena, new Float32Array(8).fill(Number.NaN));
    expect(check(world, { ...job, query: broken })).toEqual([]);
  });

  test('holds at 1,024 factors, where the sums are largest', () => {
    const world = createWorld(name);
    const job = prepare(world, { items: 100, f: 1024, k: 10 }, normals, (factors, query) => {
      factors.fill(1, 0, 1024);
      factors.fill(-1, 1024, 2048);
      query.fill(1);
    });
    expect(check(world, job)[0]).toBe(0);
  });
});
