import { describe, expect, test } from 'vitest';
import type { Kernels } from '../../src/kernel/kernels.ts';
import { byteRecordBytes } from '../../src/kernel/scratch-sizes.ts';
import { createWorld, IMPLEMENTATIONS, type World } from './world.ts';

/** Records and a query at random. @param extreme all numbers as large as they may be */
function prepare({ arena, memory, random }: World, count: number, length: number, extreme = false) {
  const bytes = byteRecordBytes(length);
  const records = arena.alloc(count * bytes, 16);
  const query = arena.alloc(length * 2, 16);
  const limit = Math.min(32_767, Math.floor(2 ** 31 / (127 * length)) - 1);
  const view = new DataView(memory.buffer);
  for (let place = 0; place < count; place++) {
    const record = records + place * bytes;
    for (let at = 0; at < length; at++) view.setInt8(record + at, extreme ? 127 : random.below(255) - 127);
    view.setFloat32(record + length, extreme ? 1 : random.float(), true);
    view.setFloat32(record + length + 4, extreme ? 0 : random.normal(), true);
    // What is the caller's is not looked at.
    view.setUint32(record + length + 8, 0xffff_ffff, true);
  }
  for (let at = 0; at < length; at++)
    view.setInt16(query + at * 2, extreme ? limit : random.below(2 * limit + 1) - limit, true);
  return { records, count, length, query, queryScale: extreme ? 1 : 1e-5 / length };
}

function scan(
  world: World,
  kernels: Kernels,
  job: ReturnType<typeof prepare>,
  threshold: number,
): [number, number][] {
  const { arena } = world;
  const outPlaces = arena.alloc(job.count * 4);
  const outScores = arena.alloc(job.count * 4);
  const found = kernels.scanBytes({ ...job, threshold, outPlaces, outScores });
  const scores = arena.f32(outScores, found);
  return Array.from(arena.u32(outPlaces, found), (place, at) => [place, scores[at]!]);
}

describe.each(IMPLEMENTATIONS)('%s: vectors of bytes', (name) => {
  test.each([16, 32, 48, 384, 1024, 4096])('%i numbers: those above the threshold, bit for bit', (length) => {
    const world = createWorld(name, length);
    const job = prepare(world, 50, length);
    const all = scan(world, world.plain, job, Number.NEGATIVE_INFINITY);
    expect(all).toHaveLength(50);
    const middle = all.map(([, score]) => score).sort((one, other) => one - other)[25]!;
    for (const threshold of [Number.NEGATIVE_INFINITY, middle, Number.POSITIVE_INFINITY]) {
      const expected = all.filter(([, score]) => score > threshold);
      expect(scan(world, world.kernels, job, threshold)).toEqual(expected);
    }
  });

  test('the largest sums do not overflow', () => {
    const world = createWorld(name);
    for (const length of [16, 512, 4096]) {
      const job = prepare(world, 2, length, true);
      const [[, score]] = scan(world, world.kernels, job, 0) as [[number, number]];
      expect(score).toBe(Math.fround(127 * length * new Int16Array(world.memory.buffer, job.query, 1)[0]!));
    }
  });

  test.each([
    [1, 1],
    [5, 2],
    [5, 9],
  ])('the nearest center in %i groups, of which %i are looked at', (groupCount, probes) => {
    const world = createWorld(name, groupCount);
    const { arena, memory } = world;
    const [length, count] = [48, 30];
    const { records } = prepare(world, count, length);
    const { records: centers } = prepare(world, 20, length);
    const { records: groups } = prepare(world, groupCount, length);
    // Two that are alike, of which the first is taken.
    new Uint8Array(memory.buffer).copyWithin(
      centers + byteRecordBytes(length),
      centers,
      centers + byteRecordBytes(length),
    );
    const starts = arena.alloc(4 * (groupCount + 1));
    // The second of five has no centers.
    arena.u32(starts, groupCount + 1).set(groupCount === 1 ? [0, 20] : [0, 4, 4, 9, 15, 20]);
    const scratch = arena.alloc(2 * length + 4 * groupCount, 16);
    const job = { records, count, length, centers, starts, groups, groupCount, probes, scratch };
    const found = [world.kernels, world.plain].map((kernels) => {
      const out = arena.alloc(4 * count);
      kernels.nearestBytes({ ...job, out });
      return Array.from(arena.u32(out, count));
    });
    expect(found[0]).toEqual(found[1]);
    expect(found[0]).not.toContain(1);
    expect(new Set(found[0]).size).toBeGreaterThan(1);
  });
});
