import { expect, it } from 'vitest';
import { KeptForAWhile } from '../../../src/recommend/placements/kept-for-a-while.ts';

it('gives what was worked out until it is old, of the last keys, and keeps no failure', async () => {
  const kept = new KeptForAWhile<string, number>(100, 2);
  let made = 0;
  const make = async () => ++made;
  expect(await kept.of('a', 0, make)).toBe(1);
  expect(await kept.of('a', 99, make)).toBe(1);
  expect(await kept.of('a', 100, make)).toBe(2);
  // A clock that was put back.
  expect(await kept.of('a', -1, make)).toBe(3);
  await expect(kept.of('b', 0, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await kept.of('b', 0, make)).toBe(4);
  expect(await kept.of('c', 0, make)).toBe(5);
  expect(await kept.of('b', 0, make)).toBe(4);
  expect(await kept.of('a', 0, make)).toBe(6);
});
