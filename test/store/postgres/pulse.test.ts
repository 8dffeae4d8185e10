import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DatabaseAwayError } from '../../../src/store/postgres/database-away-error.ts';
import { LOOK_MS, Pulse, SILENT_LOOKS } from '../../../src/store/postgres/pulse.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const away = () => Promise.reject(new DatabaseAwayError(new Error('ECONNREFUSED')));
const full = () =>
  Promise.reject(new DatabaseAwayError(Object.assign(new Error(), { code: '53300', severity: 'FATAL' })));
const after = (ms: number) => () => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** An answer that comes when it is told to. */
function slowAnswer(pulse: Pulse) {
  let isCut = false;
  let end = () => {};
  const answer = new Promise<void>((resolve) => (end = resolve));
  void pulse.over(answer, () => {
    isCut = true;
    end();
  });
  return { end: () => end(), isCut: () => isCut };
}

test.each([
  ['answers something else at once', after(0)],
  ['takes a second for it', after(1000)],
  ['refuses more connections', full],
])('a database that takes minutes for an answer and %s is not silent', async (_, ask) => {
  const pulse = new Pulse(ask);
  const slow = slowAnswer(pulse);
  await vi.advanceTimersByTimeAsync(300_000);
  expect([slow.isCut(), pulse.isSilent]).toEqual([false, false]);
  slow.end();
});

test.each([
  ['answers nothing', () => new Promise<never>(() => {})],
  ['takes no connection', away],
])('one that %s cuts off all who wait, and is silent until it answers', async (_, ask) => {
  let question: () => Promise<unknown> = after(0);
  const pulse = new Pulse(() => question());
  const slow = slowAnswer(pulse);
  await vi.advanceTimersByTimeAsync(60_000);
  let answerLate = () => {};
  question = () => Promise.race([ask(), new Promise<void>((resolve) => (answerLate = resolve))]);
  const another = slowAnswer(pulse);
  await vi.advanceTimersByTimeAsync(LOOK_MS * (SILENT_LOOKS + 1));
  expect([slow.isCut(), another.isCut(), pulse.isSilent]).toEqual([true, true, true]);
  question = after(0);
  answerLate();
  await vi.advanceTimersByTimeAsync(2 * LOOK_MS);
  expect(pulse.isSilent).toBe(false);
});

test('nothing is asked while answers come, nor of those who wait for none', async () => {
  const ask = vi.fn(after(0));
  const pulse = new Pulse(ask);
  for (let round = 0; round < 100; round++) {
    const quick = slowAnswer(pulse);
    await vi.advanceTimersByTimeAsync(LOOK_MS * 0.9);
    quick.end();
    await vi.advanceTimersByTimeAsync(0);
  }
  expect(ask).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(2 * LOOK_MS);
  expect(vi.getTimerCount()).toBe(0);
});
