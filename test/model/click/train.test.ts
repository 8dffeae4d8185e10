import { describe, expect, it } from 'vitest';
import { loadKernels } from '../../../src/kernel/load-kernels.ts';
import { FmScorer, placeFm } from '../../../src/model/click/fm-scorer.ts';
import type { FmModel } from '../../../src/model/click/model.ts';
import { FM_DEFAULTS } from '../../../src/model/click/settings.ts';
import {
  type ClickTask,
  clickTrainingBytes,
  retrainClickModel,
  trainClickModel,
} from '../../../src/model/click/train.ts';
import { clickWorld, NOBODY } from './fm-world.ts';

const world = clickWorld(1);
const settings = { factors: 4, epochs: 30, learningRate: 0.1, negativesPerPositive: 4 };
const train = (task: Partial<ClickTask> = {}): FmModel =>
  trainClickModel({ ...world, settings, seed: 1, ...task }, loadKernels)!;
const model = train();

function scorerOf(trained: FmModel, labelsOf = world.itemLabelsOf): FmScorer {
  const placed = placeFm(trained, labelsOf);
  return new FmScorer(placed, loadKernels(placed.memory));
}

describe('a click-through training', () => {
  it('prefers items of the user’s kind, among those it knows and those that came later', () => {
    const scorer = scorerOf(model);
    const rows = Array.from({ length: world.itemCount }, (_, row) => row);
    for (const user of [0, 1, 7, 8]) {
      const logits = scorer.logits(scorer.userSide(user, []), rows);
      const mean = (kind: number) =>
        rows.filter((row) => row % 2 === kind).reduce((sum, row) => sum + logits[row]!, 0) / 30;
      expect(mean(user % 2)).toBeGreaterThan(mean(1 - (user % 2)) + 0.5);
      const [even, odd] = scorer.logits(scorer.userSide(user, []), [1000, 1001], (row) =>
        scorer.itemSideOf(world.itemLabelsOf(row)),
      );
      expect(user % 2 === 0 ? even! - odd! : odd! - even!).toBeGreaterThan(0.1);
    }
  });

  it('says how well it does on held-out records, and of what its probabilities speak', () => {
    expect(model.quality.AUC).toBeGreaterThan(0.65);
    expect(model.quality.LogLoss).toBeLessThan(0.5004);
    expect(model.negativesPerPositive).toBe(4);
    expect(model.positiveRate).toBeCloseTo(0.2, 2);
  });

  it('learns labels that are shared and drops those of one user or item', () => {
    expect(model.itemLabels).toEqual(['even', 'odd']);
    expect(model.userLabels).toEqual([]);
  });

  it('is the same for the same seed and data, and tells data sets apart', () => {
    expect(train()).toEqual(model);
    expect(train({ seed: 2 }).vectors).not.toEqual(model.vectors);
    expect(train({ heldOut: NOBODY }).fingerprint).not.toBe(model.fingerprint);
  });

  it('stops when held-out records no longer improve, with the best epoch so far', () => {
    const losses: number[] = [];
    const task = { ...world, settings: { ...settings, epochs: 1000, learningRate: 0.5 }, seed: 1 };
    const early = trainClickModel(task, loadKernels, {
      onProgress: ({ heldOutLoss }) => {
        if (!Number.isNaN(heldOutLoss)) losses.push(heldOutLoss);
      },
    })!;
    const best = Math.min(...losses);
    expect(losses.length).toBeLessThan(100);
    expect(losses.indexOf(best)).toBe(losses.length - 1 - FM_DEFAULTS.patience);
    expect(early.quality.LogLoss).toBeCloseTo(best, 6);
  });

  it('runs every epoch when nothing is held out', () => {
    const epochs: number[] = [];
    const task = { ...world, heldOut: NOBODY, settings: { ...settings, epochs: 4 }, seed: 1 };
    const all = trainClickModel(task, loadKernels, { onProgress: ({ done }) => epochs.push(done) })!;
    expect(epochs).toEqual([0, 1, 2, 3, 4]);
    expect(all.quality).toEqual({});
    expect(all.calibration).toEqual({ slope: 1, offset: 0 });
    expect(all.positiveRate).toBeCloseTo(0.2, 6);
  });

  it('learns the held-out records too, once they have judged it', () => {
    const task = { ...world, settings, seed: 1 };
    const epochs: number[] = [];
    const again = retrainClickModel(task, model, loadKernels, {
      onProgress: ({ done }) => epochs.push(done),
    })!;
    expect(model.epochs).toBeGreaterThan(4);
    expect(epochs[0]).toBe(model.epochs - Math.ceil(model.epochs / 3));
    expect(epochs.at(-1)).toBe(model.epochs);
    expect(again.epochs).toBe(model.epochs);
    expect(again.quality).toEqual(model.quality);
    expect(again.calibration).toEqual(model.calibration);
    const [before, after] = [scorerOf(model), scorerOf(again)];
    const { userRows, itemRows } = world.heldOut;
    let rise = 0;
    for (const [at, user] of Array.from(userRows).entries()) {
      const logit = (scorer: FmScorer) => scorer.logits(scorer.userSide(user, []), [itemRows[at]!])[0]!;
      rise += (logit(after) - logit(before)) / userRows.length;
    }
    expect(rise).toBeGreaterThan(0.05);
    expect(retrainClickModel(task, model, loadKernels, { shouldStop: () => true })).toBeUndefined();
  });

  it('goes on from what the judged model knows, wherever its users, items and labels stand now', () => {
    const settings = { factors: 4, epochs: 9, learningRate: 1e-9 };
    const rows = (users: readonly number[], items: readonly number[]) => ({
      users: Uint32Array.from(users, (row) => 10 * row),
      items: Uint32Array.from(items, (row) => 10 * row),
      itemRowCount: 1000,
    });
    const all = (count: number) => Array.from({ length: count }, (_, row) => row);
    const judged = { ...model, epochs: 9, rows: rows(all(world.userCount), all(world.itemCount)) };
    // The same world without its first user and item, and with a new one of each behind the others.
    const [users, items] = [all(world.userCount + 1).slice(1), all(world.itemCount + 1).slice(1)];
    const shift = (columns: { userRows: ArrayLike<number>; itemRows: ArrayLike<number> }) => {
      const kept = Array.from(columns.userRows, (_, at) => at).filter(
        (at) => columns.userRows[at]! > 0 && columns.itemRows[at]! > 0,
      );
      return {
        userRows: kept.map((at) => columns.userRows[at]! - 1),
        itemRows: kept.map((at) => columns.itemRows[at]! - 1),
      };
    };
    const task = {
      ...world,
      positives: shift(world.positives),
      heldOut: NOBODY,
      itemLabelsOf: (row: number) => world.itemLabelsOf(row + 1),
      rows: rows(users, items),
      settings,
      seed: 1,
    };
    const again = retrainClickModel(task, judged, loadKernels)!;
    const [before, after] = [scorerOf(model), scorerOf(again, task.itemLabelsOf)];
    for (const [user, item] of [
      [0, 0],
      [17, 30],
      [world.userCount - 2, world.itemCount - 2],
    ] as const) {
      const [expected] = before.logits(before.userSide(user + 1, []), [item + 1]);
      expect(after.logits(after.userSide(user, []), [item])[0]).toBeCloseTo(expected!, 4);
    }
  });

  it('begins anew where few epochs were best', () => {
    const epochs: number[] = [];
    const few = { ...model, epochs: 4 };
    retrainClickModel({ ...world, settings, seed: 1 }, few, loadKernels, {
      onProgress: ({ done }) => epochs.push(done),
    });
    expect(epochs).toEqual([0, 1, 2, 3, 4]);
  });

  it('takes the negatives that there are before it draws any', () => {
    const given = clickWorld(1, 400, 60, 0.5);
    const trained = trainClickModel({ ...given, settings, seed: 1 }, loadKernels)!;
    expect(given.negatives.userRows.length).toBeGreaterThan(given.positives.userRows.length);
    expect(trained.negativesPerPositive).toBe(0);
    const share = given.negatives.userRows.length / given.positives.userRows.length;
    expect(trained.positiveRate).toBeCloseTo(1 / (1 + share), 2);
    expect(trained.quality.AUC).toBeGreaterThan(0.65);
  });

  it('can be stopped between two chunks', () => {
    let asked = 0;
    const stop = { shouldStop: () => ++asked > 5 };
    expect(trainClickModel({ ...world, settings, seed: 1 }, loadKernels, stop)).toBeUndefined();
    expect(asked).toBe(6);
  });

  it('learns from so many examples at most', () => {
    const few = train({ settings: { ...settings, examplesMax: 50, epochs: 1 } });
    const usersOf = ({ linear, vectors }: FmModel) =>
      Array.from(
        linear.subarray(0, world.userCount),
        (weight, row) => weight !== 0 || vectors[row * 4] !== 0,
      );
    expect(usersOf(few).filter(Boolean).length).toBeLessThanOrEqual(50);
    const all = train({ settings: { ...settings, epochs: 1 } });
    expect(usersOf(all).filter(Boolean).length).toBeGreaterThan(300);
  });

  it('has no model without positives, and refuses rows and settings out of range', () => {
    expect(trainClickModel({ ...world, positives: NOBODY, seed: 1 }, loadKernels)).toBeUndefined();
    expect(() => train({ userCount: 10 })).toThrow('outside 11 x 60');
    expect(() => train({ settings: { factors: 0 } })).toThrow('factors');
    expect(() => train({ settings: { popularityExponent: 2 } })).toThrow('popularityExponent');
  });
});

