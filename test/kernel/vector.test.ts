import { describe, expect, test } from 'vitest';
import { paddedFactors, panelBytes } from '../../src/kernel/scratch-sizes.ts';
import {
  createWorld,
  distance,
  IMPLEMENTATIONS,
  LENGTHS,
  normals,
  putFactors,
  putFloats,
  putInts,
} from './world.ts';

describe.each(IMPLEMENTATIONS)('vector kernels, %s', (name) => {
  test('dot takes every length, at any alignment of 4 bytes', () => {
    const { kernels, plain, arena, random } = createWorld(name);
    for (const n of LENGTHS) {
      arena.alloc(4 * (n % 3), 4);
      const a = putFloats(arena, normals(random, n));
      const b = putFloats(arena, normals(random, n));
      expect(kernels.dot(a, b, n)).toBeCloseTo(plain.dot(a, b, n), 4);
    }
  });

  test('addScaled changes the n numbers and not the one after', () => {
    const { kernels, arena } = createWorld(name);
    for (const n of LENGTHS) {
      const target = putFloats(arena, new Float32Array(n + 1).fill(1));
      const source = putFloats(arena, new Float32Array(n + 1).fill(2));
      kernels.addScaled(target, source, 0.5, n);
      expect([...arena.f32(target, n + 1)]).toEqual([...new Array(n).fill(2), 1]);
    }
  });

  test('countNonFinite finds NaN and both infinities', () => {
    const { kernels, arena } = createWorld(name);
    const values = putFloats(arena, [
      1,
      Number.NaN,
      0,
      Number.POSITIVE_INFINITY,
      -1e38,
      Number.NEGATIVE_INFINITY,
    ]);
    expect(kernels.countNonFinite(values, 6)).toBe(3);
    expect(kernels.countNonFinite(values, 1)).toBe(0);
    expect(kernels.countNonFinite(values, 0)).toBe(0);
  });

  test('gramian agrees with the twin for all factors and rows, and leaves its neighbors alone', () => {
    for (const f of LENGTHS) {
      const world = createWorld(name, f);
      const { kernels, plain, arena } = world;
      const padded = paddedFactors(f);
      const rows = (f * 7) % 131;
      const factors = putFactors(world, rows, f);
      const expected = arena.alloc(padded * padded * 4);
      const out = arena.alloc(padded * padded * 4 + 4);
      arena.f32(out, padded * padded + 1).fill(7);
      plain.gramian(factors, rows, padded, expected);
      kernels.gramian(factors, rows, padded, out);
      const size = padded * padded;
      expect(distance(arena.f32(expected, size), arena.f32(out, size))).toBeLessThan(1e-5);
      expect(arena.f32(out, size + 1)[size]).toBe(7);
    }
  });

  test('packPanels puts item i of factor k at panel i / 8, place 8 k + i % 8, and zeros after the last', () => {
    for (const rows of LENGTHS) {
      const world = createWorld(name, rows);
      const { kernels, arena } = world;
      const f = 12;
      const factors = putFactors(world, rows, f);
      const out = arena.alloc(panelBytes(rows, f));
      arena.f32(out, panelBytes(rows, f) / 4).fill(9);
      kernels.packPanels(factors, rows, f, out);
      const from = arena.f32(factors, rows * f);
      arena.f32(out, panelBytes(rows, f) / 4).forEach((value, at) => {
        const item = Math.floor(at / (8 * f)) * 8 + (at % 8);
        const k = Math.floor((at % (8 * f)) / 8);
        expect(value).toBe(item < rows ? from[item * f + k] : 0);
      });
    }
  });

  test('scoreItems scores the listed rows in their order', () => {
    const world = createWorld(name);
    const { kernels, arena } = world;
    const factors = putFactors(world, 10, 8);
    const items = putInts(arena, [9, 0, 9, 4]);
    const scores = arena.alloc(16);
    kernels.scoreItems(factors, factors, 8, items, 4, scores);
    const out = arena.f32(scores, 4);
    expect(out[0]).toBe(out[2]);
    expect(out[1]).toBeCloseTo(kernels.dot(factors, factors, 8), 4);
  });
});
