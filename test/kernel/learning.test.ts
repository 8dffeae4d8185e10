import { describe, expect, test } from 'vitest';
import type { BprSteps, FmTraining } from '../../src/kernel/kernels.ts';
import { fmScratchBytes, paddedFactors } from '../../src/kernel/scratch.ts';
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

const USERS = 20;
const ITEMS = 30;

function prepareBpr(world: World, f: number): BprSteps {
  const matrix = putMatrix(world, USERS, ITEMS, 0.3);
  return {
    starts: matrix.starts,
    columns: matrix.columns,
    entryUsers: putInts(
      world.arena,
      matrix.rowLists.flatMap((list, user) => list.map(() => user)),
    ),
    firstEntry: 0,
    endEntry: matrix.entries,
    items: ITEMS,
    userFactors: putFactors(world, USERS, f, undefined, 0.1),
    itemFactors: putFactors(world, ITEMS, f, undefined, 0.1),
    f: paddedFactors(f),
    learningRate: 0.05,
    regularization: 0.01,
    samples: 400,
    random: putInts(world.arena, [1, 2, 3, 4]),
  };
}

describe.each(IMPLEMENTATIONS)('BPR, %s', (name) => {
  test.each(LENGTHS)('steps agree with the twin at %i factors', (f) => {
    const [ours, twin] = [createWorld(name, f), createWorld('plain', f)];
    const [job, twinJob] = [prepareBpr(ours, f), prepareBpr(twin, f)];
    const ordered = ours.kernels.bprSteps(job);
    expect(Math.abs(ordered - twin.kernels.bprSteps(twinJob))).toBeLessThanOrEqual(2);
    expect(ours.arena.u32(job.random, 4)).toEqual(twin.arena.u32(twinJob.random, 4));
    for (const [at, rows] of [
      [job.userFactors, USERS],
      [job.itemFactors, ITEMS],
    ] as const) {
      expect(distance(twin.arena.f32(at, rows * job.f), ours.arena.f32(at, rows * job.f))).toBeLessThan(1e-4);
    }
  });

  test('training puts more and more pairs in order', () => {
    const world = createWorld(name);
    const job = { ...prepareBpr(world, 8), samples: 5000 };
    const first = world.kernels.bprSteps(job);
    for (let epoch = 0; epoch < 10; epoch++) world.kernels.bprSteps(job);
    expect(world.kernels.bprSteps(job)).toBeGreaterThan(first);
  });

  test('without entries or items nothing happens; a user who has every item is skipped', () => {
    const world = createWorld(name);
    const job = prepareBpr(world, 8);
    expect(world.kernels.bprSteps({ ...job, endEntry: 0 })).toBe(0);
    expect(world.kernels.bprSteps({ ...job, items: 0 })).toBe(0);
    const full = putMatrix(world, 1, ITEMS, 2);
    const before = world.arena.f32(job.itemFactors, ITEMS * 8).slice();
    const own = { ...job, starts: full.starts, columns: full.columns, endEntry: ITEMS };
    world.kernels.bprSteps({ ...own, entryUsers: putInts(world.arena, new Array(ITEMS).fill(0)) });
    expect(world.arena.f32(job.itemFactors, ITEMS * 8)).toEqual(before);
  });
});

const FM_ROWS = 40;
const FEATURES = 25;

