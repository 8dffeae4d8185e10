import { describe, expect, it } from 'vitest';
import { finish, fitAls } from '../../../bench/fit-in-thread.ts';
import { rowIndices } from '../../../src/dataset/interactions.ts';
import { loadKernels } from '../../../src/kernel/load-kernels.ts';
import { viewOf } from '../../../src/memory/memory-layout.ts';
import { AlsSolver } from '../../../src/model/als/als-solver.ts';
import {
  type AlsEpoch,
  type AlsOutcome,
  alsCourse,
} from '../../../src/model/als/epochs-and-early-stopping.ts';
import { chanceQuality, gainOf, judgePeriod } from '../../../src/model/als/held-out-validation.ts';
import { type AlsStart, type AlsTask, placeAls } from '../../../src/model/als/memory-layout.ts';
import { MfScorer, placeModel } from '../../../src/model/als/mf-scorer.ts';
import { type AlsSettings, alsSettings } from '../../../src/model/als/settings.ts';
import type { AlsPhase } from '../../../src/model/als/training-task.ts';
import { ndcg } from '../../../src/model/evaluation/metrics.ts';
import { beginPhase } from '../../../src/model/part/chunks-for-threads.ts';
import { tastes } from '../tastes.ts';

const { train, heldOut } = tastes();
const F = 8;
const goalsOf = new Map(Array.from(heldOut.userRows, (user) => [user, new Set<number>()]));
heldOut.itemRows.forEach((item, at) => {
  goalsOf.get(heldOut.userRows[at]!)!.add(item);
});
const given = { factors: F, epochs: 30, regularization: 0.3, seed: 2 };

interface Course {
  readonly task: AlsTask;
  readonly outcome: AlsOutcome;
  readonly epochs: readonly AlsEpoch[];
  readonly phases: readonly AlsPhase[];
}

/** Trains in this thread; `after` sees the memory after each phase and epoch. */
function run(
  settings: Partial<AlsSettings>,
  start: AlsStart,
  after: (step: AlsPhase | AlsEpoch, task: AlsTask) => void = () => {},
): Course {
  const task = placeAls(train, alsSettings(settings), 1, start);
  const solver = new AlsSolver(task, loadKernels(task.memory), 0);
  const epochs: AlsEpoch[] = [];
  const phases: AlsPhase[] = [];
  const steps = alsCourse(task);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return { task, outcome: step.value, epochs, phases };
    if (step.value.kind === 'epoch') epochs.push(step.value);
    else {
      beginPhase(task);
      expect(solver.runPhase(step.value)).toBe(true);
      phases.push(step.value);
    }
    after(step.value, task);
  }
}

function floats(task: AlsTask, name: string): Float32Array {
  return viewOf(task.memory, task.layout, name, 'f32').slice();
}

function dot(a: Float32Array, atA: number, b: Float32Array, atB: number): number {
  let sum = 0;
  for (let i = 0; i < F; i++) sum += a[atA * F + i]! * b[atB * F + i]!;
  return sum;
}

describe('judging on held-out records', () => {
  it('gives the NDCG@10 that a plain ranking of the whole catalogue gives', () => {
    const expected: number[] = [];
    const { epochs } = run({ ...given, epochs: 1 }, { heldOut }, (phase, task) => {
      if (phase.kind !== 'judge') return;
      const users = floats(task, 'userFactors');
      const items = floats(task, 'itemFactors');
      let sum = 0;
      const judged = viewOf(task.memory, task.layout, 'heldUsers', 'u32').subarray(0, task.judged);
      for (const user of judged) {
        const goals = goalsOf.get(user)!;
        const seen = new Set(rowIndices(train.byUser, user));
        const ranked = Array.from({ length: train.itemCount }, (_, item) => item)
          .filter((item) => !seen.has(item))
          // Of items that score alike, as those that nobody has taken up do, a held-out one stands last.
          .sort(
            (a, b) =>
              dot(users, user, items, b) - dot(users, user, items, a) ||
              Number(goals.has(a)) - Number(goals.has(b)),
          );
        const hits = ranked.map((item) => goals.has(item));
        sum += ndcg(hits, 10, goals.size);
      }
      expected.push(sum / judged.length);
    });
    expect(epochs[0]!.quality!.mean).toBeGreaterThan(2 * chanceQuality(train.itemCount));
    expect(epochs[0]!.quality!.mean).toBeCloseTo(expected[0]!, 6);
  });

  it('lets equal scores stand before the held-out item', () => {
    expect(gainOf(Float32Array.of(1), Float32Array.of(2, 1, 0))).toBe(1 / Math.log2(4));
    expect(gainOf(Float32Array.of(0), new Float32Array(10))).toBe(0);
    expect(gainOf(Float32Array.of(Number.NaN), Float32Array.of(2))).toBe(0);
  });

  it('is rarer where it is dear beside an epoch, yet often enough to find the best one', () => {
    const shape = { ...run({ ...given, epochs: 1 }, { heldOut }).task, judged: 2000 };
    expect(judgePeriod(shape)).toBe(1);
    const long = { ...shape, userCount: 138_000, itemCount: 27_000, count: 20_000_000 };
    expect(judgePeriod({ ...long, settings: alsSettings({ factors: 64 }) })).toBe(2);
    expect(judgePeriod({ ...long, count: 100_000, settings: alsSettings({ factors: 128 }) })).toBe(3);
  });
});

