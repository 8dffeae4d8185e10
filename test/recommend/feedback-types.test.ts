import { expect, test } from 'vitest';
import { typeTest } from '../../src/recommend/history/counts-as-positive.ts';

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

test('a type that comes after those that go by a value, whose numbers stand far behind, is told as well', () => {
  const stored = ['rating'];
  const known = () => {
    const names = [...stored];
    names[4096] = 'rating>=4';
    return names;
  };
  const isPositive = typeTest(['rating>=4', 'like'], known);
  expect([0, 4096].map(isPositive)).toEqual([false, true]);
  stored.push('like');
  expect([0, 1, 4096].map(isPositive)).toEqual([false, true, true]);
});
