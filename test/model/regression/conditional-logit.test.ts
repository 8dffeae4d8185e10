import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../src/domain/random.ts';
import { type ChoiceSample, fitChoices, lossOf } from '../../../src/model/regression/conditional-logit.ts';

const SIZE = 10;
const RIDGE = 3e-3;

/** In each set one alternative is chosen with a chance in proportion to exp(truth · features). */
function drawn(sets: number, truth: readonly number[], scale: readonly number[]): ChoiceSample {
  const random = createRandom(5);
  const width = truth.length;
  const features = new Float64Array(sets * SIZE * width).map((_, at) => scale[at % width]! * random.normal());
  const labels = new Uint8Array(sets * SIZE);
  for (let set = 0; set < sets; set++) {
    const chances = Array.from({ length: SIZE }, (_, at) =>
      Math.exp(truth.reduce((sum, weight, f) => sum + weight * features[(set * SIZE + at) * width + f]!, 0)),
    );
    let left = random.float() * chances.reduce((sum, chance) => sum + chance, 0);
    const chosen = chances.findIndex((chance) => (left -= chance) <= 0);
    labels[set * SIZE + Math.max(0, chosen)] = 1;
  }
  return {
    width,
    features,
    labels,
    multiples: new Float64Array(sets * SIZE).fill(1),
    starts: Array.from({ length: sets + 1 }, (_, set) => set * SIZE),
  };
}

describe('the conditional logit', () => {
  it('finds the weights that choices were drawn with, whatever the scale of a feature', () => {
    const [a, b, c] = fitChoices(drawn(20_000, [1, -0.005, 0], [1, 300, 1]), [], RIDGE);
    expect(a).toBeCloseTo(1, 1);
    expect(b).toBeCloseTo(-0.005, 3);
    expect(c).toBeCloseTo(0, 1);
  });

  it('comes to the same weights wherever it begins, none for a feature that does not vary', () => {
    const sample = drawn(2000, [1, -0.5, 0], [1, 3, 0]);
    const weights = fitChoices(sample, [], RIDGE);
    const near = fitChoices(sample, [], RIDGE, { start: [0.9, -0.6, 5] });
    for (const [at, weight] of weights.entries()) expect(near[at]).toBeCloseTo(weight, 4);
    expect(near[2]).toBe(0);
  });

  it('is drawn to what was known before, the more the less there is', () => {
    const prior = [-1, 2, 7];
    const [little] = fitChoices(drawn(5, [1, -0.5, 0], [1, 1, 0]), [], 10, { prior });
    const [much, , constant] = fitChoices(drawn(5000, [1, -0.5, 0], [1, 1, 0]), [], 0.001, { prior });
    expect(little).toBeCloseTo(-1, 0);
    expect(much).toBeCloseTo(1, 0);
    // A feature that does not vary says nothing against what was known.
    expect(constant).toBe(7);
  });

  it('passes over what is equal for all alternatives of a set', () => {
    const sample = drawn(2000, [1, 0], [1, 1]);
    const random = createRandom(2);
    const levels = Float64Array.from(sample.starts, () => 100 * random.normal());
    const features = sample.features.map((value, at) =>
      at % 2 === 1 ? levels[Math.floor(at / (SIZE * 2))]! : value,
    );
    const [a, b] = fitChoices({ ...sample, features }, [], RIDGE);
    expect(a).toBeCloseTo(1, 0);
    expect(Math.abs(b!)).toBeLessThan(1e-6);
  });

  it('takes one that was sampled for those that were not', () => {
    // Two choose among one alternative that is unlike the other four: one takes it, one takes another.
    const all = {
      width: 1,
      features: Float64Array.of(1, 0, 0, 0, 0, 1, 0, 0, 0, 0),
      labels: Uint8Array.of(1, 0, 0, 0, 0, 0, 1, 0, 0, 0),
      multiples: new Float64Array(10).fill(1),
      starts: [0, 5, 10],
    };
    const some = {
      width: 1,
      features: Float64Array.of(1, 0, 1, 0, 0),
      labels: Uint8Array.of(1, 0, 0, 1, 0),
      multiples: Float64Array.of(1, 4, 1, 1, 3),
      starts: [0, 2, 5],
    };
    // Even chances: exp(weight) against four others.
    expect(fitChoices(all, [], 1e-9)[0]).toBeCloseTo(Math.log(4), 4);
    expect(fitChoices(some, [], 1e-9)[0]).toBeCloseTo(Math.log(4), 4);
  });

  it('leaves a feature out rather than let it speak against, where it must not', () => {
    const sample = drawn(3000, [1, -1], [1, 1]);
    const [a, b] = fitChoices(sample, [0, 1], RIDGE);
    expect(b).toBe(0);
    expect(a).toBeGreaterThan(0.5);
    expect(fitChoices(sample, [0], RIDGE)[1]).toBeLessThan(-0.8);
  });

  it('comes to the least loss of all weights within the bounds', () => {
    // Features that tell much the same: which of them are left out depends on all others.
    const width = 5;
    const sample = drawn(400, [1, -0.4, 0.1, -0.6, 0.3], [1, 1, 1, 1, 1]);
    for (let row = 0; row < sample.features.length; row += width) {
      sample.features[row + 1]! += 2 * sample.features[row]!;
      sample.features[row + 3]! += sample.features[row + 2]! + sample.features[row + 4]!;
    }
    const all = Array.from({ length: width }, (_, at) => at);
    const lossOfFit = (weights: readonly number[]) => lossOf(sample, weights).loss;
    const without = (left: readonly number[]) => ({
      ...sample,
      features: sample.features.map((value, at) => (left.includes(at % width) ? 0 : value)),
    });
    const subsets = Array.from({ length: 2 ** width }, (_, bits) => all.filter((at) => (bits >> at) & 1));
    const inside = subsets
      .map((left) => fitChoices(without(left), [], 1e-9))
      .filter((weights) => weights.every((weight) => weight >= 0));
    const found = fitChoices(sample, all, 1e-9);
    expect(found.every((weight) => weight >= 0)).toBe(true);
    expect(found.filter((weight) => weight === 0).length).toBeGreaterThan(0);
    expect(lossOfFit(found)).toBeCloseTo(Math.min(...inside.map(lossOfFit)), 5);
    const elsewhere = fitChoices(sample, all, 1e-9, { start: [0, 3, 0, 3, 0] });
    for (const [at, weight] of found.entries()) expect(elsewhere[at]).toBeCloseTo(weight, 2);
  });

  it('learns next to nothing from differences below the least that count', () => {
    const sample = drawn(500, [0, 1], [1e-5, 1]);
    const [free] = fitChoices(sample, [], RIDGE);
    const [held, other] = fitChoices(sample, [], RIDGE, { leastDeviations: [1, 0] });
    expect(Math.abs(free!)).toBeGreaterThan(100);
    expect(Math.abs(held!)).toBeLessThan(0.1);
    expect(other).toBeCloseTo(1, 0);
  });

  it('stays finite where one feature tells everything, and refuses what is no number', () => {
    const sample = drawn(50, [1], [1]);
    const told = Float64Array.from(sample.labels);
    expect(fitChoices({ ...sample, features: told }, [], RIDGE)[0]).toBeGreaterThan(1);
    expect(() => fitChoices({ ...sample, features: told.fill(Number.NaN) }, [], RIDGE)).toThrow('not finite');
  });
});
