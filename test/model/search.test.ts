import { describe, expect, it } from 'vitest';
import {
  beats,
  halvingRounds,
  type Measured,
  type SearchOptions,
  type SearchProgress,
  successiveHalving,
  type Trial,
} from '../../src/background/search/successive-halving.ts';
import { createRandom } from '../../src/domain/random.ts';
import { factorChoices, proposeAls } from '../../src/model/als/search-space.ts';
import { alsSettings } from '../../src/model/als/settings.ts';
import { sizedSettings } from '../../src/model/als/settings-by-size.ts';

const USERS = 400;

/** A training whose quality grows with the epochs towards `goal`, the same noise for all settings but a little. */
function measured(goal: number, epochs: number, seed: number): Measured {
  const common = createRandom(1);
  const own = createRandom(seed);
  const values = Array.from(
    { length: USERS },
    () => common.float() + goal * (1 - 1 / (epochs + 1)) + 0.02 * own.normal(),
  );
  return { values, epochs, bestEpoch: epochs };
}

interface Told {
  readonly trial: Trial<number>;
  readonly progress: SearchProgress;
}

/** Settings are the goals themselves. */
function search(present: number, candidates: readonly number[], more: Partial<SearchOptions<number>> = {}) {
  const told: Told[] = [];
  let nowMs = 0;
  const outcome = successiveHalving<number>({
    present,
    candidates,
    epochsMax: 27,
    presentEpochs: 27,
    measure: async (goal, epochs) => {
      nowMs += epochs * 1000;
      return measured(goal, epochs, Math.round(goal * 1000));
    },
    isOver: () => false,
    nowMs: () => nowMs,
    tell: (trial, progress) => void told.push({ trial, progress }),
    ...more,
  });
  return { outcome, told };
}

describe('successive halving', () => {
  it('trains a third of the candidates three times as long in each round', () => {
    expect(halvingRounds(10, 100)).toEqual([
      { candidates: 10, epochs: 11 },
      { candidates: 3, epochs: 33 },
      { candidates: 1, epochs: 100 },
    ]);
    expect(halvingRounds(1, 100)).toEqual([{ candidates: 1, epochs: 100 }]);
    expect(halvingRounds(27, 2).map(({ epochs }) => epochs)).toEqual([1, 1, 1, 2]);
  });

  it('finds the best, and trains it to the end', async () => {
    const goals = [0.1, 0.5, 0.2, 0.9, 0.3, 0.4, 0.6, 0.15, 0.25];
    const { outcome, told } = search(0.45, goals);
    const { winner, isBetter, trials } = await outcome;
    expect(winner).toMatchObject({ settings: 0.9, round: 3, epochs: 27 });
    expect(isBetter).toBe(true);
    expect(trials.map(({ settings, round }) => [settings, round])).toEqual([
      [0.45, 0],
      ...goals.map((goal) => [goal, 1]),
      [0.9, 2],
      [0.6, 2],
      [0.5, 2],
      [0.9, 3],
    ]);
    expect(told.map(({ progress }) => progress.done)).toEqual(trials.map((_, at) => at + 1));
    expect(told.at(-1)!.progress).toEqual({ done: 14, total: 14, etaSeconds: 0 });
    expect(told[0]!.progress.etaSeconds).toBe(9 * 3 + 3 * 9 + 27);
  });

  it('does not call better what differs by chance alone', async () => {
    const { winner, isBetter } = await search(0.5, [0.5, 0.4, 0.3]).outcome;
    expect(winner?.settings).toBe(0.5);
    expect(isBetter).toBe(false);
  });

  it('does not train again what ended by itself', async () => {
    const { outcome } = search(0.1, [0.5, 0.4, 0.3], {
      measure: async (goal) => ({ ...measured(goal, 3, 1), bestEpoch: 2 }),
    });
    const { trials, winner } = await outcome;
    expect(trials).toHaveLength(4);
    expect(winner).toMatchObject({ settings: 0.5, epochs: 3, bestEpoch: 2 });
  });

  it('passes over what diverged', async () => {
    const { outcome } = search(0.1, [0.9, 0.4, 0.3], {
      measure: async (goal, epochs) => (goal === 0.9 ? undefined : measured(goal, epochs, 2)),
    });
    expect((await outcome).winner?.settings).toBe(0.4);
    const none = search(0.1, [0.9], { measure: async () => undefined });
    expect(await none.outcome).toMatchObject({ isBetter: false });
    expect((await none.outcome).winner).toBeUndefined();
  });

  it.each([1, 3, 11, 13])('ends after %i trainings when it is over, with the best so far', async (count) => {
    let done = 0;
    const goals = [0.1, 0.5, 0.2, 0.9, 0.3, 0.4, 0.6, 0.15, 0.25];
    const { outcome } = search(0.45, goals, {
      isOver: () => done >= count,
      measure: async (goal, epochs) => {
        done++;
        return measured(goal, epochs, 3);
      },
    });
    const { trials, winner } = await outcome;
    expect(trials).toHaveLength(count);
    const tried = goals.slice(0, count - 1);
    expect(winner?.settings).toBe(tried.length === 0 ? undefined : Math.max(...tried));
  });
});