describe('the memory of a training', () => {
  it('grows with pairs and features, and with examples only up to their maximum', () => {
    const counts = { positives: 20_000_000, negatives: 0, users: 138_000, items: 27_000, labels: 100 };
    const bytes = clickTrainingBytes(counts);
    expect(bytes).toBeLessThan(300_000_000);
    const perPair = clickTrainingBytes({ ...counts, positives: 20_000_001 }) - bytes;
    expect(perPair).toBe(4);
    const perExample = clickTrainingBytes(counts, { examplesMax: 5_000_001 }) - bytes;
    expect(perExample).toBe(17);
    expect(clickTrainingBytes({ ...counts, labels: 101 }) - bytes).toBe(12 * 17);
  });
});

describe('users and items without a record', () => {
  it('count as the average one', () => {
    const wider = train({ userCount: world.userCount + 3, itemCount: world.itemCount + 2 });
    const scorer = scorerOf(wider);
    const stranger = scorer.userSide(world.userCount + 1, []);
    expect(stranger).toEqual(scorer.userSide(-1, []));
    const rows = Array.from({ length: world.itemCount }, (_, row) => row);
    const logits = scorer.logits(stranger, rows);
    const users = Array.from({ length: world.userCount }, (_, row) => scorer.userSide(row, []));
    for (const row of [0, 17, 58]) {
      const mean = users.reduce((sum, user) => sum + scorer.logits(user, [row])[0]!, 0) / users.length;
      expect(logits[row]).toBeCloseTo(mean, 3);
    }
  });
});

describe('its probabilities', () => {
  it('have the mean of what is observed on records that it has not seen', () => {
    const fresh = clickWorld(1, 400, 60, 0.5);
    const trained = trainClickModel({ ...fresh, settings, seed: 1 }, loadKernels)!;
    const scorer = scorerOf(trained);
    // Another draw of the same world: what its users like, and what they read without liking.
    const { positives, negatives } = clickWorld(2, 400, 60, 0.5);
    let sum = 0;
    let count = 0;
    for (const { userRows, itemRows } of [positives, negatives]) {
      for (let at = 0; at < userRows.length; at++) {
        const [logit] = scorer.logits(scorer.userSide(userRows[at]!, []), [itemRows[at]!]);
        sum += scorer.probability(logit!);
        count++;
      }
    }
    expect(sum / count).toBeCloseTo(positives.userRows.length / count, 1);
  });
});
