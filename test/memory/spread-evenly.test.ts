import { expect, it } from 'vitest';
import { spreadEvenly } from '../../src/memory/spread-evenly.ts';

it('takes all where they are few, and of many some that lie as far apart', () => {
  expect(spreadEvenly([0, 1, 2, 3, 4, 5], 3)).toEqual([0, 2, 4]);
  expect(spreadEvenly(Uint32Array.of(0, 1, 2, 3, 4), 3)).toEqual([0, 1, 3]);
  expect(spreadEvenly([0, 1], 3)).toEqual([0, 1]);
  expect(spreadEvenly([0, 1, 2, 3, 4, 5], 3, 1)).toEqual([1, 3, 5]);
  expect(spreadEvenly([0, 1], 3, 1)).toEqual([1, 0]);
  expect(spreadEvenly([], 3)).toEqual([]);
});
