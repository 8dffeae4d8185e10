import { describe, expect, it } from 'vitest';
import { encodeModel } from '../../../src/model/als/model.ts';
import { decodeFm, encodeFm, type FmModel } from '../../../src/model/click/model.ts';

const model: FmModel = {
  factors: 2,
  epochs: 3,
  userCount: 2,
  itemCount: 1,
  userLabels: ['Österreich'],
  itemLabels: ['a "quoted" one', '__proto__'],
  bias: -0.25,
  calibration: { slope: 0.5, offset: 1 },
  positiveRate: 0.2,
  negativesPerPositive: 4,
  seed: 3,
  fingerprint: 4_000_000_000,
  quality: { AUC: 0.75, LogLoss: 0.5 },
  linear: Float32Array.of(1, 2, 3, 4, 5, 6),
  vectors: Float32Array.from({ length: 24 }, (_, at) => (at % 4 < 2 ? at / 8 : 0)),
};

describe('a saved click-through model', () => {
  it('reads back as it was written, from any alignment', () => {
    const bytes = encodeFm(model);
    const shifted = new Uint8Array(bytes.length + 3);
    shifted.set(bytes, 3);
    expect(decodeFm(shifted.subarray(3))).toEqual(model);
  });

  it('is refused when it is cut short, damaged anywhere, of another version or something else', () => {
    const bytes = encodeFm(model);
    const changed = (at: number) => bytes.with(at, bytes[at]! ^ 0x04);
    expect(() => decodeFm(bytes.subarray(0, 9))).toThrow('too short');
    expect(() => decodeFm(bytes.subarray(0, bytes.length - 4))).toThrow('checksum');
    expect(() => decodeFm(changed(0))).toThrow('does not begin');
    expect(() => decodeFm(changed(4))).toThrow('version');
    for (let at = 16; at < bytes.length; at++) expect(() => decodeFm(changed(at))).toThrow('checksum');
    const factors = { ...model, regularization: 1, unobservedWeight: 1, regularizationExponent: 1 };
    const other = encodeModel({
      ...factors,
      userFactors: new Float32Array(8),
      itemFactors: new Float32Array(4),
    });
    expect(() => decodeFm(other)).toThrow('does not begin');
  });

  it('is refused when its description does not fit its numbers or says too little', () => {
    const without = (changes: Partial<Record<keyof FmModel, unknown>>) =>
      encodeFm({ ...model, ...changes } as FmModel);
    expect(() => decodeFm(without({ userCount: 3 }))).toThrow('shape');
    expect(() => decodeFm(without({ itemLabels: ['one'] }))).toThrow('shape');
    for (const changes of [
      { factors: 0 },
      { calibration: undefined },
      { calibration: { slope: 0, offset: 0 } },
      { bias: Number.NaN },
      { itemLabels: ['one', 2] },
      { userLabels: 'one' },
      { seed: 1.5 },
    ]) {
      expect(() => decodeFm(without(changes))).toThrow('incomplete');
    }
  });
});
