import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  bitsBytes,
  coarseBytes,
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
  const coarse = arena.alloc(coarseBytes(items, f));
  change(arena.f32(factors, items * f), arena.f32(queries, rows * f));
  kernels.packPanels(factors, items, f, panels);
  kernels.packCoarse(factors, items, f, coarse);
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
      coarse,
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
interface List {
  readonly items: readonly number[];
  readonly scoreBits: readonly number[];
}

function listsOf({ arena, kernels }: World, job: Job): List[] {
  kernels.batchTopK(job);
  const counts = arena.u32(job.outCounts, job.rows);
  return Array.from(counts, (count, row) => ({
    items: [...arena.u32(job.outItems + row * job.k * 4, count)],
    scoreBits: [...arena.u32(job.outScores + row * job.k * 4, count)],
  }));
}

/** The same lists, each asked for alone. */
function listsOneByOne({ arena, kernels }: World, job: Job): List[] {
  return Array.from({ length: job.rows }, (_, row) => {
    const [start, end] = job.readStarts ? arena.u32(job.readStarts + row * 4, 2) : [0, 0];
    const read = job.readItems ? job.readItems + start! * 4 : 0;
    const query = job.queries + row * job.f * 4;
    const count = kernels.queryTopK({ ...job, query, readItems: read, readCount: end! - start! });
    return { items: [...arena.u32(job.outItems, count)], scoreBits: [...arena.u32(job.outScores, count)] };
  });
}

/** Lists by heads must be those of the plain scan, to the last bit. */
function check(world: World, job: Job): List[] {
  const exact = listsOf(world, { ...job, heads: 0 });
  expect(listsOf(world, job)).toEqual(exact);
  expect(listsOneByOne(world, job)).toEqual(exact);
  return exact;
}

/** Whether heads alone make the lists, of many and one by one: what the plain scan reads is taken away. */
function headsAlone(world: World, job: Job): boolean[] {
  const exact = check(world, job);
  const panels = world.arena.u32(job.panels, panelBytes(job.items, job.f) / 4);
  const coarse = world.arena.u32(job.coarse, coarseBytes(job.items, job.f) / 4);
  const kept = [panels.slice(), coarse.slice()] as const;
  panels.fill(0);
  coarse.fill(0);
  const same = [listsOf(world, job), listsOneByOne(world, job)].map(
    (lists) => JSON.stringify(lists) === JSON.stringify(exact),
  );
  panels.set(kept[0]);
  coarse.set(kept[1]);
  return same;
}

/** Bits of so large a share of the items, and as many read lists as there are queries. */
function putMasks({ arena, random }: World, { items, rows }: Job, allowed: number, read: number) {
  const lists = Array.from({ length: rows }, () =>
    Array.from({ length: items }, (_, item) => item).filter(() => random.float() < read),
  );
  const starts = [0];
  for (const list of lists) starts.push(starts.at(-1)! + list.length);
  const bits = new Uint32Array(bitsBytes(items) / 4);
  for (let item = 0; item < items; item++) if (random.float() < allowed) bits[item >> 5]! |= 1 << (item & 31);
  return {
    readStarts: putInts(arena, starts),
    readItems: putInts(arena, lists.flat()),
    allowedBits: allowed < 1 ? putInts(arena, [...bits]) : 0,
  };
}

