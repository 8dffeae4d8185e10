import { describe, expect, it } from 'vitest';
import {
  fitFactorizationMachine,
  predictProbabilities,
} from '../../bench/baselines/factorization-machine.ts';
import { type FeatureRows, parseLibfm } from '../../bench/data-sets/libfm.ts';
import { finish } from '../../bench/fit-in-thread.ts';
import { loadKernels } from '../../src/kernel/load-kernels.ts';
import { auc } from '../../src/model/evaluation/metrics.ts';

/** Positive exactly when user and item are of one color: no sum of weights can tell, a product can. */
function colors(): FeatureRows {
  const lines: string[] = [];
  for (let user = 0; user < 8; user++) {
    for (let item = 0; item < 8; item++)
      lines.push(`${user % 2 === item % 2 ? 1 : -1} ${user}:1 ${8 + item}:1`);
  }
  return parseLibfm(lines.join('\n'));
}

const rows = colors();
const settings = { factors: 3, epochs: 200, learningRate: 0.2 };

describe('the factorization machine', () => {
  it('learns an interaction that logistic regression cannot', () => {
    const machine = finish(fitFactorizationMachine(rows, rows.featureCount, settings, loadKernels));
    const linear = finish(
      fitFactorizationMachine(rows, rows.featureCount, { ...settings, linearOnly: true }, loadKernels),
    );
    expect(auc(predictProbabilities(machine, rows, loadKernels), rows.targets)).toBe(1);
    expect(auc(predictProbabilities(linear, rows, loadKernels), rows.targets)).toBeLessThan(0.7);
  });

  it('lowers its loss, and gives probabilities', () => {
    const losses: number[] = [];
    const machine = finish(
      fitFactorizationMachine(rows, rows.featureCount, settings, loadKernels),
      ({ done, loss }) => {
        if (done > losses.length) losses.push(loss);
      },
    );
    expect(losses.at(-1)!).toBeLessThan(losses[0]! / 5);
    for (const probability of predictProbabilities(machine, rows, loadKernels)) {
      expect(probability).toBeGreaterThan(0);
      expect(probability).toBeLessThan(1);
    }
  });

  it('is the same for the same seed', () => {
    const train = () => finish(fitFactorizationMachine(rows, rows.featureCount, settings, loadKernels));
    expect(train()).toEqual(train());
  });

  it('refuses features that it does not know, and settings out of range', () => {
    const machine = finish(fitFactorizationMachine(rows, rows.featureCount, settings, loadKernels));
    expect(() => predictProbabilities(machine, parseLibfm('1 16:1'), loadKernels)).toThrow('feature 16');
    expect(() => finish(fitFactorizationMachine(rows, 16, { factors: 0 }, loadKernels))).toThrow('factors');
  });
});
