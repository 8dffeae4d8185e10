import { describe, expect, test } from 'vitest';
import { eigenScratchBytes, paddedFactors, rotateScratchBytes } from '../../src/kernel/scratch-sizes.ts';
import {
  createWorld,
  distance,
  IMPLEMENTATIONS,
  LENGTHS,
  putFactors,
  putFloats,
  type World,
} from './world.ts';

function decompose(world: World, matrix: number, f: number) {
  const { arena, kernels } = world;
  const [values, vectors] = [arena.alloc(f * 4), arena.alloc(f * f * 4)];
  const found = kernels.symmetricEigen(matrix, f, values, vectors, arena.alloc(eigenScratchBytes(f)));
  return { found, values: arena.f32(values, f), vectors: arena.f32(vectors, f * f) };
}

/** V diag(values) Vᵀ, or Vᵀ V when `values` is null. */
function rebuild(vectors: Float32Array, values: Float32Array | null, f: number): number[] {
  return Array.from({ length: f * f }, (_, at) => {
    const [i, j] = [Math.floor(at / f), at % f];
    let sum = 0;
    for (let k = 0; k < f; k++) {
      sum +=
        values === null
          ? vectors[k * f + i]! * vectors[k * f + j]!
          : vectors[i * f + k]! * values[k]! * vectors[j * f + k]!;
    }
    return sum;
  });
}

function identity(f: number): number[] {
  return Array.from({ length: f * f }, (_, at) => (at % (f + 1) === 0 ? 1 : 0));
}

describe.each(IMPLEMENTATIONS)('symmetricEigen, %s', (name) => {
  test.each(LENGTHS)('decomposes a Gramian of %i factors, of full rank and not', (factors) => {
    const world = createWorld(name, factors);
    const { arena, plain } = world;
    const f = paddedFactors(factors);
    for (const rows of [factors * 2, factors >> 1]) {
      const x = putFactors(world, rows, factors);
      const matrix = arena.alloc(f * f * 4);
      plain.gramian(x, rows, f, matrix);
      const before = arena.f32(matrix, f * f).slice();
      const { found, values, vectors } = decompose(world, matrix, f);
      expect(found).toBe(1);
      expect(distance(before, rebuild(vectors, values, f))).toBeLessThan(1e-5);
      expect(distance(identity(f), rebuild(vectors, null, f))).toBeLessThan(1e-5);
      expect([...values].every((value) => value >= 0)).toBe(true);
      for (let pad = factors; pad < f && rows > 0; pad++) {
        expect(values[pad]).toBe(0);
        expect([...vectors.subarray(pad * f, pad * f + f)]).toEqual(identity(f).slice(pad * f, pad * f + f));
        for (let row = 0; row < factors; row++) expect(vectors[row * f + pad]).toBe(0);
      }
    }
  });

  test('finds the values of a matrix worked out by hand', () => {
    const world = createWorld(name);
    // Two blocks: [2 1; 1 2] has 1 and 3, [5 0; 0 0] has 5 and 0.
    const matrix = putFloats(world.arena, [2, 1, 0, 0, 1, 2, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0]);
    const { found, values } = decompose(world, matrix, 4);
    expect(found).toBe(1);
    expect(
      distance(
        [0, 1, 3, 5],
        [...values].sort((a, b) => a - b),
      ),
    ).toBeLessThan(1e-6);
    expect(values[3]).toBe(0);
  });

  test('takes equal values, a diagonal matrix and one of zeros', () => {
    const world = createWorld(name);
    for (const diagonal of [
      [3, 3, 3, 3, 3, 3, 3, 3],
      [8, 1, 7, 2, 6, 3, 5, 4],
      [0, 0, 0, 0, 0, 0, 0, 0],
    ]) {
      const values = identity(8).map((one, at) => one * diagonal[at % 8]!);
      const found = decompose(world, putFloats(world.arena, values), 8);
      expect(found.found).toBe(1);
      expect([...found.values].sort()).toEqual([...diagonal].sort());
      expect(distance(values, rebuild(found.vectors, found.values, 8))).toBeLessThan(1e-6);
    }
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY])('refuses a matrix with %d', (bad) => {
    const world = createWorld(name);
    const values = identity(8);
    values[10] = bad;
    values[17] = bad;
    expect(decompose(world, putFloats(world.arena, values), 8).found).toBe(0);
  });
});

describe.each(IMPLEMENTATIONS)('rotateRows, %s', (name) => {
  test.each(LENGTHS)('agrees with the twin for %i rows and leaves the next row alone', (rows) => {
    const world = createWorld(name, rows);
    const { arena } = world;
    const f = 4 + paddedFactors(rows % 31);
    const factors = putFactors(world, rows + 1, f);
    const basis = putFactors(world, f, f);
    const size = (rows + 1) * f;
    const before = arena.f32(factors, size).slice();
    world.plain.rotateRows(factors, rows, f, basis, 0);
    const expected = arena.f32(factors, size).slice();
    arena.f32(factors, size).set(before);
    world.kernels.rotateRows(factors, rows, f, basis, arena.alloc(rotateScratchBytes(f)));
    const actual = arena.f32(factors, size);
    expect(distance(expected, actual)).toBeLessThan(1e-5);
    expect(actual.subarray(rows * f)).toEqual(before.subarray(rows * f));
  });

  test('turns a vector by a basis worked out by hand', () => {
    const world = createWorld(name);
    const factors = putFloats(world.arena, [1, 2, 3, 4]);
    const basis = putFloats(world.arena, [0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2]);
    world.kernels.rotateRows(factors, 1, 4, basis, world.arena.alloc(rotateScratchBytes(4)));
    expect([...world.arena.f32(factors, 4)]).toEqual([-2, 1, 3, 8]);
  });
});
