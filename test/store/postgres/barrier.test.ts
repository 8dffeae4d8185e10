import { expect, test } from 'vitest';
import { Barrier, PAUSE_MS } from '../../../src/store/postgres/barrier.ts';

/** A barrier whose questions wait until they are answered here. */
function gated() {
  let nowMs = 0;
  const strangers = new Set<string | number>();
  const loads: { done(): void; fail(): void }[] = [];
  const asked: { answer(position: number): void; fail(): void }[] = [];
  const barrier = new Barrier({
    behindMsMax: 0,
    ask: () =>
      new Promise((resolve, reject) => {
        asked.push({ answer: resolve, fail: () => reject(new Error('away')) });
      }),
    follow: () => {},
    isKnown: (user) => !strangers.has(user),
    load: () =>
      new Promise((resolve, reject) => {
        loads.push({ done: resolve, fail: () => reject(new Error('away')) });
      }),
    elapsedMs: () => nowMs,
  });
  barrier.reached(3);
  return { barrier, asked, strangers, loads, pass: (ms: number) => (nowMs += ms) };
}

/** Waits until so many questions were asked: each at the end of a turn of the event loop. */
async function questions(asked: readonly unknown[], count: number): Promise<void> {
  await expect.poll(() => asked.length).toBe(count);
}

test('after a question that failed nobody waits for a while, and is told so', async () => {
  const { barrier, asked, pass } = gated();
  const first = barrier.pass();
  await questions(asked, 1);
  asked[0]!.fail();
  await first;
  pass(PAUSE_MS / 2);
  expect([barrier.pass(), barrier.isUnsure]).toEqual([undefined, true]);
  pass(PAUSE_MS);
  expect(barrier.pass()).toBeInstanceOf(Promise);
});

test('once a later question is answered, each read waits again', async () => {
  const { barrier, asked, pass } = gated();
  const [first, beside] = [barrier.pass(), barrier.pass()];
  await questions(asked, 1);
  const second = barrier.pass();
  pass(10);
  asked[0]!.fail();
  // Those of one turn share a question.
  await Promise.all([first, beside]);
  pass(10);
  await questions(asked, 2);
  asked[1]!.answer(3);
  await second;
  // What another node answers from now on is not known here.
  const third = barrier.pass(['u']);
  expect([barrier.isUnsure, third]).toEqual([false, expect.any(Promise)]);
  let isPast = false;
  void third!.then(() => {
    isPast = true;
  });
  await questions(asked, 3);
  asked[2]!.answer(4);
  await new Promise(setImmediate);
  expect(isPast).toBe(false);
  barrier.reached(4);
  await third;
});

test('the load of a user tells what is committed, too, and asks no question beside it', async () => {
  const { barrier, asked, strangers, loads, pass } = gated();
  strangers.add('u');
  // The first question has the replica follow.
  const first = barrier.pass(['u']);
  await questions(asked, 1);
  asked[0]!.answer(3);
  loads[0]!.done();
  await first;
  const second = barrier.pass(['u', 'v']);
  let isPast = false;
  void second!.then(() => {
    isPast = true;
  });
  await new Promise(setImmediate);
  expect([asked.length, loads.length, isPast]).toEqual([1, 2, false]);
  loads[1]!.fail();
  await second;
  expect(barrier.isUnsure).toBe(true);
  pass(PAUSE_MS);
  const third = barrier.pass(['u']);
  loads[2]!.done();
  await third;
  expect([asked.length, barrier.isUnsure]).toEqual([1, false]);
  // One who was known and changed meanwhile is loaded after the others.
  const fourth = barrier.pass(['u', 'v']);
  strangers.add('v');
  loads[3]!.done();
  await expect.poll(() => loads.length).toBe(5);
  loads[4]!.done();
  await fourth;
});

test('who comes in the pause after a load that failed is loaded where the question outlasts it', async () => {
  const { barrier, asked, strangers, loads, pass } = gated();
  strangers.add('u');
  const first = barrier.pass(['u']);
  await questions(asked, 1);
  asked[0]!.answer(3);
  loads[0]!.fail();
  await first;
  pass(PAUSE_MS / 2);
  const second = barrier.pass(['u']);
  await questions(asked, 2);
  expect(loads).toHaveLength(1);
  pass(PAUSE_MS);
  asked[1]!.answer(3);
  await expect.poll(() => loads.length).toBe(2);
  loads[1]!.done();
  await second;
  expect(barrier.isUnsure).toBe(false);
});
