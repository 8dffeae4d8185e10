import { describe, expect, test } from 'vitest';
import type { AlsRows } from '../../src/kernel/kernels.ts';
import {
  alsScratchBytes,
  eigenScratchBytes,
  normalMatrixScratchBytes,
  paddedFactors,
  rotateScratchBytes,
} from '../../src/kernel/scratch-sizes.ts';
import { rowRegularization } from '../../src/model/als/settings.ts';
import {
  createWorld,
  distance,
  IMPLEMENTATIONS,
  LENGTHS,
  putFactors,
  putFloats,
  putInts,
  putMatrix,
  type World,
} from './world.ts';

const ROWS = 9;

interface Shape {
  readonly f: number;
  readonly columns: number;
  readonly hasWeights: boolean;
  readonly gatherRows: number;
}

const REGULARIZATION = { regularization: 0.05, unobservedWeight: 0.2, regularizationExponent: 1 };

/** Users that like about half of the items; the first row is empty. */
function prepare(world: World, { f, columns, hasWeights, gatherRows }: Shape): AlsRows & { size: number } {
  const { arena, plain, random } = world;
  const padded = paddedFactors(f);
  const matrix = putMatrix(world, ROWS, columns, 0.5);
  const starts = arena.u32(matrix.starts, ROWS + 1);
  starts[0] = starts[1]!;
  const source = putFactors(world, columns, f, undefined, 0.4);
  const gramian = arena.alloc(padded * padded * 4);
  plain.gramian(source, columns, padded, gramian);
  const counts = Array.from({ length: ROWS }, (_, row) => starts[row + 1]! - starts[row]!);
  return {
    starts: matrix.starts,
    columns: matrix.columns,
    weights: hasWeights
      ? putFloats(
          arena,
          Array.from({ length: matrix.entries }, () => 0.5 + random.float()),
        )
      : 0,
    firstRow: 0,
    endRow: ROWS,
    target: putFactors(world, ROWS, f, undefined, 0.1),
    source,
    gramian,
    f: padded,
    unobservedWeight: 0.2,
    regularizations: putFloats(
      arena,
      counts.map((count) => rowRegularization(REGULARIZATION, count, columns)),
    ),
    steps: 3,
    scratch: arena.alloc(alsScratchBytes(padded, gatherRows)),
    gatherRows,
    size: ROWS * padded,
  };
}

/** A job by conjugate gradient. The Gramian need not be the source's own: any diagonal makes a sound system. */
function spectral(world: World, shape: Parameters<typeof prepare>[1]) {
  const { gramian, ...job } = prepare(world, shape);
  const diagonal = Array.from({ length: job.f }, () => 5 * world.random.float());
  return { ...job, spectrum: putFloats(world.arena, diagonal), steps: 2 };
}

/** The factors that `solve` leaves when it starts from the present ones, which are then put back. */
function solved(world: World, job: { target: number; size: number }, solve: () => void): Float32Array {
  const target = world.arena.f32(job.target, job.size);
  const before = target.slice();
  solve();
  const after = target.slice();
  target.set(before);
  return after;
}

