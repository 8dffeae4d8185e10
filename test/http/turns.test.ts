import { setImmediate as round } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { turns } from '../../src/http/turns.ts';

test('turns are given one a round, in order, and to whoever comes later too', async () => {
  const given: number[] = [];
  const take = async (number: number) => {
    await turns.take();
    given.push(number);
  };
  const all = [take(0), take(1), take(2)];
  expect(given).toEqual([]);
  await round();
  expect(given.length).toBeLessThan(3);
  await Promise.all(all);
  await Promise.all(Array.from({ length: 3000 }, (_, at) => take(3 + at)));
  expect(given).toEqual(Array.from({ length: 3003 }, (_, at) => at));
});
