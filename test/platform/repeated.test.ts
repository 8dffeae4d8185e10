import { expect, test } from 'vitest';
import { repeated } from '../../src/platform/concurrency/repeated.ts';

test('work is repeated one at a time, though it fails, until it is ended, which waits for what is under way', async () => {
  let [begun, atWork, most] = [0, 0, 0];
  let letGo = () => {};
  const end = repeated(1, async () => {
    begun++;
    most = Math.max(most, ++atWork);
    if (begun === 3)
      await new Promise<void>((resolve) => {
        letGo = resolve;
      });
    atWork--;
    if (begun === 1) throw new Error('once');
  });
  await expect.poll(() => begun).toBe(3);
  let isOver = false;
  const ended = end().then(() => {
    isOver = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect([isOver, begun]).toEqual([false, 3]);
  letGo();
  await ended;
  expect([begun, atWork, most]).toEqual([3, 0, 1]);
});