describe.each(IMPLEMENTATIONS)('implicit ALS, %s', (name) => {
  test.each(LENGTHS)('Cholesky agrees with the twin at %i factors', (f) => {
    const world = createWorld(name, f);
    const columns = (f * 5) % 68;
    const job = prepare(world, { f, columns, hasWeights: f % 2 === 0, gatherRows: 68 });
    const expected = solved(world, job, () => world.plain.alsCholeskyRows(job));
    const actual = solved(world, job, () => world.kernels.alsCholeskyRows(job));
    expect(distance(expected, actual)).toBeLessThan(2e-4);
  });

  test.each([0, 1, 4, 7, 20])('rows longer than the %i gathered give the same', (gatherRows) => {
    const world = createWorld(name);
    const job = spectral(world, { f: 16, columns: 60, hasWeights: true, gatherRows });
    const expected = solved(world, job, () => world.plain.alsSpectralRows(job));
    const actual = solved(world, job, () => world.kernels.alsSpectralRows(job));
    expect(distance(expected, actual)).toBeLessThan(1e-4);
  });

  test.each(LENGTHS)('solving in the basis of the Gramian agrees with the twin at %i factors', (f) => {
    const world = createWorld(name, f);
    const shape = { f, columns: (f * 5) % 68, hasWeights: f % 2 === 0, gatherRows: [68, 20, 4][f % 3]! };
    const job = spectral(world, shape);
    const expected = solved(world, job, () => world.plain.alsSpectralRows(job));
    const actual = solved(world, job, () => world.kernels.alsSpectralRows(job));
    expect(distance(expected, actual)).toBeLessThan(2e-4);
  });

  test('in the basis of the Gramian the solutions are the same, turned', () => {
    const world = createWorld(name);
    const { arena, kernels } = world;
    const job = prepare(world, { f: 22, columns: 60, hasWeights: true, gatherRows: 60 });
    const exact = arena.alloc(job.size * 4);
    arena.f32(exact, job.size).set(solved(world, job, () => kernels.alsCholeskyRows(job)));
    const [spectrum, basis] = [arena.alloc(job.f * 4), arena.alloc(job.f * job.f * 4)];
    const scratch = arena.alloc(Math.max(eigenScratchBytes(job.f), rotateScratchBytes(job.f)));
    expect(kernels.symmetricEigen(job.gramian, job.f, spectrum, basis, scratch)).toBe(1);
    kernels.rotateRows(job.source, 60, job.f, basis, scratch);
    kernels.rotateRows(job.target, ROWS, job.f, basis, scratch);
    const turned = solved(world, job, () => kernels.alsSpectralRows({ ...job, spectrum, steps: 30 }));
    kernels.rotateRows(exact, ROWS, job.f, basis, scratch);
    expect(distance(arena.f32(exact, job.size), turned)).toBeLessThan(1e-3);
    for (let row = 0; row < ROWS; row++)
      expect([turned[row * 24 + 22], turned[row * 24 + 23]]).toEqual([0, 0]);
    expect([...turned.subarray(0, 24)]).toEqual(new Array(24).fill(0));
  });

  test('a row without entries becomes zero, padded columns stay zero, other rows are not touched', () => {
    const world = createWorld(name);
    const job = spectral(world, { f: 6, columns: 40, hasWeights: false, gatherRows: 40 });
    const before = world.arena.f32(job.target, job.size).slice();
    const after = solved(world, job, () => world.kernels.alsSpectralRows({ ...job, endRow: 5 }));
    expect([...after.subarray(0, 8)]).toEqual(new Array(8).fill(0));
    for (let row = 0; row < 5; row++) expect([after[row * 8 + 6], after[row * 8 + 7]]).toEqual([0, 0]);
    expect(after.subarray(40)).toEqual(before.subarray(40));
  });

  test('solving in ranges gives the same bits as solving at once', () => {
    const world = createWorld(name);
    const job = spectral(world, { f: 32, columns: 60, hasWeights: true, gatherRows: 60 });
    const whole = solved(world, job, () => world.kernels.alsSpectralRows(job));
    const parts = solved(world, job, () => {
      for (const [firstRow, endRow] of [
        [4, 9],
        [0, 1],
        [1, 4],
      ] as const) {
        world.kernels.alsSpectralRows({ ...job, firstRow, endRow });
      }
    });
    expect(parts).toEqual(whole);
  });
});

describe.each(IMPLEMENTATIONS)('normal matrix and Cholesky, %s', (name) => {
  test.each(LENGTHS)('normalMatrix of %i rows agrees with the twin', (count) => {
    const world = createWorld(name, count);
    const { arena, random } = world;
    const f = paddedFactors(count % 37) + 4;
    const base = putFactors(world, f, f);
    world.plain.gramian(base, f, f, base);
    const shared = {
      source: putFactors(world, 50, f),
      f,
      columns: putInts(
        arena,
        Array.from({ length: count }, () => random.below(50)),
      ),
      weights:
        count % 3 === 0
          ? 0
          : putFloats(
              arena,
              Array.from({ length: count }, () => random.float()),
            ),
      count,
      base,
      scale: 0.5,
      diagonal: 0.25,
      scratch: arena.alloc(normalMatrixScratchBytes(f)),
    };
    const expected = arena.alloc(f * f * 4);
    const out = arena.alloc(f * f * 4);
    world.plain.normalMatrix({ ...shared, out: expected });
    world.kernels.normalMatrix({ ...shared, out });
    expect(distance(arena.f32(expected, f * f), arena.f32(out, f * f))).toBeLessThan(1e-5);
  });

  test.each([4, 8, 12, 32, 64, 68])('choleskySolve undoes a product with a %i x %i matrix', (f) => {
    const world = createWorld(name, f);
    const { arena, kernels } = world;
    const factors = putFactors(world, 3 * f, f);
    const matrix = arena.alloc(f * f * 4);
    kernels.gramian(factors, 3 * f, f, matrix);
    const x = putFactors(world, 1, f);
    const right = arena.alloc(f * 4);
    for (let i = 0; i < f; i++) arena.f32(right, f)[i] = world.plain.dot(matrix + i * f * 4, x, f);
    expect(kernels.choleskySolve(matrix, right, f)).toBe(1);
    expect(distance(arena.f32(x, f), arena.f32(right, f))).toBeLessThan(1e-3);
  });

  test.each([-1, 0, Number.NaN, Number.POSITIVE_INFINITY])(
    'choleskySolve refuses a pivot of %d and keeps b',
    (pivot) => {
      const { arena, kernels } = createWorld(name);
      const values = new Float32Array(64);
      for (let i = 0; i < 8; i++) values[i * 9] = i === 5 ? pivot : 1;
      const matrix = putFloats(arena, values);
      const right = putFloats(arena, [1, 2, 3, 4, 5, 6, 7, 8]);
      expect(kernels.choleskySolve(matrix, right, 8)).toBe(0);
      expect([...arena.f32(right, 8)]).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    },
  );
});
