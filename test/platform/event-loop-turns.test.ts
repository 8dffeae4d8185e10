import { setImmediate as round } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { atOnce, inTurns, pausing, turns } from '../../src/platform/concurrency/event-loop-turns.ts';

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

function* counting(steps: number): Generator<undefined, number> {
  for (let step = 0; step < steps; step++) yield;
  return steps;
}

test('work that pauses ends with its answer, and with the reason once nobody waits for it', async () => {
  expect(await inTurns(counting(10))).toBe(10);
  expect(atOnce(counting(10))).toBe(10);
  const controller = new AbortController();
  const endless = inTurns(counting(Number.POSITIVE_INFINITY), controller.signal);
  controller.abort(new Error('gone'));
  await expect(endless).rejects.toThrow('gone');
});

test('work that nobody waits for any more gives back what it holds', async () => {
  let held = 0;
  function* holding(): Generator<undefined, void> {
    held++;
    try {
      for (;;) yield;
    } finally {
      held--;
    }
  }
  const controller = new AbortController();
  const work = inTurns(holding(), controller.signal);
  expect(held).toBe(1);
  controller.abort(new Error('gone'));
  await expect(work).rejects.toThrow('gone');
  expect(held).toBe(0);
});

test('parts that are short each, and wait for what is there, pause together once a millisecond is over', async () => {
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  let rounds = 0;
  let goesOn = true;
  const count = () => {
    rounds++;
    if (goesOn) setImmediate(count);
  };
  setImmediate(count);
  const pause = pausing();
  for (let part = 0; part < 100; part++) {
    await pause();
    nowMs += 0.25;
    await inTurns(counting(1));
  }
  goesOn = false;
  vi.restoreAllMocks();
  expect(rounds).toBeGreaterThanOrEqual(20);
});
