import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../src/domain/random.ts';
import { fitLogistic, type LogisticRegression } from '../../../src/model/regression/logistic-regression.ts';

/** The probability for the row of features that begins at `from`. */
function probabilityOf({ bias, weights }: LogisticRegression, features: ArrayLike<number>, from = 0): number {
  const logit = weights.reduce((sum, weight, at) => sum + weight * features[from + at]!, bias);
  return 1 / (1 + Math.exp(-logit));
}

function drawn(rows: number, truth: { bias: number; weights: number[] }, scale: number[]) {
  const random = createRandom(3);
  const width = scale.length;
  const features = new Float64Array(rows * width).map((_, at) => scale[at % width]! * random.normal());
  const labels = new Uint8Array(rows).map((_, row) =>
    random.float() < probabilityOf(truth, features, row * width) ? 1 : 0,
  );
  return { width, features, labels };
}

describe('logistic regression', () => {
  it('finds the weights that the labels were drawn with, whatever the scale of a feature', () => {
    const truth = { bias: -1, weights: [2, -0.005, 0] };
    const found = fitLogistic(drawn(100_000, truth, [1, 300, 1]));
    expect(found.bias).toBeCloseTo(-1, 1);
    expect(found.weights[0]).toBeCloseTo(2, 1);
    expect(found.weights[1]).toBeCloseTo(-0.005, 3);
    expect(found.weights[2]).toBeCloseTo(0, 1);
  });

  it('predicts on average what it has seen', () => {
    const sample = drawn(5000, { bias: -3, weights: [1, 1] }, [1, 2]);
    const found = fitLogistic(sample);
    let sum = 0;
    for (let row = 0; row < 5000; row++) sum += probabilityOf(found, sample.features, row * 2);
    expect(sum).toBeCloseTo(
      sample.labels.reduce((total, label) => total + label, 0),
      3,
    );
  });

  it('stays finite where classes come apart, tails are heavy or a feature is constant', () => {
    const apart = fitLogistic({
      width: 2,
      features: Float64Array.of(-1, 5, -2, 5, 1, 5, 1e6, 5),
      labels: Uint8Array.of(0, 0, 1, 1),
    });
    expect(apart.weights.every(Number.isFinite)).toBe(true);
    expect(probabilityOf(apart, [1e6, 5])).toBeGreaterThan(probabilityOf(apart, [-1, 5]));
  });

  it('refuses one class alone and a feature that is no number', () => {
    const features = Float64Array.of(1, 2);
    expect(() => fitLogistic({ width: 1, features, labels: Uint8Array.of(1, 1) })).toThrow('both classes');
    expect(() =>
      fitLogistic({ width: 1, features: Float64Array.of(1, Number.NaN), labels: Uint8Array.of(0, 1) }),
    ).toThrow('not finite');
  });
});
