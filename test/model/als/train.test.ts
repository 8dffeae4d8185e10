import { describe, expect, it } from 'vitest';
import { driveAls, finish, fitAls } from '../../../bench/fit-in-thread.ts';
import { buildInteractions, rowIndices } from '../../../src/dataset/interactions.ts';
import { loadKernels } from '../../../src/kernel/load-kernels.ts';
import { AlsSolver } from '../../../src/model/als/als-solver.ts';
import { alsMemoryBytes, placeAls } from '../../../src/model/als/memory-layout.ts';
import { MfScorer, placeModel } from '../../../src/model/als/mf-scorer.ts';
import { alsSettings } from '../../../src/model/als/settings.ts';
import { sizedFactors, sizedSettings } from '../../../src/model/als/settings-by-size.ts';
import { trainedModel } from '../../../src/model/als/train-and-serve.ts';
import { alsPhases } from '../../../src/model/als/training-task.ts';
import { beginPhase, cancelTask } from '../../../src/model/part/chunks-for-threads.ts';
import { checkerboard, missingItem } from '../checkerboard.ts';

const board = checkerboard(40, 20);
const settings = { factors: 7, epochs: 8, regularization: 0.01, seed: 5 };
const instantiate = (memory: WebAssembly.Memory) => loadKernels(memory);

describe.each(['cg', 'cholesky', 'auto'] as const)('ALS solved by %s', (solver) => {
  const model = finish(fitAls(board, { ...settings, solver }, instantiate));
  const placed = placeModel(model, instantiate);
  const scorer = new MfScorer(placed, instantiate(placed.memory));

  it('recommends the missing square of the checkerboard', () => {
    for (let user = 0; user < board.userCount; user++) {
      const list = scorer.recommend(scorer.userVector(user)!, 1, rowIndices(board.byUser, user));
      expect([...list.itemRows], `user ${user}`).toEqual([missingItem(user, board.itemCount)]);
    }
  });

  it('keeps the padded factors at zero', () => {
    for (let row = 0; row < board.userCount; row++) expect(model.userFactors[row * 8 + 7]).toBe(0);
  });
});

describe('ALS', () => {
  it('gives the same model for the same seed, and another for another', () => {
    const first = finish(fitAls(board, settings, instantiate));
    const second = finish(fitAls(board, settings, instantiate));
    const third = finish(fitAls(board, { ...settings, seed: 6 }, instantiate));
    expect(second).toEqual(first);
    expect(third.itemFactors).not.toEqual(first.itemFactors);
  });

  it('gives the same model when two solvers share the phases', async () => {
    const expected = finish(fitAls(board, settings, instantiate));
    const task = placeAls(board, alsSettings(settings), 2);
    const solvers = [0, 1].map((slot) => new AlsSolver(task, instantiate(task.memory), slot));
    const run = driveAls(task, async (phase) => {
      // Slot 1 takes the first chunk by itself, slot 0 what is left.
      if (phase.kind === 'solve') {
        solvers[1]!.sumGramian(phase.side);
        solvers[1]!.solveRows(phase.side, 3, 11);
        const before = phase.side === 'user' ? [0, 3, 11, 40] : [0, 3, 11, 20];
        solvers[0]!.sumGramian(phase.side);
        solvers[0]!.solveRows(phase.side, before[0]!, before[1]!);
        solvers[0]!.solveRows(phase.side, before[2]!, before[3]!);
      } else {
        solvers[1]!.runPhase(phase);
      }
    });
    const told: number[] = [];
    for await (const { done } of run) told.push(done);
    expect(told).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    const model = trainedModel(task, expected.fingerprint);
    expect(model.userFactors).toEqual(expected.userFactors);
    expect(model.itemFactors).toEqual(expected.itemFactors);
  });

  it('stops at the next chunk when cancelled', () => {
    const task = placeAls(board, alsSettings(settings));
    const solver = new AlsSolver(task, instantiate(task.memory), 0);
    const [phase] = [...alsPhases(1)];
    beginPhase(task);
    expect(solver.runPhase(phase!)).toBe(true);
    cancelTask(task);
    expect(solver.runPhase(phase!)).toBe(false);
  });

  it('gives rows without feedback a zero vector', () => {
    const sparse = { ...checkerboard(40, 20) };
    const { byUser } = sparse;
    const emptied = {
      ...byUser,
      indptr: byUser.indptr.map((start, row) => (row === 40 ? byUser.indptr[39]! : start)),
    };
    const model = finish(fitAls({ ...sparse, byUser: emptied }, settings, instantiate));
    expect([...model.userFactors.subarray(39 * 8)]).toEqual(new Array(8).fill(0));
  });

  it.each([
    [4, 'cholesky'],
    [5, 'cg'],
    [256, 'cg'],
  ] as const)('takes for %i factors the solver %s by itself', (factors, solver) => {
    expect(placeAls(board, alsSettings({ factors })).solver).toBe(solver);
  });

  it('works out its memory before it starts', () => {
    const shape = {
      userCount: 138_493,
      itemCount: 26_744,
      count: 20_000_000,
      weighted: false,
      factors: 64,
      slots: 2,
    };
    expect(alsMemoryBytes(shape).all).toBeGreaterThan(2 * 20_000_000 * 4 + (138_493 + 26_744) * 256);
    expect(alsMemoryBytes(shape).all).toBeLessThan(225e6);
  });

  it('has as many factors as the data fill and as stay quick, unless told', () => {
    const factorsOf = (userCount: number, itemCount: number, count: number, factors = 0) =>
      sizedFactors(alsSettings({ factors }), { userCount, itemCount, count });
    expect(factorsOf(900, 1700, 80_000)).toBe(64);
    expect(factorsOf(6000, 3700, 500_000)).toBe(64);
    expect(factorsOf(6000, 6000, 500_000)).toBe(128);
    expect(factorsOf(5500, 17_000, 164_000)).toBe(256);
    expect(factorsOf(30_000, 41_000, 810_000)).toBe(256);
    expect(factorsOf(138_493, 26_744, 20_000_000)).toBe(64);
    expect(factorsOf(1e6, 1e6, 2e7)).toBe(64);
    expect(factorsOf(5500, 17_000, 164_000, 10)).toBe(10);
    const few = buildInteractions({ userCount: 2, itemCount: 3, userRows: [0, 1], itemRows: [0, 1] });
    const task = placeAls(few, alsSettings());
    expect([task.settings.factors, task.solver]).toEqual([64, 'cg']);
  });

  it('weighs what is not observed by the size of the catalogue, unless told', () => {
    const weightOf = (itemCount: number, given = {}) =>
      sizedSettings(alsSettings(given), itemCount).unobservedWeight;
    expect([0, 1, 10_000].map((items) => weightOf(items))).toEqual([0.1, 0.1, 0.1]);
    expect(weightOf(40_000)).toBe(0.025);
    expect(weightOf(40_000, { unobservedWeight: 0.3 })).toBe(0.3);
    const few = buildInteractions({ userCount: 2, itemCount: 40_000, userRows: [0, 1], itemRows: [0, 1] });
    expect(placeAls(few, alsSettings({ factors: 2 })).settings.unobservedWeight).toBe(0.025);
  });

  it.each([
    { factors: -1 },
    { factors: 2.5 },
    { epochs: 1.5 },
    { regularization: 0 },
    { unobservedWeight: Number.NaN },
    { unobservedWeight: -0.1 },
    { regularizationExponent: -1 },
    { steps: 0 },
  ])('refuses %o', (bad) => {
    expect(() => alsSettings(bad)).toThrow(Object.keys(bad)[0]);
  });
});
