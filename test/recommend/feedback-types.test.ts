import { expect, test } from 'vitest';
import { typeTest } from '../../src/recommend/feedback-types.ts';

test('types are told by number as they come, and again when a number is given to another', () => {
  const known = ['read'];
  const isPositive = typeTest(['like', 'star'], () => known);
  expect([0, 1, 2].map(isPositive)).toEqual([false, false, false]);
  known.push('like');
  expect([0, 1].map(isPositive)).toEqual([false, true]);
  known[0] = 'star';
  isPositive.renumber();
  expect([0, 1].map(isPositive)).toEqual([true, true]);
});