function prepareFm(world: World, f: number, hasValues: boolean): FmTraining {
  const { arena, random } = world;
  const matrix = putMatrix(world, FM_ROWS, FEATURES, 0.25);
  const padded = paddedFactors(f);
  const squares = (n: number) => putFloats(arena, new Float32Array(n).fill(0.01));
  return {
    starts: matrix.starts,
    features: matrix.columns,
    values: hasValues
      ? putFloats(
          arena,
          Array.from({ length: matrix.entries }, () => random.float()),
        )
      : 0,
    firstRow: 0,
    endRow: FM_ROWS,
    bias: putFloats(arena, [0.1]),
    linear: putFactors(world, 1, FEATURES),
    factors: putFactors(world, FEATURES, f, undefined, 0.1),
    f: padded,
    outScores: arena.alloc(FM_ROWS * 4),
    scratch: arena.alloc(fmScratchBytes(padded)),
    targets: putFloats(
      arena,
      matrix.rowLists.map((list) => (list.includes(3) === list.includes(4) ? 1 : 0)),
    ),
    order: hasValues
      ? putInts(
          arena,
          Array.from({ length: FM_ROWS }, (_, row) => (row * 7) % FM_ROWS),
        )
      : 0,
    biasSquares: squares(1),
    linearSquares: squares(FEATURES),
    factorSquares: squares(FEATURES * padded),
    learningRate: 0.05,
    linearRegularization: 0.001,
    factorRegularization: 0.002,
  };
}

/** Logistic loss of one row at the present parameters, by the twin. */
function rowLoss(world: World, job: FmTraining, row: number): number {
  world.plain.fmScoreRows({ ...job, firstRow: row, endRow: row + 1 });
  const score = world.arena.f32(job.outScores, FM_ROWS)[row]!;
  return Math.log1p(Math.exp(score)) - world.arena.f32(job.targets, FM_ROWS)[row]! * score;
}

describe.each(IMPLEMENTATIONS)('factorization machine, %s', (name) => {
  test.each(LENGTHS)('scores and updates agree with the twin at %i factors', (f) => {
    const [ours, twin] = [createWorld(name, f), createWorld('plain', f)];
    const [job, twinJob] = [prepareFm(ours, f, f % 2 === 1), prepareFm(twin, f, f % 2 === 1)];
    ours.kernels.fmScoreRows(job);
    twin.kernels.fmScoreRows(twinJob);
    expect(
      distance(twin.arena.f32(job.outScores, FM_ROWS), ours.arena.f32(job.outScores, FM_ROWS)),
    ).toBeLessThan(1e-5);
    expect(ours.kernels.fmAdaGradRows(job)).toBeCloseTo(twin.kernels.fmAdaGradRows(twinJob), 2);
    const size = FEATURES * job.f;
    expect(distance(twin.arena.f32(job.factors, size), ours.arena.f32(job.factors, size))).toBeLessThan(2e-3);
    const linear = [twin, ours].map(({ arena }) => arena.f32(job.linear, FEATURES));
    expect(distance(linear[0]!, linear[1]!)).toBeLessThan(2e-3);
  });

  test('the loss falls with every few epochs', () => {
    const world = createWorld(name);
    const job = prepareFm(world, 8, false);
    const losses = Array.from({ length: 60 }, () => world.kernels.fmAdaGradRows(job));
    expect(losses[20]!).toBeLessThan(losses[0]!);
    expect(losses[59]!).toBeLessThan(losses[20]!);
  });

  test('a step follows the gradient of the loss, as finite differences measure it', () => {
    const world = createWorld(name);
    const { arena } = world;
    const row = 5;
    const job = { ...prepareFm(world, 4, true), order: 0, firstRow: row, endRow: row + 1 };
    const still = { ...job, linearRegularization: 0, factorRegularization: 0, learningRate: 1000 };
    const size = FEATURES * 4;
    const factors = arena.f32(job.factors, size);
    const gradient = Array.from({ length: size }, (_, at) => {
      const kept = factors[at]!;
      factors[at] = kept + 0.02;
      const above = rowLoss(world, job, row);
      factors[at] = kept - 0.02;
      const below = rowLoss(world, job, row);
      factors[at] = kept;
      return (above - below) / 0.04;
    });
    // With huge sums of squares AdaGrad is plain descent at rate 1000 / sqrt(1e10) = 0.01.
    arena.f32(job.factorSquares, size).fill(1e10);
    const before = factors.slice();
    world.kernels.fmAdaGradRows(still);
    const moved = Array.from(factors, (value, at) => (before[at]! - value) / 0.01);
    expect(distance(gradient, moved)).toBeLessThan(2e-3);
  });
});
