import { describe, expect, test } from 'vitest';
import { bitsBytes, paddedFactors, panelBytes, topKScratchBytes } from '../../src/kernel/scratch-sizes.ts';
import {
  createWorld,
  IMPLEMENTATIONS,
  LENGTHS,
  putFactors,
  putInts,
  putMatrix,
  type World,
  wholes,
} from './world.ts';

interface Case {
  readonly items: number;
  readonly rows: number;
  readonly f: number;
  readonly k: number;
  readonly hasRead: boolean;
  /** Factors are whole numbers up to this; 2 unless told, which gives many ties. */
  readonly bound?: number;
}

/** Scores of whole numbers, so that ties are exact and many. */
function prepare(world: World, { items, rows, f, k, hasRead, bound = 2 }: Case) {
  const { arena, plain } = world;
  const padded = paddedFactors(f);
  const factors = putFactors(world, items, f, wholes, bound);
  const queries = putFactors(world, rows, f, wholes, bound);
  const panels = arena.alloc(panelBytes(items, padded));
  plain.packPanels(factors, items, padded, panels);
  const read = putMatrix(world, rows, items, 0.3);
  return {
    queries,
    rows,
    panels,
    items,
    f: padded,
    k,
    factors,
    readStarts: hasRead ? read.starts : 0,
    readItems: hasRead ? read.columns : 0,
    readLists: hasRead ? read.rowLists : read.rowLists.map(() => []),
    scratch: arena.alloc(topKScratchBytes(padded)),
    outItems: arena.alloc(rows * k * 4 + 4, 4),
    outScores: arena.alloc(rows * k * 4 + 4, 4),
    outCounts: arena.alloc(rows * 4, 4),
  };
}

/** The definition: all scores of all unread items, sorted. */
function expectedList(world: World, job: ReturnType<typeof prepare>, row: number): [number, number][] {
  const { plain } = world;
  return Array.from({ length: job.items }, (_, item) => item)
    .filter((item) => !job.readLists[row]!.includes(item))
    .map((item): [number, number] => {
      const score = plain.dot(job.queries + row * job.f * 4, job.factors + item * job.f * 4, job.f);
      return [item, score === 0 ? 0 : score];
    })
    .sort((a, b) => b[1] - a[1] || a[0] - b[0])
    .slice(0, job.k);
}

function listAt(
  world: World,
  job: ReturnType<typeof prepare>,
  row: number,
  count: number,
): [number, number][] {
  const items = world.arena.u32(job.outItems + row * job.k * 4, count);
  const scores = world.arena.f32(job.outScores + row * job.k * 4, count);
  return Array.from(items, (item, at): [number, number] => [item, scores[at] === 0 ? 0 : scores[at]!]);
}

function checkBatch(world: World, job: ReturnType<typeof prepare>): void {
  world.kernels.batchTopK(job);
  for (let row = 0; row < job.rows; row++) {
    const count = world.arena.u32(job.outCounts, job.rows)[row]!;
    expect(listAt(world, job, row, count)).toEqual(expectedList(world, job, row));
  }
}