/** Of all rows of factors with one another. */
function innerProducts(factors: Float32Array): number[] {
  const products: number[] = [];
  for (let a = 0; a < factors.length; a += F) {
    for (let b = a; b < factors.length; b += F) {
      let product = 0;
      for (let i = 0; i < F; i++) product += factors[a + i]! * factors[b + i]!;
      products.push(product);
    }
  }
  return products;
}

function farthest(a: readonly number[], b: readonly number[]): number {
  return a.reduce((most, value, at) => Math.max(most, Math.abs(value - b[at]!)), 0);
}

describe('a training with held-out records', () => {
  it('ends three judgings after the best and publishes the items of the best epoch', () => {
    const items: Float32Array[] = [];
    const course = run(given, { heldOut }, (step, task) => {
      if (step.kind === 'epoch') items.push(floats(task, 'itemFactors'));
    });
    const { outcome, epochs } = course;
    const qualities = epochs.map(({ quality }) => quality!.mean);
    expect(outcome.epochs).toBeLessThan(given.epochs);
    expect(outcome.bestEpoch).toBe(1 + qualities.indexOf(Math.max(...qualities)));
    expect(outcome.epochs).toBe(outcome.bestEpoch + 3);
    expect(outcome.quality!.mean).toBe(Math.max(...qualities));
    // Later epochs turn the basis, which leaves the items' inner products as they were.
    const published = innerProducts(floats(course.task, 'itemFactors'));
    const best = innerProducts(items[outcome.bestEpoch - 1]!);
    const last = innerProducts(items.at(-1)!);
    expect(farthest(published, best)).toBeLessThan(1e-4);
    expect(farthest(published, last)).toBeGreaterThan(1e-3);
  });

  it('solves the users concerned with their whole history in the end', () => {
    const model = finish(fitAls(train, { ...given, solver: 'cholesky' }, loadKernels, { heldOut }));
    const placed = placeModel(model, loadKernels);
    const scorer = new MfScorer(placed, loadKernels(placed.memory));
    for (const [user, goals] of [...goalsOf].slice(0, 20)) {
      const history = [...rowIndices(train.byUser, user), ...goals];
      const exact = scorer.foldIn(history)!;
      scorer.userVector(user)!.forEach((value, i) => {
        expect(value).toBeCloseTo(exact[i]!, 4);
      });
    }
    expect(model.quality['NDCG@10']).toBeGreaterThan(0);
  });

  it('runs every epoch when nothing is held out', () => {
    const { outcome, epochs, phases } = run({ ...given, epochs: 7 }, {});
    expect(epochs).toHaveLength(7);
    expect(outcome).toEqual({ epochs: 7, bestEpoch: 7 });
    expect(new Set(phases.map(({ kind }) => kind))).toEqual(new Set(['gramian', 'basis', 'turn', 'solve']));
  });
});

describe('a training that starts from the items of an earlier one', () => {
  const first = finish(fitAls(train, given, loadKernels, { heldOut }));

  it('is at once about as good as that was', () => {
    const cold = run({ ...given, seed: 3, epochs: 1 }, { heldOut }).outcome.quality!.mean;
    const warm = run({ ...given, seed: 3, epochs: 1 }, { heldOut, itemFactors: first.itemFactors });
    expect(warm.outcome.quality!.mean).toBeGreaterThan(cold);
    expect(warm.outcome.quality!.mean).toBeGreaterThan(0.9 * first.quality['NDCG@10']!);
  });

  it('starts items that the earlier model did not know at random, and those without feedback at zero', () => {
    const known = first.itemFactors.subarray(0, 100 * F);
    const task = placeAls(train, alsSettings({ ...given, seed: 3 }), 1, { heldOut, itemFactors: known });
    const cold = placeAls(train, alsSettings({ ...given, seed: 3 }), 1, { heldOut });
    expect(floats(task, 'itemFactors').subarray(0, 100 * F)).toEqual(known);
    expect(floats(task, 'itemFactors').subarray(100 * F)).toEqual(
      floats(cold, 'itemFactors').subarray(100 * F),
    );
  });
});

describe('a training that goes wrong', () => {
  it('says so when factors are no longer finite', () => {
    const { outcome } = run({ ...given, regularization: 1e-38, unobservedWeight: 1e38 }, { heldOut });
    expect(outcome.divergence).toBe('its factors are not finite');
  });

  it('is told from one whose few judged users have no hit: by chance they would have none either', () => {
    const withoutHits = (users: number) => {
      const userRows = heldOut.userRows.slice(0, users);
      const itemRows = heldOut.itemRows.slice(0, users);
      return run({ ...given, epochs: 2 }, { heldOut: { userRows, itemRows } }, (step, task) => {
        if (step.kind === 'judge') viewOf(task.memory, task.layout, 'gains', 'f32').fill(0);
      });
    };
    const few = withoutHits(20);
    expect(few.outcome).toMatchObject({ quality: { mean: 0 } });
    expect(few.outcome.divergence).toBeUndefined();
    const many = withoutHits(heldOut.userRows.length);
    expect(many.task.judged * chanceQuality(many.task.itemCount)).toBeGreaterThan(3);
    expect(many.outcome.divergence).toBe('its lists are worse than chance');
  });
});