describe('comparing two trainings', () => {
  it('asks only the users that did not choose', () => {
    const present = measured(0, 1, 1);
    const values = Array.from(present.values, (value, at) => value + (at % 2 === 0 ? 1 : 0));
    expect(beats({ ...present, values }, present)).toBe(false);
    expect(beats({ ...present, values: values.map((value) => value + 0.1) }, present)).toBe(true);
  });

  it('calls too few users no evidence', () => {
    const few = (value: number) => ({ values: [value, value, value], epochs: 1, bestEpoch: 1 });
    expect(beats(few(1), few(0))).toBe(false);
  });
});

describe('the space of ALS settings', () => {
  const present = alsSettings({ factors: 32 });
  const bounds = { meanCount: 50, itemCount: 10_000, factorsMax: 64 };

  it('is the same for the same seed', () => {
    const draw = (seed: number) => proposeAls(createRandom(seed), present, 20, bounds);
    expect(draw(1)).toEqual(draw(1));
    expect(draw(1)).not.toEqual(draw(2));
  });

  it('holds settings that can be trained, within memory', () => {
    const drawn = proposeAls(createRandom(1), present, 200, bounds);
    for (const settings of drawn) expect(alsSettings(settings)).toEqual(settings);
    expect(new Set(drawn.map(({ factors }) => factors))).toEqual(new Set([16, 32, 64]));
  });

  it('keeps the penalty on a typical user within bounds whatever the exponent', () => {
    const typical = (settings: typeof present) => {
      const { regularization, unobservedWeight, regularizationExponent } = sizedSettings(settings, 10_000);
      return regularization * (50 + unobservedWeight * 10_000) ** regularizationExponent;
    };
    for (const settings of proposeAls(createRandom(1), present, 200, bounds)) {
      const ratio = typical(settings) / typical(present);
      expect(ratio).toBeGreaterThan(0.04);
      expect(ratio).toBeLessThan(22);
    }
  });

  it('looks around the defaults too, when the present settings are far off', () => {
    const lost = { ...present, regularization: 1e-6 };
    const drawn = proposeAls(createRandom(1), lost, 20, bounds).map(({ regularization }) => regularization);
    expect(drawn.filter((_, at) => at % 2 === 0).every((value) => value < 1e-2)).toBe(true);
    expect(drawn.filter((_, at) => at % 2 === 1).some((value) => value > 1e-2)).toBe(true);
  });

  it('never asks for more factors than there can be', () => {
    expect(factorChoices(64)).toEqual([32, 64, 128, 256]);
    expect(factorChoices(1024)).toEqual([512, 1024]);
    expect(factorChoices(4)).toEqual([4, 8, 16]);
  });
});