describe.each(IMPLEMENTATIONS)('top-k kernels, %s', (name) => {
  test.each(LENGTHS)('batchTopK and queryTopK keep the best of %i items', (items) => {
    const world = createWorld(name, items);
    const job = prepare(world, { items, rows: 5, f: (items % 9) + 1, k: 6, hasRead: false });
    checkBatch(world, job);
    for (let row = 0; row < job.rows; row++) {
      const count = world.kernels.queryTopK({
        ...job,
        query: job.queries + row * job.f * 4,
        readItems: 0,
        readCount: 0,
      });
      expect(listAt(world, job, 0, count)).toEqual(expectedList(world, job, row));
    }
  });

  test.each([1, 2, 3, 4, 63, 64, 65, 67, 130])(
    'batchTopK serves %i queries with masks and read lists',
    (rows) => {
      const world = createWorld(name, rows);
      checkBatch(world, prepare(world, { items: 203, rows, f: 7, k: 10, hasRead: true }));
    },
  );

  test.each([1, 2, 31, 32, 33, 100, 300])('both masks and the read list hold inside top-%i', (k) => {
    const world = createWorld(name, k);
    const job = prepare(world, { items: 259, rows: 3, f: 16, k, hasRead: true });
    const starts = world.arena.u32(job.readStarts, 4);
    for (let row = 0; row < 3; row++) {
      const query = job.queries + row * job.f * 4;
      const readItems = job.readItems + starts[row]! * 4;
      const readCount = starts[row + 1]! - starts[row]!;
      const count = world.kernels.queryTopK({ ...job, query, readItems, readCount });
      expect(listAt(world, job, 0, count)).toEqual(expectedList(world, job, row));
    }
  });

  test.each([1, 33, 300])('queryTopK keeps the best %i of the items that are allowed', (k) => {
    const world = createWorld(name, k);
    const job = prepare(world, { items: 259, rows: 1, f: 16, k, hasRead: false });
    const bits = Array.from({ length: bitsBytes(259) / 4 }, (_, at) =>
      at === 2 ? 0 : world.random.uint32(),
    );
    const allowedBits = putInts(world.arena, bits);
    const count = world.kernels.queryTopK({
      ...job,
      query: job.queries,
      readItems: 0,
      readCount: 0,
      allowedBits,
    });
    const isAllowed = (item: number) => ((bits[item >> 5]! >>> (item & 31)) & 1) === 1;
    const whole = expectedList(world, { ...job, k: 259 }, 0).filter(([item]) => isAllowed(item));
    expect(listAt(world, job, 0, count)).toEqual(whole.slice(0, k));
  });

  test.each([1, 33, 300])('batchTopK keeps the best %i of the items that are allowed to all', (k) => {
    const world = createWorld(name, k);
    const job = prepare(world, { items: 259, rows: 6, f: 16, k, hasRead: true });
    const bits = Array.from({ length: bitsBytes(259) / 4 }, (_, at) =>
      at === 2 ? 0 : world.random.uint32(),
    );
    const isLeftOut = (item: number) => ((bits[item >>> 5]! >>> (item & 31)) & 1) === 0;
    const leftOut = Array.from({ length: 259 }, (_, item) => item).filter(isLeftOut);
    world.kernels.batchTopK({ ...job, allowedBits: putInts(world.arena, bits) });
    const without = { ...job, readLists: job.readLists.map((list) => [...list, ...leftOut]) };
    for (let row = 0; row < job.rows; row++) {
      const count = world.arena.u32(job.outCounts, job.rows)[row]!;
      expect(listAt(world, job, row, count)).toEqual(expectedList(world, without, row));
    }
  });

  test.each([1, 15, 16, 17, 100, 127, 128, 129, 300])(
    'batchTopK keeps the best %i through many cuts of its shortlists',
    (k) => {
      const world = createWorld(name, k);
      const job = { items: 1501, rows: 5, f: 4, k };
      checkBatch(world, prepare(world, { ...job, hasRead: false, bound: 1000 }));
      checkBatch(world, prepare(world, { ...job, hasRead: true }));
    },
  );

  test.each([
    ['ever better', (item: number) => item],
    ['ever worse', (item: number) => -item],
    ['equal', () => 3],
    ['equal but for few', (item: number) => (item % 100 === 7 ? 4 : 3)],
    ['far apart', (item: number) => ((item * 37) % 401) - 200 + 1e-3 * (item % 3)],
    ['of any magnitude', (item: number) => (item % 2 ? -1 : 1) * 10 ** (((item * 53) % 75) - 37)],
    ['of two signs of zero', (item: number) => (item % 2 ? -0 : 0)],
  ])('batchTopK takes scores that are %s', (_, scoreOf) => {
    const world = createWorld(name);
    for (const k of [1, 20, 130]) {
      const job = prepare(world, { items: 900, rows: 2, f: 4, k, hasRead: true });
      const factors = world.arena.f32(job.factors, 900 * 4).fill(0);
      for (let item = 0; item < 900; item++) factors[item * 4] = scoreOf(item);
      world.arena.f32(job.queries, 8).set([1, 0, 0, 0, -1, 0, 0, 0]);
      world.plain.packPanels(job.factors, 900, 4, job.panels);
      checkBatch(world, job);
    }
  });

  test('equal scores go to the lower items', () => {
    const world = createWorld(name);
    const job = prepare(world, { items: 67, rows: 1, f: 4, k: 5, hasRead: false });
    world.arena.f32(job.factors, 67 * job.f).fill(0.5);
    world.kernels.packPanels(job.factors, 67, job.f, job.panels);
    const read = { readItems: putInts(world.arena, [1, 3]), readCount: 2 };
    const count = world.kernels.queryTopK({ ...job, query: job.queries, ...read });
    expect(listAt(world, job, 0, count).map(([item]) => item)).toEqual([0, 2, 4, 5, 6]);
  });

  test('NaN and infinite scores are left out', () => {
    const world = createWorld(name);
    const values = [Number.NaN, 2, Number.POSITIVE_INFINITY, -3, Number.NEGATIVE_INFINITY, 4];
    const job = prepare(world, { items: 6, rows: 1, f: 4, k: 6, hasRead: false });
    world.arena.f32(job.factors, 6 * job.f).set(values.flatMap((value) => [value, 0, 0, 0]));
    world.arena.f32(job.queries, job.f).set([1, 0, 0, 0]);
    world.kernels.packPanels(job.factors, 6, job.f, job.panels);
    const count = world.kernels.queryTopK({ ...job, query: job.queries, readItems: 0, readCount: 0 });
    expect(listAt(world, job, 0, count)).toEqual([
      [5, 4],
      [1, 2],
      [3, -3],
    ]);
    const factors = world.arena.f32(job.factors, 6 * job.f);
    factors.fill(1);
    factors[0] = Number.NaN;
    factors[job.f] = Number.POSITIVE_INFINITY;
    world.arena.f32(job.queries, job.f).fill(1);
    world.kernels.packPanels(job.factors, 6, job.f, job.panels);
    world.kernels.batchTopK(job);
    expect(world.arena.u32(job.outCounts, 1)[0]).toBe(4);
    expect(listAt(world, job, 0, 4).map(([item]) => item)).toEqual([2, 3, 4, 5]);
  });

  test('nothing is written beyond the outputs', () => {
    const world = createWorld(name);
    const job = prepare(world, { items: 50, rows: 3, f: 8, k: 20, hasRead: false });
    world.arena.u32(job.outItems + 240, 1).fill(0xabcdef01);
    world.arena.f32(job.outScores + 240, 1).fill(0.25);
    world.kernels.batchTopK(job);
    expect(world.arena.u32(job.outItems + 240, 1)[0]).toBe(0xabcdef01);
    expect(world.arena.f32(job.outScores + 240, 1)[0]).toBe(0.25);
  });
});
