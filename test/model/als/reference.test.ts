import { describe, expect, it } from 'vitest';
import { buildInteractions, rowIndices } from '../../../src/dataset/interactions.ts';
import { createRandom } from '../../../src/domain/random.ts';
import { loadKernels } from '../../../src/kernel/load-kernels.ts';
import { viewOf } from '../../../src/memory/memory-layout.ts';
import { AlsSolver } from '../../../src/model/als/als-solver.ts';
import { placeAls } from '../../../src/model/als/memory-layout.ts';
import { type AlsSettings, alsSettings } from '../../../src/model/als/settings.ts';
import { alsPhases } from '../../../src/model/als/training-task.ts';
import { beginPhase } from '../../../src/model/part/chunks-for-threads.ts';

const F = 4;
const random = createRandom(7);
const pairs = Array.from(
  { length: 160 },
  () => [random.below(24), Math.floor(15 * random.float() ** 2)] as const,
);
const data = buildInteractions({
  userCount: 24,
  itemCount: 15,
  userRows: pairs.map(([user]) => user),
  itemRows: pairs.map(([, item]) => item),
});

type Matrix = number[][];

/**
 * One side of Rendle et al. 2021, equations 3 and 4, written densely: every pair of the matrix is gone through, with
 * weight 1 for what was observed and `unobservedWeight` for every pair.
 */
function solveSide(liked: boolean[][], source: Matrix, settings: AlsSettings): Matrix {
  const { unobservedWeight, regularization, regularizationExponent } = settings;
  return liked.map((row) => {
    const count = row.filter(Boolean).length;
    const penalty = regularization * (count + unobservedWeight * row.length) ** regularizationExponent;
    const left: Matrix = Array.from({ length: F }, (_, i) =>
      Array.from({ length: F }, (_, j) => (i === j ? penalty : 0)),
    );
    const right = new Array<number>(F).fill(0);
    row.forEach((isLiked, other) => {
      const weight = unobservedWeight + (isLiked ? 1 : 0);
      for (let i = 0; i < F; i++) {
        if (isLiked) right[i]! += source[other]![i]!;
        for (let j = 0; j < F; j++) left[i]![j]! += weight * source[other]![i]! * source[other]![j]!;
      }
    });
    return count === 0 ? right : solve(left, right);
  });
}

/** Gaussian elimination; the matrix is positive definite. */
function solve(left: Matrix, right: number[]): number[] {
  const a = left.map((row, i) => [...row, right[i]!]);
  for (let i = 0; i < F; i++) {
    for (let row = 0; row < F; row++) {
      if (row === i) continue;
      const factor = a[row]![i]! / a[i]![i]!;
      for (let column = i; column <= F; column++) a[row]![column]! -= factor * a[i]![column]!;
    }
  }
  return a.map((row, i) => row[F]! / row[i]!);
}

/** The loss that all of this minimizes. */
function loss(liked: boolean[][], users: Matrix, items: Matrix, settings: AlsSettings): number {
  const { unobservedWeight, regularization, regularizationExponent } = settings;
  const square = (vector: number[]) => vector.reduce((sum, value) => sum + value * value, 0);
  const penalty = (count: number, others: number, vector: number[]) =>
    regularization * (count + unobservedWeight * others) ** regularizationExponent * square(vector);
  let sum = 0;
  liked.forEach((row, user) => {
    row.forEach((isLiked, item) => {
      const score = users[user]!.reduce((total, value, i) => total + value * items[item]![i]!, 0);
      sum += unobservedWeight * score ** 2 + (isLiked ? (score - 1) ** 2 : 0);
    });
    sum += penalty(row.filter(Boolean).length, row.length, users[user]!);
  });
  items.forEach((vector, item) => {
    sum += penalty(liked.filter((row) => row[item]).length, liked.length, vector);
  });
  return sum;
}

const liked = Array.from({ length: data.userCount }, (_, user) => {
  const items = new Set(rowIndices(data.byUser, user));
  return Array.from({ length: data.itemCount }, (_, item) => items.has(item));
});
const likedBy = Array.from({ length: data.itemCount }, (_, item) => liked.map((row) => row[item]!));

describe.each([
  { regularization: 0.007, unobservedWeight: 0.3, regularizationExponent: 1 },
  { regularization: 0.01, unobservedWeight: 0.01, regularizationExponent: 1 },
  { regularization: 0.2, unobservedWeight: 0.1, regularizationExponent: 0.5 },
  { regularization: 0.1, unobservedWeight: 1, regularizationExponent: 0 },
])('ALS with $regularization, $unobservedWeight, $regularizationExponent', (given) => {
  const settings = alsSettings({ ...given, factors: F, epochs: 3, seed: 2 });

  /** Factors of both sides as they are in a training. */
  function train(solver: AlsSettings['solver'], steps: number) {
    const task = placeAls(data, { ...settings, solver, steps });
    const worker = new AlsSolver(task, loadKernels(task.memory), 0);
    const rows = (name: string): Matrix => {
      const values = viewOf(task.memory, task.layout, name, 'f32');
      return Array.from({ length: values.length / F }, (_, row) => [
        ...values.subarray(row * F, (row + 1) * F),
      ]);
    };
    const before = { users: rows('userFactors'), items: rows('itemFactors') };
    for (const phase of alsPhases(settings.epochs)) {
      beginPhase(task);
      worker.runPhase(phase);
    }
    return { before, after: { users: rows('userFactors'), items: rows('itemFactors') } };
  }

  it('solves the equations of Rendle et al. 2021', () => {
    const { before, after } = train('cholesky', 1);
    let { users, items } = before;
    for (let epoch = 0; epoch < settings.epochs; epoch++) {
      items = solveSide(likedBy, users, settings);
      users = solveSide(liked, items, settings);
    }
    after.users.flat().forEach((value, at) => {
      expect(value).toBeCloseTo(users.flat()[at]!, 4);
    });
    after.items.flat().forEach((value, at) => {
      expect(value).toBeCloseTo(items.flat()[at]!, 4);
    });
  });

  it.each(['cg'] as const)('comes by %s to the loss that exact solutions have', (solver) => {
    const exact = train('cholesky', 1).after;
    const { before, after } = train(solver, 8);
    const goal = loss(liked, exact.users, exact.items, settings);
    expect(goal).toBeLessThan(0.9 * loss(liked, before.users, before.items, settings));
    expect(loss(liked, after.users, after.items, settings)).toBeCloseTo(goal, 3);
  });
});