describe.each(BUILDS)('many queries by heads, %s', (name) => {
  test.each([
    { items: 1, rows: 1, f: 32, k: 1 },
    { items: 9, rows: 3, f: 32, k: 1 },
    { items: 4096, rows: 66, f: 32, k: 1 },
    { items: 5003, rows: 7, f: 64, k: 10 },
    { items: 9001, rows: 5, f: 48, k: 23 },
    { items: 3001, rows: 2, f: 128, k: 7 },
    { items: 700, rows: 4, f: 36, k: 1 },
  ])('finds the same as the plain scan: %o', (shape) => {
    for (const seed of [1, 2]) {
      const world = createWorld(name, seed);
      const job = prepare(world, shape, (factors, queries) => {
        factors.set(learned(world, shape.items, shape.f));
        queries.set(learned(world, shape.rows, shape.f));
      });
      expect(job.isHeaded).toBe(shape.items > 1);
      check(world, job);
      for (const share of [1, 0.9, 0.5, 0.004]) check(world, { ...job, ...putMasks(world, job, share, 0.1) });
    }
  });

  test('finds the same whatever norms, spectrum, ties, masks and lengths', () => {
    const drawn = fc.record({
      seed: fc.nat(1000),
      items: fc.oneof(fc.integer({ min: 1, max: 6000 }), fc.integer({ min: 10_000, max: 14_000 })),
      rows: fc.integer({ min: 1, max: 5 }),
      f: fc.constantFrom(32, 36),
      k: fc.constantFrom(1, 2, 5, 400),
      fall: fc.constantFrom(0, 4, 12, 30),
      spectrum: fc.constantFrom(0, 1, 2),
      scale: fc.constantFrom(1e-37, 1, 1e9, 1e15),
      steps: fc.constantFrom(0, 2),
      copies: fc.constantFrom(1, 1, 5, 500),
      allowed: fc.constantFrom(1, 0.9, 0.3, 0.01),
      read: fc.constantFrom(0, 0.2, 1),
    });
    let [headed, alone] = [0, 0];
    fc.assert(
      fc.property(drawn, ({ seed, fall, spectrum, scale, steps, copies, allowed, read, ...shape }) => {
        const world = createWorld(name, seed);
        const { random } = world;
        const job = prepare(world, shape, (factors, queries) => {
          const { f } = shape;
          const draw = (values: Float32Array, norm: () => number) => {
            for (let at = 0; at < values.length; at += f) {
              const length = norm();
              for (let number = 0; number < f; number++) {
                const value = steps ? random.below(2 * steps + 1) - steps : random.normal();
                values[at + number] = length * value * (1 + number) ** -spectrum;
              }
            }
          };
          draw(factors, () => scale * random.float() ** fall);
          draw(queries, () => random.float());
          for (let row = copies; copies > 1 && row < shape.items; row++)
            factors.copyWithin(row * f, (row % copies) * f, (row % copies) * f + f);
        });
        headed += Number(job.isHeaded);
        alone += Number(job.isHeaded && headsAlone(world, job).includes(true));
        check(world, { ...job, ...putMasks(world, job, allowed, read) });
      }),
      { numRuns: 40 },
    );
    // Neither way is left untried.
    expect(headed).toBeGreaterThan(5);
    expect(headed).toBeLessThan(39);
    expect(alone).toBeGreaterThan(0);
  });

  test('puts equal scores in the order of rows, and the lower rows into the list', () => {
    const world = createWorld(name);
    const shape = { items: 4100, rows: 6, f: 32, k: 10 };
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
    expect(listsOf(world, job)[0]!.items).toEqual(Array.from({ length: 10 }, (_, row) => row));
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

  test('goes by heads alone where norms fall fast, and over to the plain scan where it is faster', () => {
    const world = createWorld(name);
    const shape = { items: 9000, rows: 9, f: 32, k: 20 };
    const set = (factors: Float32Array, queries: Float32Array) => {
      factors.set(learned(world, shape.items, shape.f));
      queries.set(learned(world, shape.rows, shape.f));
    };
    const job = prepare(world, shape, set);
    expect(headsAlone(world, job)).toEqual([true, true]);
    expect(headsAlone(world, { ...job, ...putMasks(world, job, 0.9, 0.01) })).toEqual([true, true]);
    // A filter that leaves few panels, and lists that are long beside the catalogue.
    expect(headsAlone(world, { ...job, ...putMasks(world, job, 0.004, 0) })).toEqual([false, false]);
    expect(headsAlone(world, prepare(world, { ...shape, k: 24 }, set))).toEqual([false, false]);
  });

  test('goes over to the plain scan where bounds are loose', () => {
    const world = createWorld(name);
    const job = prepare(world, { items: 9000, rows: 9, f: 32, k: 20 }, (factors) => {
      // The longest thousand are alike, and then come short ones.
      for (let at = 1500 * 32; at < factors.length; at++) factors[at]! *= 0.2;
    });
    expect(job.isHeaded).toBe(true);
    expect(headsAlone(world, job)).toEqual([false, false]);
  });
});
