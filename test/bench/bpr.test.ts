import { expect, it } from 'vitest';
import { fitBpr } from '../../bench/baselines/bpr.ts';
import { checkerboard } from '../model/checkerboard.ts';

const board = checkerboard(40, 20);
const SETTINGS = { factors: 4, epochs: 5, seed: 4 };

it('gives the same factors for the same seed, and others for another', () => {
  const { itemFactors } = fitBpr(board, SETTINGS);
  expect(fitBpr(board, SETTINGS).itemFactors).toEqual(itemFactors);
  expect(fitBpr(board, { ...SETTINGS, seed: 5 }).itemFactors).not.toEqual(itemFactors);
});

it('refuses settings out of range', () => {
  expect(() => fitBpr(board, { learningRate: 0 })).toThrow('learningRate above 0');
  expect(() => fitBpr(board, { factors: 0 })).toThrow('factors 1 to 1024');
});
