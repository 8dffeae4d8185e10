import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../src/domain/random.ts';
import { calibrate, sigmoid } from '../../../src/model/click/calibration.ts';

/** Logits whose true probability is sigma(slope * logit + offset). */
function observed(slope: number, offset: number, count: number) {
  const random = createRandom(5);
  const logits = Float64Array.from({ length: count }, () => 2 * random.normal());
  const targets = Uint8Array.from(logits, (logit) =>
    random.float() < sigmoid(slope * logit + offset) ? 1 : 0,
  );
  return { logits, targets };
}

describe('Platt scaling', () => {
  it('finds the line that made the targets', () => {
    const { logits, targets } = observed(0.4, -1.5, 40_000);
    const { slope, offset } = calibrate(logits, targets);
    expect(slope).toBeCloseTo(0.4, 1);
    expect(offset).toBeCloseTo(-1.5, 1);
  });

  it('predicts on average what was observed', () => {
    const { logits, targets } = observed(3, 2, 5000);
    const { slope, offset } = calibrate(logits, targets);
    const predicted = logits.reduce((sum, logit) => sum + sigmoid(slope * logit + offset), 0);
    expect(predicted / targets.reduce((sum, target) => sum + target, 0)).toBeCloseTo(1, 3);
  });

  it('stays finite where a threshold tells all, and less sure of few records than of many', () => {
    const few = calibrate([-1, 1], [0, 1]);
    const many = calibrate(
      Array.from({ length: 2000 }, (_, at) => (at % 2 === 0 ? -1 : 1)),
      Array.from({ length: 2000 }, (_, at) => at % 2),
    );
    expect(sigmoid(few.slope + few.offset)).toBeCloseTo(2 / 3, 6);
    expect(sigmoid(many.slope + many.offset)).toBeCloseTo(1001 / 1002, 6);
  });

  it('never turns an order round', () => {
    const { logits, targets } = observed(-2, 0, 1000);
    const { slope, offset } = calibrate(logits, targets);
    expect(slope).toBe(0.01);
    const predicted = logits.reduce((sum, logit) => sum + sigmoid(slope * logit + offset), 0);
    expect(predicted).toBeCloseTo(
      targets.reduce((sum, target) => sum + target, 0),
      -1,
    );
  });

  it('changes nothing when one class is missing', () => {
    expect(calibrate([1, 2], [1, 1])).toEqual({ slope: 1, offset: 0 });
    expect(calibrate([], [])).toEqual({ slope: 1, offset: 0 });
  });
});
