import { describe, expect, test } from 'vitest';
import type { FmTraining } from '../../src/kernel/kernels.ts';
import { fmScratchBytes, paddedFactors } from '../../src/kernel/scratch-sizes.ts';
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
