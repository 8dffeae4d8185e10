import { describe, expect, it } from 'vitest';
import { alsFitMemory, largestFitting } from '../../../src/model/als/memory-estimate.ts';
import { checkStageMemory, memoryBudgetBytes } from '../../../src/model/part/memory-budget.ts';

const GIB = 2 ** 30;
const serving = { slots: 3, listLengthMax: 100 };
const shape = {
  userCount: 1_000_000,
  itemCount: 100_000,
  count: 1e7,
  weighted: false,
  factors: 64,
  slots: 2,
};

describe('the memory that a fit may take', () => {
  it('is what is configured, or else 70 % of what the process may have', () => {
    expect(memoryBudgetBytes(512, 16 * GIB)).toBe(GIB / 2);
    expect(memoryBudgetBytes(0, 10 * GIB)).toBe(7 * GIB);
  });

  it('is compared with training and models together', () => {
    const { training, models } = alsFitMemory(shape, serving);
    expect(() => checkStageMemory('Training ALS', { training, models }, training + models)).not.toThrow();
    expect(() => checkStageMemory('Training ALS', { training, models }, training + models - 1)).toThrow(
      'memory_max_mb',
    );
  });

  it('does not help a training that exceeds one memory', () => {
    const memory = alsFitMemory({ ...shape, userCount: 20_000_000 }, serving);
    expect(() => checkStageMemory('Training ALS', memory, 1000 * GIB)).toThrow(
      /in one piece and there can be 4096 MiB/,
    );
  });

  it('bounds the factors that are chosen from', () => {
    const choices = [16, 32, 64, 128];
    const { training, models } = alsFitMemory({ ...shape, factors: 32 }, serving);
    expect(largestFitting(choices, shape, serving, training + models)).toBe(32);
    expect(largestFitting(choices, shape, serving, 1000 * GIB)).toBe(128);
    expect(largestFitting(choices, shape, serving, 1000)).toBeUndefined();
  });
});
